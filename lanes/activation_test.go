package lanes_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lanes"
	"github.com/rivus/tether/scope"
)

var greeting = effect.NewReference("greeting", func() string { return "none" })

// TestN6_ServicesAndScope: an activation has New's services, not its waker's, and
// a scope of its own.
func TestN6_ServicesAndScope(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		outer := do.Await(effect.Scope())
		c := s.config(1)
		look := func(where string) unit {
			return effect.GenUnit(func(do *effect.Do) {
				s.equal(where, do.Await(greeting.Get()), "of New")
				if do.Await(effect.Scope()) == outer {
					s.t.Errorf("%s: the scope is New's", where)
				}
			})
		}
		s.plays("a", look("Activate"))
		c.OnExit = func(e lanes.ActivationExit) unit { return look("OnExit").AndThen(s.onExit(e)) }
		board := do.Await(lanes.Make(c).ProvideService(greeting, "of New"))
		do.Await(board.Wake("a").ProvideService(greeting, "of Wake"))
		do.Await(s.reached("ended a", 1))
		s.equal("told", s.told(), "[a succeeded]")
	})
}

// TestN6_SlotIsHeldToTheEnd: the scope's finalizers, the children and OnExit come
// before the next activation, of the same key or another.
func TestN6_SlotIsHeldToTheEnd(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		everywhere(t, func(s *stage, do *effect.Do) {
			var steps []string
			note := func(what string) unit {
				return effect.SyncUnit(func() {
					s.mu.Lock()
					defer s.mu.Unlock()
					steps = append(steps, what)
				})
			}
			c := s.config(1)
			c.OnExit = func(e lanes.ActivationExit) unit {
				return s.onExit(e).AndThen(effect.YieldNow()).AndThen(note("exit " + e.Lane()))
			}
			board := do.Await(lanes.Make(c))
			wait := s.reached("go", 1)
			if stopped {
				wait = effect.Never[effect.Unit]()
			}
			child := s.raising("child").AndThen(effect.Never[effect.Unit]()).
				Ensuring(effect.YieldNow().AndThen(note("child ended")))
			s.plays("a", effect.AddFinalizer(func(exit) unit { return effect.YieldNow().AndThen(note("finalizer a")) }).
				AndThen(effect.ForkChild(child)).AndThen(s.reached("child", 1)).AndThen(wait))
			s.plays("b", note("start b"))
			do.Await(board.Wake("a"))
			do.Await(s.reached("child", 1))
			do.Await(board.Wake("b"))
			if stopped {
				do.Await(board.Cancel("a"))
			} else {
				do.Await(s.raising("go"))
			}
			do.Await(s.reached("ended b", 1))
			s.equal("order", strings.Join(steps, ", "), "finalizer a, child ended, exit a, start b, exit b")
		})
	}
}

func TestN7_Timeout(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		c := s.config(1)
		c.TurnTimeout = time.Second
		board := do.Await(lanes.Make(c))
		s.plays("a", effect.Never[effect.Unit](), s.reached("go", 1))
		s.plays("b", effect.Never[effect.Unit]())
		for _, key := range []string{"a", "b", "a"} {
			do.Await(board.Wake(key))
		}
		do.Await(s.reached("start a", 1))
		do.Await(s.pass(time.Second - 1))
		s.equal("before the time", s.told(), "[]")
		do.Await(s.pass(1))
		// b's time counts from its own start, not from its wake.
		do.Await(s.reached("start b", 1))
		do.Await(s.pass(time.Second - 1))
		s.equal("before b's time", s.told(), "[a interrupted timeout]")
		do.Await(s.pass(1))
		// A wake that a owed survives the timeout.
		do.Await(s.reached("start a", 2))
		do.Await(s.raising("go"))
		do.Await(s.reached("ended a", 2))
		s.equal("told", s.told(), "[a interrupted timeout b interrupted timeout a succeeded]")
		if !s.serial {
			s.equal("timers", s.clock.timers(), 0)
		}
	})
}

