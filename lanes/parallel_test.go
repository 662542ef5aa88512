package lanes_test

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lanes"
	"github.com/rivus/tether/scope"
)

// TestF34_ProducersAndClose: twenty producers wake random keys while activations
// end at random, and the lanes are closed at a random moment.
func TestF34_ProducersAndClose(t *testing.T) {
	const producers, keys, concurrent = 20, 12, 3
	var running, total, after atomic.Int64
	var busy [keys]atomic.Int64
	var closed atomic.Bool
	activate := func(key string) unit {
		i, _ := strconv.Atoi(key)
		if busy[i].Add(1) != 1 {
			t.Errorf("N1: two activations of %s", key)
		}
		if running.Add(1) > concurrent {
			t.Error("N1: too many run")
		}
		if closed.Load() {
			after.Add(1)
		}
		leave := effect.AddFinalizer(func(exit) unit {
			return effect.YieldNow().AndThen(effect.SyncUnit(func() {
				if closed.Load() {
					after.Add(1)
				}
				running.Add(-1)
				busy[i].Add(-1)
				total.Add(1)
			}))
		}).Uninterruptible()
		work := []unit{
			effect.Void(), effect.YieldNow(), effect.Fail[effect.Unit](errBoom), effect.Die[effect.Unit]("bug"),
			effect.YieldNow().AndThen(effect.YieldNow()).Uninterruptible(),
		}[rand.IntN(5)]
		return leave.AndThen(work)
	}
	// The finalizer is only there once the effect runs, so count from there.
	counted := func(key string) unit { return effect.Suspend(func() unit { return activate(key) }).Uninterruptible() }

	var mu sync.Mutex
	exits := 0
	exit := effect.RunExit(t.Context(), effect.Scoped(effect.GenUnit(func(do *effect.Do) {
		started := 0
		board := do.Await(lanes.Make(lanes.Config{
			MaxConcurrent: concurrent, Activate: counted, Logger: silent,
			OnExit: func(lanes.ActivationExit) unit {
				return effect.SyncUnit(func() {
					mu.Lock()
					defer mu.Unlock()
					exits++
				})
			},
			Observe: func(e lanes.Event) {
				mu.Lock()
				defer mu.Unlock()
				if e.Kind == lanes.EventStarted {
					started++
				}
			},
		}))
		producer := effect.WithFiber(func(f *scope.Fiber) unit {
			for {
				key := strconv.Itoa(rand.IntN(keys))
				if _, err := board.WakeNow(f, key); err != nil {
					if _, ok := errors.AsType[*lanes.Closed](err); !ok {
						t.Errorf("got %v", err)
					}
					return effect.Void()
				}
				if rand.IntN(10) == 0 {
					effect.RunOn(f, board.Cancel(key))
				}
				effect.RunOn(f, effect.YieldNow())
			}
		})
		var fibers []effect.AnyFiber
		for range producers {
			fibers = append(fibers, do.Await(effect.ForkChild(producer)))
		}
		for range rand.IntN(3000) {
			do.Await(effect.YieldNow())
		}
		do.Await(board.Close())
		closed.Store(true)
		do.Await(effect.AwaitAll(fibers...))
		if n := after.Load(); n > 0 {
			t.Errorf("N9: %d activations ran after Close", n)
		}
		mu.Lock()
		defer mu.Unlock()
		if started != exits {
			t.Errorf("N10: %d started, OnExit heard %d", started, exits)
		}
		if running.Load() != 0 || len(board.StatusNow().Lanes) > 0 {
			t.Errorf("%d run, %+v", running.Load(), board.StatusNow())
		}
	})))
	if exit.IsFailure() {
		t.Error(exit)
	}
}

// TestN3_InParallel: producers fill inboxes and wake; every message is taken.
func TestN3_InParallel(t *testing.T) {
	const producers, keys = 8, 5
	messages := 2000
	if raced {
		messages = 300
	}
	var inbox [keys]atomic.Int64
	var taken atomic.Int64
	all := effect.NewDeferred[effect.Unit]()
	inParallel(t, func(s *stage, do *effect.Do) {
		board := do.Await(lanes.Make(lanes.Config{MaxConcurrent: 2, Activate: func(key string) unit {
			return effect.SyncUnit(func() {
				i, _ := strconv.Atoi(key)
				if taken.Add(inbox[i].Swap(0)) == int64(producers*messages) {
					all.CompleteNow(effect.Void())
				}
			})
		}}))
		for range producers {
			do.Await(effect.ForkChild(effect.WithFiber(func(f *scope.Fiber) unit {
				for range messages {
					i := rand.IntN(keys)
					inbox[i].Add(1)
					if _, err := board.WakeNow(f, strconv.Itoa(i)); err != nil {
						return effect.Fail[effect.Unit](err)
					}
				}
				return effect.Void()
			})))
		}
		do.Await(all.Await())
	})
}

// TestN9_ManyRuns: lanes of one run may be woken and cancelled from another.
func TestN9_ManyRuns(t *testing.T) {
	inParallel(t, func(s *stage, do *effect.Do) {
		board := do.Await(lanes.Make(s.config(1)))
		s.plays("a", s.held(effect.Void()))
		var wg sync.WaitGroup
		wg.Go(func() {
			if o, err := effect.Run(t.Context(), board.Wake("a")); o != lanes.Started || err != nil {
				t.Errorf("got %v, %v", o, err)
			}
		})
		do.Await(s.reached("ready", 1))
		wg.Go(func() {
			if _, err := effect.Run(t.Context(), board.Cancel("a")); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		s.equal("told", s.told(), "[a interrupted cancel]")
	})
}
