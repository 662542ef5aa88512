package lanes_test

import (
	"fmt"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lanes"
	"github.com/rivus/tether/scope"
)

// F54: a queued lane is pending, as in TypeScript.
func TestN13_F54_Status(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		board := do.Await(lanes.Make(s.config(2)))
		s.equal("at first", do.Await(board.Status()), "{0 0 false []}")
		s.plays("b", s.reached("go", 1))
		s.plays("a", s.reached("go", 1))
		for _, key := range []string{"b", "a", "d", "c", "a"} {
			do.Await(board.Wake(key))
		}
		s.equal("in the end", do.Await(board.Status()),
			"{2 2 false [{b running false} {a running true} {d queued true} {c queued true}]}")
		do.Await(s.raising("go"))
		do.Await(s.reached("ended a", 2))
		do.Await(s.reached("ended c", 1))
		do.Await(board.Close())
		s.equal("closed", do.Await(board.Status()), "{0 0 true []}")
	})
}

// TestN13_ConsistentUnderLoad: in every snapshot the counts fit the list, and no
// slot is free while a lane waits.
func TestN13_ConsistentUnderLoad(t *testing.T) {
	inParallel(t, func(s *stage, do *effect.Do) {
		board := do.Await(lanes.Make(lanes.Config{MaxConcurrent: 3, Activate: func(string) unit { return effect.YieldNow() }}))
		rounds := 2000
		if raced {
			rounds = 300
		}
		waker := func(id int) unit {
			return effect.WithFiber(func(f *scope.Fiber) unit {
				for i := range rounds {
					if _, err := board.WakeNow(f, strconv.Itoa((i*7+id)%40)); err != nil {
						return effect.Fail[effect.Unit](err)
					}
				}
				return effect.Void()
			})
		}
		var fibers []*effect.Fiber[effect.Unit]
		for id := range 4 {
			fibers = append(fibers, do.Await(effect.ForkChild(waker(id))))
		}
		for range rounds {
			if bad := inconsistent(do.Await(board.Status()), 3); bad != "" {
				s.t.Error(bad)
				break
			}
		}
		for _, f := range fibers {
			do.Await(f.Join())
		}
	})
}

func inconsistent(st lanes.Status, concurrent int) string {
	running, queued := 0, 0
	seen := map[string]bool{}
	for _, l := range st.Lanes {
		if seen[l.Key] {
			return l.Key + " is there twice"
		}
		seen[l.Key] = true
		switch l.State {
		case lanes.StateRunning:
			running++
			if queued > 0 {
				return "a running lane comes after a queued one"
			}
		case lanes.StateQueued:
			queued++
			if !l.Pending {
				return "F54: a queued lane is not pending"
			}
		default:
			return l.Key + " is idle"
		}
	}
	switch {
	case running != st.Running || queued != st.Queued:
		return fmt.Sprintf("the counts do not fit: %+v", st)
	case running > concurrent:
		return fmt.Sprintf("%d run", running)
	case queued > 0 && running < concurrent:
		return fmt.Sprintf("%d wait, %d run", queued, running)
	}
	return ""
}