// TestN7_NoTimerIsLeft: a finished activation's timer does not keep the clock
// busy, whatever it finished with.
func TestN7_NoTimerIsLeft(t *testing.T) {
	for _, body := range []unit{
		effect.Void(), effect.Fail[effect.Unit](context.Canceled), effect.Die[effect.Unit]("bug"), effect.Interrupt[effect.Unit](),
		{},
		effect.SyncUnit(func() { panic("bug") }),
	} {
		everywhere(t, func(s *stage, do *effect.Do) {
			c := s.config(1)
			c.TurnTimeout = time.Hour
			board := do.Await(lanes.Make(c))
			s.plays("a", body)
			do.Await(board.Wake("a"))
			do.Await(s.reached("ended a", 1))
			s.equal("reports", len(s.told()), 1)
			if s.serial {
				s.equal("time", do.Await(effect.Monotonic()), time.Duration(0))
			}
		})
	}
}

// lateClock's timers cannot be stopped: their calls have always begun.
type lateClock struct {
	*manualClock
	mu    sync.Mutex
	calls []func()
}

func (c *lateClock) AfterFunc(_ time.Duration, fn func()) scope.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, fn)
	return c
}

func (*lateClock) Stop() bool { return false }

// TestN7_LateTimer: the call of a timer that arrives when its activation is over
// does not hit the lane's next one.
func TestN7_LateTimer(t *testing.T) {
	clock := &lateClock{manualClock: newManualClock()}
	s := newStage(t, false)
	exit := effect.RunExitOn(t.Context(), scope.NewParallel(scope.OnClock(clock)), effect.Scoped(effect.GenUnit(func(do *effect.Do) {
		c := s.config(1)
		c.TurnTimeout = time.Second
		board := do.Await(lanes.Make(c))
		s.plays("a", s.raising("begun").AndThen(s.reached("on", 1)), s.raising("again").AndThen(effect.Never[effect.Unit]()))
		do.Await(board.Wake("a"))
		do.Await(s.reached("begun", 1))
		// Without a moment of idleness between the two.
		do.Await(board.Wake("a"))
		do.Await(s.raising("on"))
		do.Await(s.reached("again", 1))
		clock.mu.Lock()
		late := clock.calls[0]
		clock.mu.Unlock()
		late()
		// It left no reason behind that a later stop would take for the first one.
		do.Await(board.Cancel("a"))
	})))
	s.equal("exit", exit.Cause(), "Cause()")
	s.equal("told", s.told(), "[a succeeded a interrupted cancel]")
}

// TestN11_StoppedBeforeTheStart stops an activation that has its slot and has not
// begun.
func TestN11_StoppedBeforeTheStart(t *testing.T) {
	for _, r := range []lanes.StopReason{lanes.StopCancel, lanes.StopClose} {
		play := func(s *stage, do *effect.Do) {
			board := do.Await(lanes.Make(s.config(1)))
			// Both in one step: without preemption nothing comes between.
			_, c := do.Await(effect.WithFiber(func(f *scope.Fiber) effect.Effect[scope.Exit[effect.Unit]] {
				if _, err := board.WakeNow(f, "a"); err != nil {
					return effect.Fail[scope.Exit[effect.Unit]](err)
				}
				return effect.Succeed(scope.NewExit(effect.RunOn(f, s.stop(board, "a", r, 0))))
			})).Get()
			s.equal("stop", c, nil)
			s.equal("told", s.told(), "[a interrupted "+r.String()+"]")
			s.equal("activations", s.started("a"), 0)
			s.equal("events", s.happened(), "[started a ended a]")
		}
		deterministic(t, effect.DeterministicConfig{}, play)
		for seed := range uint64(25) {
			deterministic(t, exploring(2*seed), play)
		}
	}
}

// TestN11_InParallel: with the stop as early as can be, an activation that was
// reported once has either started or not.
func TestN11_InParallel(t *testing.T) {
	inParallel(t, func(s *stage, do *effect.Do) {
		board := do.Await(lanes.Make(s.config(2)))
		for i := range 200 {
			do.Await(board.Wake("a"))
			do.Await(board.Cancel("a"))
			told := s.told()
			if len(told) != i+1 {
				s.t.Errorf("got %d reports of %d", len(told), i+1)
				return
			}
		}
	})
}

