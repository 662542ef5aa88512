package docs_test

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// Every Go snippet of testing.md stands in this file, so it compiles and runs.
func TestSnippets(t *testing.T) {
	text, err := os.ReadFile("testing.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("testing_test.go")
	if err != nil {
		t.Fatal(err)
	}
	snippets := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(snippets) < 5 {
		t.Errorf("there are %d snippets", len(snippets))
	}
	for _, snippet := range snippets {
		if _, err := parser.ParseFile(token.NewFileSet(), "snippet.go", "package p\n"+snippet[1], 0); err != nil {
			t.Errorf("a snippet is not complete: %v\n%s", err, snippet[1])
		}
		if !strings.Contains(string(code), "\n"+snippet[1]) {
			t.Errorf("not in testing_test.go:\n%s", snippet[1])
		}
	}
}

func TestTimeout(t *testing.T) {
	work := effect.Sleep(time.Hour).As("done").Timeout(time.Minute)
	out := effect.RunDeterministic(work, effect.DeterministicConfig{})
	exit := out.Exit.MustGet()
	err, _ := exit.Cause().Failure()
	if _, ok := errors.AsType[*effect.TimeoutError](err); !ok {
		t.Errorf("the exit is %v", exit)
	}
	if out.Now != time.Minute {
		t.Errorf("it took %v", out.Now)
	}
}

func TestHandOver(t *testing.T) {
	program := effect.GenUnit(func(do *effect.Do) {
		result := do.Await(effect.MakeDeferred[int]())
		worker := do.Await(effect.ForkChild(result.Await()))
		do.Await(worker.Join())
	})
	out := effect.RunDeterministic(program, effect.DeterministicConfig{})
	if len(out.Stuck) == 0 {
		t.Error("somebody completed the deferred")
	}
	t.Log(out.Report)
}

// The report is like the one in the text.
func TestReportOfAStuckProgram(t *testing.T) {
	program := effect.GenUnit(func(do *effect.Do) {
		worker := do.Await(effect.ForkChild(effect.NewDeferred[int]().Await()))
		do.Await(worker.Join())
	})
	checkReport(t, effect.RunDeterministic(program, effect.DeterministicConfig{}).Report)
}

func checkReport(t *testing.T, report scope.Report) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(report.String()), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "fiber #1 waits for fiber #2 at ") ||
		!strings.HasPrefix(lines[1], "fiber #2 waits for a Deferred") || !strings.Contains(lines[0], "docs/testing_test.go:") {
		t.Errorf("the report is\n%v", report)
	}
}

// counter adds one in each of two fibers, with a gap between its read and its
// write.
func counter() (program effect.Effect[effect.Unit], value *int) {
	value = new(int)
	add := effect.GenUnit(func(do *effect.Do) {
		read := *value
		do.Await(effect.Sleep(time.Duration(read) * time.Millisecond))
		*value = read + 1
	})
	return effect.AllDiscard([]effect.Effect[effect.Unit]{add, add}, effect.Unbounded), value
}

func TestLostUpdate(t *testing.T) {
	lost := 0
	for seed := range uint64(100) {
		program, value := counter()
		out := effect.RunDeterministic(program, effect.DeterministicConfig{
			Order:    scope.ExploreOrder,
			Choose:   rand.New(rand.NewPCG(seed, 0)).IntN,
			Preempt:  true,
			MaxSteps: 10_000,
		})
		if out.StepLimit || out.Exit.IsAbsent() {
			t.Fatalf("seed %d: %v", seed, out.Report)
		}
		if *value != 2 {
			lost++
		}
	}
	if lost == 0 {
		t.Error("no schedule lost an update")
	}
}

func TestWallClockJumps(t *testing.T) {
	d := scope.NewDeterministic(effect.DeterministicConfig{Start: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)})
	program := effect.GenUnit(func(do *effect.Do) {
		do.Await(effect.Sleep(time.Second))
		d.Clock().(*scope.VirtualClock).JumpWall(-24 * time.Hour)
		do.Await(effect.Sleep(time.Second))
	})
	out := effect.RunDeterministicOn(d, program)
	if wall := d.Clock().Now(); out.Now != 2*time.Second || wall.Year() != 2029 {
		t.Errorf("%v have passed, and it is %v", out.Now, wall)
	}
}

func TestNothingIsLeftOpen(t *testing.T) {
	open := 0
	program := func() effect.Effect[effect.Unit] {
		open = 0
		file := effect.AcquireRelease(
			effect.SyncUnit(func() { open++ }),
			func(effect.Unit, scope.Exit[any]) effect.Effect[effect.Unit] {
				return effect.Sleep(time.Millisecond).AndThen(effect.SyncUnit(func() { open-- }))
			})
		return effect.Scoped(file.AndThen(effect.Sleep(time.Second)))
	}
	err := effect.InterruptEverywhere(program, effect.EverywhereConfig{}, func(step int, out effect.RunReport[effect.Unit]) error {
		if open != 0 || out.Exit.IsAbsent() {
			return fmt.Errorf("%d are open; %v", open, out.Report)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