// TestN2_CoalescedWakeIsFree: no allocation, on a running lane and on a queued one,
// with an observer and without, as an effect made before and in direct style.
func TestN2_CoalescedWakeIsFree(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates")
	}
	for _, observe := range []func(lanes.Event){nil, func(lanes.Event) {}} {
		exit := effect.RunExit(t.Context(), effect.Scoped(effect.GenUnit(func(do *effect.Do) {
			board := do.Await(lanes.Make(lanes.Config{
				MaxConcurrent: 1, Observe: observe,
				Activate: func(string) unit { return effect.Never[effect.Unit]() },
			}))
			do.Await(board.Wake("running"))
			do.Await(board.Wake("queued"))
			do.Await(effect.WithFiber(func(f *scope.Fiber) unit {
				for _, key := range []string{"running", "queued"} {
					wake := board.Wake(key)
					for name, fn := range map[string]func(){
						"effect": func() { effect.RunOn(f, wake) },
						"direct": func() { board.WakeNow(f, key) },
					} {
						goroutines := runtime.NumGoroutine()
						if n := testing.AllocsPerRun(1000, fn); n != 0 {
							t.Errorf("%s, %s: %v allocations", key, name, n)
						}
						// One of the iteration before may be about to end.
						if n := runtime.NumGoroutine(); n > goroutines {
							t.Errorf("%s, %s: %d goroutines more", key, name, n-goroutines)
						}
					}
					t.Logf("making and running the effect: %v allocations",
						testing.AllocsPerRun(1000, func() { effect.RunOn(f, board.Wake(key)) }))
				}
				return effect.Void()
			}))
		})))
		if exit.IsFailure() {
			t.Error(exit)
		}
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestN13_QueuedKeysAreSmall puts 10^6 keys into the queue, with neither goroutine
// nor timer, and takes them out by Cancel and Close.
func TestN13_QueuedKeysAreSmall(t *testing.T) {
	if raced || testing.Short() {
		t.Skip("too slow")
	}
	const n = 1_000_000
	keys := make([]string, n)
	for i := range keys {
		keys[i] = "room:" + strconv.Itoa(i)
	}
	exit := effect.RunExit(t.Context(), effect.Scoped(effect.GenUnit(func(do *effect.Do) {
		board := do.Await(lanes.Make(lanes.Config{
			MaxConcurrent: 1, TurnTimeout: time.Hour, Activate: func(string) unit { return effect.Never[effect.Unit]() },
		}))
		do.Await(board.Wake("busy"))
		before, goroutines := heap(), runtime.NumGoroutine()
		do.Await(effect.WithFiber(func(f *scope.Fiber) unit {
			for _, key := range keys {
				if o, err := board.WakeNow(f, key); o != lanes.Queued || err != nil {
					t.Errorf("got %v, %v", o, err)
					break
				}
			}
			return effect.Void()
		}))
		each := float64(heap()-before) / n
		t.Logf("%.0f bytes per queued key, beside the key's characters", each)
		if each > 140 {
			t.Errorf("%.0f bytes per queued key", each)
		}
		if g := runtime.NumGoroutine(); g != goroutines {
			t.Errorf("%d goroutines more", g-goroutines)
		}
		// From the middle outwards, by Cancel; the rest by Close.
		start := time.Now()
		for i := range n / 2 {
			do.Await(board.Cancel(keys[n/4+i]))
		}
		t.Logf("Cancel of a queued key: %v", time.Since(start)/(n/2))
		start = time.Now()
		do.Await(board.Close())
		t.Logf("Close with %d queued: %v", n/2, time.Since(start))
		if left := int64(heap()) - int64(before); left > 1<<20 {
			t.Errorf("%d bytes are left", left)
		}
	})))
	if exit.IsFailure() {
		t.Error(exit)
	}
	runtime.KeepAlive(keys)
}

// TestF36_IdleKeysAreFree wakes 10^6 keys once each, on both runtimes.
func TestF36_IdleKeysAreFree(t *testing.T) {
	n := 1_000_000
	if raced || testing.Short() {
		n = 20_000
	}
	play := func(t *testing.T, do *effect.Do, n int) {
		var served atomic.Int64
		all := effect.NewDeferred[effect.Unit]()
		board := do.Await(lanes.Make(lanes.Config{
			MaxConcurrent: 8, TurnTimeout: time.Hour,
			Activate: func(string) unit {
				return effect.SyncUnit(func() {
					if served.Add(1) == int64(n) {
						all.CompleteNow(effect.Void())
					}
				})
			},
		}))
		before := heap()
		wakeAll(do, board, n)
		do.Await(all.Await())
		do.Await(board.Close())
		if served.Load() != int64(n) {
			t.Errorf("%d of %d were served", served.Load(), n)
		}
		if left := int64(heap()) - int64(before); left > 1<<20 {
			t.Errorf("%d bytes are left", left)
		}
		if st := board.StatusNow(); len(st.Lanes) > 0 {
			t.Errorf("not idle: %+v", st)
		}
	}
	t.Run("parallel", func(t *testing.T) {
		inParallel(t, func(_ *stage, do *effect.Do) { play(t, do, n) })
	})
	t.Run("virtual", func(t *testing.T) {
		deterministic(t, effect.DeterministicConfig{}, func(s *stage, do *effect.Do) {
			play(t, do, n/4)
			s.equal("time", do.Await(effect.Monotonic()), time.Duration(0))
		})
	})
}

func wakeAll(do *effect.Do, board *lanes.Lanes, n int) {
	do.Await(effect.WithFiber(func(f *scope.Fiber) unit {
		for i := range n {
			if _, err := board.WakeNow(f, strconv.Itoa(i)); err != nil {
				return effect.Fail[effect.Unit](err)
			}
		}
		return effect.Void()
	}))
}