// TestN11_TheStopIsOnItsWay: Cancel has decided, its interruption has not reached
// the activation, which is about to start. Observe holds that moment open.
func TestN11_TheStopIsOnItsWay(t *testing.T) {
	inParallel(t, func(s *stage, do *effect.Do) {
		begun, decided, told := make(chan struct{}), make(chan struct{}), make(chan struct{})
		c := s.config(1)
		c.Observe = func(e lanes.Event) {
			switch e.Kind {
			case lanes.EventStarted:
				close(begun)
				<-decided
			case lanes.EventDropped:
				close(decided)
				<-told
			}
		}
		c.OnExit = func(e lanes.ActivationExit) unit {
			return s.onExit(e).AndThen(effect.SyncUnit(func() { close(told) }))
		}
		board := do.Await(lanes.Make(c))
		do.Await(board.Wake("a"))
		<-begun
		do.Await(board.Wake("a"))
		do.Await(board.Cancel("a"))
		s.equal("told", s.told(), "[a interrupted cancel]")
		s.equal("activations", s.started("a"), 0)
	})
}

// TestF37_BadActivations: each is a defect of its activation alone.
func TestF37_BadActivations(t *testing.T) {
	for _, c := range []struct {
		name     string
		activate func() unit
		defect   string
	}{
		{"panic while building", func() unit { panic("bug") }, "Die(bug)"},
		{"panic while running", func() unit { return effect.SyncUnit(func() { panic("bug") }) }, "Die(bug)"},
		{"zero effect", func() unit { return unit{} }, "zero Effect"},
		{"Goexit while building", func() unit { runtime.Goexit(); return unit{} }, "Goexit"},
		{"Goexit while running", func() unit { return effect.YieldNow().AndThen(effect.SyncUnit(runtime.Goexit)) }, "Goexit"},
		{"Goexit inside a mask", func() unit { return effect.YieldNow().AndThen(effect.SyncUnit(runtime.Goexit).Uninterruptible()) }, "Goexit"},
		{"Goexit in a finalizer", func() unit {
			return effect.AddFinalizer(func(exit) unit { return effect.SyncUnit(runtime.Goexit) })
		}, "Goexit"},
		{"panic in a finalizer", func() unit {
			return effect.AddFinalizer(func(exit) unit { panic("bug") })
		}, "Die(bug)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			everywhere(t, func(s *stage, do *effect.Do) {
				config := s.config(1)
				config.TurnTimeout = time.Hour
				config.Activate = func(key string) unit {
					if key == "bad" {
						return effect.AddFinalizer(func(exit) unit { return s.raising("released") }).
							AndThen(effect.Suspend(c.activate))
					}
					return s.activate(key)
				}
				board := do.Await(lanes.Make(config))
				do.Await(board.Wake("bad"))
				do.Await(board.Wake("good"))
				do.Await(s.reached("ended good", 1))
				do.Await(s.reached("released", 1))
				told := s.told()
				if len(told) != 2 || !strings.HasPrefix(told[0], "bad failed") || !strings.Contains(told[0], c.defect) || told[1] != "good succeeded" {
					s.t.Errorf("got %v", told)
				}
				do.Await(board.Close())
			})
		})
	}
}

// TestF37_GoexitAtOnce: in the function itself, not in the effect it makes.
func TestF37_GoexitAtOnce(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		config := s.config(1)
		config.Activate = func(string) unit { runtime.Goexit(); return unit{} }
		board := do.Await(lanes.Make(config))
		do.Await(board.Wake("a"))
		do.Await(s.reached("ended a", 1))
		do.Await(board.Close())
		s.equal("told", s.told(), "[a failed Cause(Die(runtime.Goexit was called on a fiber))]")
	})
}

// TestF37_DeafActivation: code that never looks at its context holds its slot and
// nothing else.
func TestF37_DeafActivation(t *testing.T) {
	inParallel(t, func(s *stage, do *effect.Do) {
		wake := make(chan struct{})
		board := do.Await(lanes.Make(s.config(2)))
		s.plays("deaf", effect.Blocking(func(ctx context.Context) (effect.Unit, error) {
			context.AfterFunc(ctx, func() { s.raise("asked to stop") })
			s.raise("deaf")
			<-wake
			return effect.Unit{}, nil
		}))
		s.plays("a", effect.Never[effect.Unit]())
		do.Await(board.Wake("deaf"))
		do.Await(s.reached("deaf", 1))
		cancel := do.Await(effect.ForkChild(board.Cancel("deaf")))
		do.Await(board.Wake("a"))
		do.Await(board.Cancel("a"))
		do.Await(board.Wake("b"))
		do.Await(s.reached("ended b", 1))
		do.Await(s.reached("asked to stop", 1))
		s.equal("Cancel of the deaf one waits", ended(cancel), false)
		close(wake)
		do.Await(cancel.Join())
		s.equal("told of it", s.told()[2], "deaf interrupted cancel")
	})
}
