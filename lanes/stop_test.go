package lanes_test

import (
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lanes"
)

func TestN8_CancelRunning(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		board := do.Await(lanes.Make(s.config(1)))
		slow := s.held(effect.YieldNow().AndThen(s.raising("finalized")))
		s.plays("a", slow)
		s.plays("b", s.reached("go", 1))
		do.Await(board.Wake("a"))
		do.Await(s.reached("ready", 1))
		do.Await(board.Wake("a"))
		do.Await(board.Wake("b"))
		do.Await(board.Cancel("a"))
		// By now finalizers and OnExit are through and the slot is b's.
		s.equal("finalized", s.count("finalized"), 1)
		s.equal("told", s.told(), "[a interrupted cancel]")
		st := do.Await(board.Status())
		s.equal("status", st, "{1 0 false [{b running false}]}")
		s.equal("what a was owed is dropped", s.started("a"), 1)
		do.Await(s.raising("go"))
		do.Await(s.reached("ended b", 1))
	})
}

func TestN8_CancelQueuedAndIdle(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		board := do.Await(lanes.Make(s.config(1)))
		s.plays("a", s.reached("go", 1))
		for _, key := range []string{"a", "b", "c", "d"} {
			do.Await(board.Wake(key))
		}
		do.Await(board.Cancel("c"))
		do.Await(board.Cancel("nobody"))
		st := do.Await(board.Status())
		s.equal("queue", st.Lanes, "[{a running false} {b queued true} {d queued true}]")
		do.Await(s.raising("go"))
		do.Await(s.reached("ended d", 1))
		s.equal("told", s.told(), "[a succeeded b succeeded d succeeded]")
		// A cancelled lane can be woken again.
		do.Await(board.Wake("c"))
		do.Await(s.reached("ended c", 1))
	})
}

// TestN8_WakeAfterCancelBegan: it is served as usual.
func TestN8_WakeAfterCancelBegan(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		board := do.Await(lanes.Make(s.config(1)))
		s.plays("a", s.held(s.reached("clean", 1)))
		do.Await(board.Wake("a"))
		do.Await(s.reached("ready", 1))
		do.Await(board.Wake("a"))
		do.Await(board.Wake("b"))
		cancel := do.Await(effect.ForkChild(board.Cancel("a")))
		do.Await(s.reached("dropped a", 1))
		s.equal("wake", do.Await(board.Wake("a")), lanes.Coalesced)
		do.Await(s.raising("clean"))
		do.Await(cancel.Join())
		do.Await(s.reached("ended a", 2))
		s.equal("told", s.told(), "[a interrupted cancel b succeeded a succeeded]")
	})
}

func TestN8_ManyCancels(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		board := do.Await(lanes.Make(s.config(1)))
		s.plays("a", s.held(effect.YieldNow()))
		do.Await(board.Wake("a"))
		do.Await(s.reached("ready", 1))
		var cancels []*effect.Fiber[effect.Unit]
		for range 5 {
			cancels = append(cancels, do.Await(effect.ForkChild(board.Cancel("a"))))
		}
		for _, c := range cancels {
			do.Await(c.Join())
		}
		s.equal("told", s.told(), "[a interrupted cancel]")
	})
}

func TestN9_Close(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		board := do.Await(lanes.Make(s.config(2)))
		held := s.held(effect.YieldNow())
		s.plays("a", held)
		s.plays("b", held)
		for _, key := range []string{"a", "b", "c", "d"} {
			do.Await(board.Wake(key))
		}
		do.Await(s.reached("ready", 2))
		do.Await(board.Wake("a"))
		first := do.Await(effect.ForkChild(board.Close()))
		do.Await(board.Close())
		s.equal("reports", len(s.told()), 2)
		do.Await(first.Join())
		do.Await(board.Close())
		err := do.Await(effect.Flip(board.Wake("a")))
		closed, ok := err.(*lanes.Closed)
		if !ok || closed.Key != "a" {
			s.t.Errorf("wake: got %v", err)
		}
		do.Await(board.Cancel("a"))
		s.equal("status", do.Await(board.Status()), "{0 0 true []}")
		s.equal("started", []int{s.started("a"), s.started("b"), s.started("c"), s.started("d")}, "[1 1 0 0]")
		for _, e := range s.told() {
			if e != "a interrupted close" && e != "b interrupted close" {
				s.t.Errorf("told %s", e)
			}
		}
		dropped := 0
		for _, e := range s.happened() {
			if e == "dropped a" || e == "dropped c" || e == "dropped d" {
				dropped++
			}
		}
		s.equal("dropped", dropped, 3)
	})
}

