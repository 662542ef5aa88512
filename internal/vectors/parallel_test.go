package vectors_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/internal/vectors"
	"github.com/rivus/tether/scope"
)

// dependsOnScheduling are the curated vectors whose outcome TypeScript's order
// decides and which goroutines are free to decide otherwise, with the reason.
var dependsOnScheduling = map[string]string{
	"interruption/interrupt before start":                              "the fork's goroutine may start before its parent interrupts it",
	"fibers/a child that never started is interrupted with its parent": "the child's goroutine may start before its parent ends",
	"fibers/forks start in order":                                      "goroutines of one parent start in any order, and the parent may end before they do",
	"deferred/waiters wake in order":                                   "waiters are woken in order but run beside one another, and their parent may end before they do",
	"layer/shared by identity":                                         "which of two layers side by side builds the one that they share",
	"collections/two failures at once":                                 "which of two failures comes first",
	"timeout/a tie":                                                    "which of two timers of one instant fires first",
	"scope/closing while closing returns at once":                      "which of two closes comes first",
}

func curated(t *testing.T) []vectors.Vector {
	t.Helper()
	file, err := os.Open("../../effect/testdata/vectors/curated.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var list []vectors.Vector
	if err := json.NewDecoder(r).Decode(&list); err != nil {
		t.Fatal(err)
	}
	return list
}

// Every curated vector gives the same exit, and the same order of events within
// each fiber, on the parallel runtime with the real clock.
func TestCuratedVectorsInParallel(t *testing.T) {
	known := map[string]bool{}
	for _, v := range curated(t) {
		known[v.Name] = true
		t.Run(v.Name, func(t *testing.T) {
			if why, ok := dependsOnScheduling[v.Name]; ok {
				t.Skip("depends on scheduling: " + why)
			}
			t.Parallel()
			want := deterministic(t, v.Program)
			// A loaded machine may be too slow for the gaps between timers; they
			// are widened before a difference counts.
			diff := ""
			for _, scale := range []time.Duration{1, 10, 50} {
				if diff = compare(want, inParallel(t, v.Program, want, scale)); diff == "" {
					return
				}
			}
			t.Error(diff)
		})
	}
	for name := range dependsOnScheduling {
		if !known[name] {
			t.Errorf("no vector is named %q", name)
		}
	}
}

// seen is a run as both runtimes must agree on it.
type seen struct {
	lines int
	// fibers are the lines of each fiber in order, sorted, since numbers of
	// fibers differ; the lines that no fiber logged stand alone.
	fibers []string
	exit   string
}

func summarize(lines []vectors.Line, exit string) seen {
	byFiber := map[scope.FiberID][]string{}
	var out []string
	for _, l := range lines {
		if l.Fiber == 0 {
			out = append(out, l.Text)
		} else {
			byFiber[l.Fiber] = append(byFiber[l.Fiber], l.Text)
		}
	}
	for _, texts := range byFiber {
		out = append(out, strings.Join(texts, "\n"))
	}
	slices.Sort(out)
	return seen{lines: len(lines), fibers: out, exit: exit}
}

func deterministic(t *testing.T, program any) seen {
	t.Helper()
	var lines []vectors.Line
	main, _, err := vectors.Compile(program, func(l vectors.Line) { lines = append(lines, l) }, effect.YieldNow())
	if err != nil {
		t.Fatal(err)
	}
	out := effect.RunDeterministic(main, effect.DeterministicConfig{})
	exit := "pending"
	if e, ok := out.Exit.Get(); ok {
		exit = vectors.ExitText(e)
	}
	return summarize(lines, exit)
}

// inParallel runs the program until it has logged as many lines as want, and
// ended if want did, or for a time that is far beyond what it needs.
func inParallel(t *testing.T, program any, want seen, scale time.Duration) seen {
	t.Helper()
	var mu sync.Mutex
	var lines []vectors.Line
	enough := make(chan struct{})
	if want.lines == 0 {
		close(enough)
	}
	main, fibers, err := vectors.Compile(program, func(l vectors.Line) {
		mu.Lock()
		defer mu.Unlock()
		if lines = append(lines, l); len(lines) == want.lines {
			close(enough)
		}
	}, effect.TryPromise(func(context.Context) (effect.Unit, error) {
		time.Sleep(scale * time.Millisecond / 2)
		return effect.Unit{}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	rt := scope.NewParallel(scope.OnClock(newScaled(scale)))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan scope.Exit[any], 1)
	go func() { ended <- effect.RunExitOn(ctx, rt, main) }()
	deadline := time.After(2*time.Second + 100*time.Millisecond*scale)
	exit := "pending"
	wait := enough
	for open := 2; open > 0; open-- {
		if want.exit == "pending" && open == 1 {
			break
		}
		select {
		case e := <-ended:
			exit = vectors.ExitText(e)
		case <-wait:
			wait = nil
		case <-deadline:
			open = 1
		}
	}
	mu.Lock()
	got := summarize(slices.Clone(lines), exit)
	mu.Unlock()
	cancel()
	for _, f := range fibers() {
		f.Kernel().Interrupt(0)
	}
	return got
}

func compare(want, got seen) string {
	if want.exit == got.exit && slices.Equal(want.fibers, got.fibers) {
		return ""
	}
	return fmt.Sprintf("exit: want %s\n       got %s\nwant %q\n got %q", want.exit, got.exit, want.fibers, got.fibers)
}

// scaled is the real clock, slower. It shows the time of the latest timer that
// fired, as the virtual clock does, so that programs that print the time print
// the same.
type scaled struct {
	*scope.LiveClock
	scale time.Duration
	mu    sync.Mutex
	now   time.Duration
}

func newScaled(scale time.Duration) *scaled {
	return &scaled{LiveClock: scope.NewLiveClock(), scale: scale}
}

func (c *scaled) Monotonic() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *scaled) AfterFunc(d time.Duration, f func()) scope.Timer {
	at := c.Monotonic() + d
	return c.LiveClock.AfterFunc(d*c.scale, func() {
		c.mu.Lock()
		c.now = max(c.now, at)
		c.mu.Unlock()
		f()
	})
}
