package lease_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
)

// killRounds is how many processes the kill test kills in all.
func killRounds(t *testing.T) int {
	n := rounds(120, 30)
	if text := os.Getenv("TETHER_KILL_ROUNDS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < 1 {
			t.Fatalf("TETHER_KILL_ROUNDS=%q", text)
		}
	}
	return n
}

// victim is a contending process, whose phases are heard all the time.
type victim struct {
	*peer
	serial int
	over   chan struct{} // its output has ended

	mu     sync.Mutex
	wanted string
	hit    chan struct{}
	// stored are the generations of its slot's keys when it began.
	stored   []int64
	held     int
	acquired int
	gaveUp   int // releases
	failed   string
}

func (v *victim) listen() {
	defer close(v.over)
	for r := range v.Replies() {
		v.mu.Lock()
		switch {
		case r.Do == "failed":
			v.failed = r.Text
		case r.Do == "acquired":
			v.acquired++
		case r.Do == "held" && r.Generation != v.stored[r.Index]+1:
			v.failed = fmt.Sprintf("key %d of its slot has generation %d after %d", r.Index, r.Generation, v.stored[r.Index])
		case r.Do == "held":
			v.held++
		case r.Do == "abandoned":
			v.gaveUp++
		case r.Phase != "" && r.Phase == v.wanted:
			v.wanted = ""
			close(v.hit)
		}
		v.mu.Unlock()
	}
}

// at is closed when the process comes to the phase.
func (v *victim) at(phase string) <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.wanted, v.hit = phase, make(chan struct{})
	return v.hit
}

// L2, L13, L14, L18: contenders are killed (kill -9) at random instants of all that
// they do, renewals of many leases in one write among it. The log that their fenced
// works write shows that no two of them overlap, that no token is older than one
// before it, and that none is given twice. Beside the key that all want each holds
// keys that nobody else wants: whoever comes after it takes each of them over at
// once, with the generation that follows the stored one.
func TestL18_KillAtRandomInstants(t *testing.T) {
	kills := killRounds(t)
	names := []string{"sqlite", "files", "files without SQLite"}
	for i, store := range names {
		t.Run(store, func(t *testing.T) {
			t.Parallel() // they wait more than they work
			killing(t, store, (kills+len(names)-1-i)/len(names))
		})
	}
}

func killing(t *testing.T, store string, kills int) {
	const contenders = 4
	dir := t.TempDir()
	path := filepath.Join(t.TempDir(), "log")
	killed := map[int]bool{}
	serial, hold, phases := 0, 2, phases
	if store == "sqlite" { // it renews them in one write
		hold, phases = 16, append(batchPhases, phases...)
	}
	begin := func(slot int) *victim {
		serial++
		s := quick(store, dir)
		s.TTL, s.Heartbeat = time.Second, 80*time.Millisecond // renewals are to be hit
		s.Heartbeat = s.TTL / 6                               // a release may take as long as that
		s.Log, s.Serial, s.Phases, s.Hold, s.Slot = path, serial, true, hold, slot
		v := &victim{serial: serial, over: make(chan struct{}), stored: generations(t, store, dir, slot, hold)}
		v.peer = spawn(t, s)
		v.Tell(command{Do: "contend"})
		go v.listen()
		return v
	}
	var pool []*victim
	for slot := range contenders {
		pool = append(pool, begin(slot))
	}
	hits := map[string]int{}
	acquired, gaveUp, held := 0, 0, 0
	for range kills {
		i := rand.IntN(contenders)
		v := pool[i]
		phase := phases[rand.IntN(len(phases))]
		select {
		case <-v.at(phase):
			hits[phase]++
		case <-v.over:
			t.Fatalf("worker %d has ended by itself: %s", v.serial, v.failed)
		case <-time.After(5 * time.Second): // the others were faster all the time
		}
		// The instant is random: within the phase, or soon after.
		<-time.After(time.Duration(rand.ExpFloat64() * float64(300*time.Microsecond)))
		v.Kill()
		<-v.over
		killed[v.serial] = true
		v.mu.Lock()
		acquired += v.acquired
		gaveUp += v.gaveUp
		held += v.held
		if v.failed != "" {
			t.Fatalf("worker %d failed: %s", v.serial, v.failed)
		}
		v.mu.Unlock()
		pool[i] = begin(i)
	}
	// Whoever is left goes on.
	for _, v := range pool {
		select {
		case <-v.at("released"):
		case <-v.over:
			t.Fatalf("worker %d has ended by itself: %s", v.serial, v.failed)
		}
	}
	for _, v := range pool {
		v.Kill()
		<-v.over
		killed[v.serial] = true
		acquired += v.acquired
	}
	works, last := checkLog(t, path, killed)
	t.Logf("%d kills, %d acquisitions, %d of slots, %d releases given up, %d works, at phases %v", kills, acquired, held, gaveUp, works, hits)
	// And the next one gets it at once: nobody is left alive.
	perform(t, func(do *effect.Do) {
		r := stores[store](dir)
		if c, ok := r.(*lease.SQLite); ok {
			defer c.Close()
		}
		w := newWorld(r)
		m, err := lease.NewManager(platformOS(), w.repo, config)
		if err != nil {
			t.Fatal(err)
		}
		l := do.Await(in(m.Acquire(key)))
		if l.Token().Generation <= last {
			t.Errorf("generation %d, and %d was used", l.Token().Generation, last)
		}
	})
}

// generations are the stored ones of a slot's keys, of which nobody is left alive.
func generations(t *testing.T, store, dir string, slot, n int) (stored []int64) {
	r := stores[store](dir)
	if c, ok := r.(*lease.SQLite); ok {
		defer c.Close()
	}
	perform(t, func(do *effect.Do) {
		for i := range n {
			load := r.Load(slotKey(slot, i)).Retry(effect.ScheduleRecurs(5))
			stored = append(stored, do.Await(load).OrEmpty().Generation)
		}
	})
	return stored
}

// checkLog reads what fenced works have written. The owner of a work that was killed
// writes no end to it.
func checkLog(t *testing.T, path string, killed map[int]bool) (works int, last int64) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	owner := map[int64]int{}
	open := 0 // the serial of whose work is under way
	for n, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		var what string
		var serial int
		var generation int64
		if _, err := fmt.Sscanf(line, "%s %d %d", &what, &serial, &generation); err != nil {
			t.Fatalf("line %d: %q: %v", n, line, err)
		}
		if generation < last {
			t.Fatalf("line %d: %q after generation %d", n, line, last)
		}
		last = generation
		if was, known := owner[generation]; known && was != serial {
			t.Fatalf("line %d: %q: the generation was given to worker %d", n, line, was)
		}
		owner[generation] = serial
		if open != 0 && open != serial && !killed[open] {
			t.Fatalf("line %d: %q inside the work of %d", n, line, open)
		}
		switch what {
		case "begin":
			if open == serial {
				t.Fatalf("line %d: %q inside a work of its own", n, line)
			}
			open = serial
			works++
		case "more":
			if open != serial {
				t.Fatalf("line %d: %q outside of any work", n, line)
			}
		case "end":
			open = 0
		}
	}
	return works, last
}