// TestN9_ScopeCloses: the end of the scope of Make is a Close, in the scope's order.
func TestN9_ScopeCloses(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		var board *lanes.Lanes
		s.plays("a", effect.Never[effect.Unit]())
		resource := effect.AddFinalizer(func(exit) unit {
			return effect.SyncUnit(func() { s.equal("told before the resource goes", s.told(), "[a interrupted close]") })
		})
		do.Await(effect.Scoped(resource.AndThen(effect.GenUnit(func(do *effect.Do) {
			board = do.Await(lanes.Make(s.config(1)))
			do.Await(board.Wake("a"))
			do.Await(board.Wake("b"))
			do.Await(s.reached("start a", 1))
		}))))
		_, ok := do.Await(effect.Flip(board.Wake("a"))).(*lanes.Closed)
		s.equal("closed", ok, true)
		s.equal("b never started", s.started("b"), 0)
	})
}

func TestN9_NewInAClosedScope(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		sc := do.Await(effect.MakeScope(0))
		do.Await(effect.CloseScope(sc, exit{}))
		board := do.Await(lanes.Make(s.config(1)).ProvideScope(sc))
		_, ok := do.Await(effect.Flip(board.Wake("a"))).(*lanes.Closed)
		s.equal("closed", ok, true)
	})
}

// TestN9_InterruptedCloseGoesOn: who stops waiting takes nothing back.
func TestN9_InterruptedCloseGoesOn(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		board := do.Await(lanes.Make(s.config(1)))
		s.plays("a", s.held(s.reached("clean", 1)))
		do.Await(board.Wake("a"))
		do.Await(s.reached("ready", 1))
		do.Await(board.Wake("a"))
		closing := do.Await(effect.ForkChild(board.Close()))
		do.Await(s.reached("dropped a", 1))
		do.Await(closing.Interrupt())
		s.equal("told", s.told(), "[]")
		do.Await(s.raising("clean"))
		do.Await(board.Close())
		s.equal("told", s.told(), "[a interrupted close]")
	})
}

// TestN10_FirstStopNames: cancel, close and timeout, in any order, the first
// names the reason.
func TestN10_FirstStopNames(t *testing.T) {
	for _, order := range [][]lanes.StopReason{
		{lanes.StopCancel, lanes.StopClose, lanes.StopTimeout},
		{lanes.StopClose, lanes.StopTimeout, lanes.StopCancel},
		{lanes.StopTimeout, lanes.StopCancel, lanes.StopClose},
		{lanes.StopTimeout, lanes.StopClose, lanes.StopCancel},
	} {
		t.Run(order[0].String(), func(t *testing.T) {
			everywhere(t, func(s *stage, do *effect.Do) {
				c := s.config(1)
				c.TurnTimeout = time.Second
				board := do.Await(lanes.Make(c))
				s.plays("a", s.held(s.raising("stopped").AndThen(s.reached("clean", 1))))
				do.Await(board.Wake("a"))
				do.Await(s.reached("ready", 1))
				var fibers []*effect.Fiber[effect.Unit]
				for i, r := range order {
					fibers = append(fibers, do.Await(effect.ForkChild(s.stop(board, "a", r, time.Second), effect.StartImmediately())))
					if i == 0 {
						do.Await(s.reached("stopped", 1))
					}
				}
				do.Await(effect.YieldNow())
				do.Await(s.raising("clean"))
				for _, f := range fibers {
					do.Await(f.Join())
				}
				do.Await(board.Close())
				s.equal("told", s.told(), "[a interrupted "+order[0].String()+"]")
			})
		})
	}
}

func (s *stage) stop(board *lanes.Lanes, key string, r lanes.StopReason, timeout time.Duration) unit {
	switch r {
	case lanes.StopCancel:
		return board.Cancel(key)
	case lanes.StopClose:
		return board.Close()
	default:
		return s.pass(timeout)
	}
}
