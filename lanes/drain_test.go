package lanes_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lanes"
)

// TestN15_Drain: what runs, what it is owed and what waits end by themselves.
func TestN15_Drain(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		board := do.Await(lanes.Make(s.config(1)))
		s.plays("a", s.reached("go", 1), s.reached("go", 2))
		for _, key := range []string{"a", "b", "a"} {
			do.Await(board.Wake(key))
		}
		first := do.Await(effect.ForkChild(board.Drain()))
		second := do.Await(effect.ForkChild(board.Drain()))
		do.Await(effect.YieldNow())
		for !board.StatusNow().Closed {
			do.Await(effect.YieldNow())
		}
		err := do.Await(effect.Flip(board.Wake("a")))
		if closed, ok := err.(*lanes.Closed); !ok || closed.Key != "a" {
			s.t.Errorf("wake: %v", err)
		}
		s.equal("status", board.StatusNow(), "{1 1 true [{a running true} {b queued true}]}")
		do.Await(s.raising("go"))
		do.Await(s.reached("ended b", 1))
		s.equal("is over", ended(first), false)
		do.Await(s.raising("go"))
		do.Await(first.Join())
		do.Await(second.Join())
		s.equal("told", s.told(), "[a succeeded b succeeded a succeeded]")
		s.equal("status", board.StatusNow(), "{0 0 true []}")
		do.Await(board.Drain())
		do.Await(board.Close())
	})
}

// TestN15_DrainNothing: idle lanes are closed at once, and closed ones are drained.
func TestN15_DrainNothing(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		board := do.Await(lanes.Make(s.config(1)))
		do.Await(board.Drain())
		s.equal("status", board.StatusNow(), "{0 0 true []}")
		other := do.Await(lanes.Make(s.config(1)))
		do.Await(other.Close())
		do.Await(other.Drain(lanes.Within(0)))
	})
}

// TestN15_DrainWithin: at its limit it interrupts what is left, waits for that, and
// names it.
func TestN15_DrainWithin(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		board := do.Await(lanes.Make(s.config(2)))
		s.plays("a", s.held(effect.YieldNow().AndThen(s.raising("finalized"))))
		s.plays("b", s.reached("go", 1))
		for _, key := range []string{"a", "b", "c", "d", "a"} {
			do.Await(board.Wake(key))
		}
		do.Await(s.reached("ready", 1))
		drain := do.Await(effect.ForkChild(effect.Flip(board.Drain(lanes.Within(time.Minute)))))
		for !board.StatusNow().Closed {
			do.Await(effect.YieldNow())
		}
		// b ends in time, and c gets its slot.
		s.plays("c", s.held(effect.Void()))
		do.Await(s.raising("go"))
		do.Await(s.reached("ready", 2))
		for !s.serial && s.clock.timers() == 0 {
			do.Await(effect.YieldNow())
		}
		do.Await(s.pass(time.Minute))
		err := do.Await(drain.Join())
		left, ok := err.(*lanes.Undrained)
		if !ok || !errors.Is(err, context.DeadlineExceeded) {
			s.t.Fatalf("got %v", err)
		}
		s.equal("finalized", s.count("finalized"), 1)
		s.equal("interrupted", left.Interrupted, "[a c]")
		s.equal("dropped", left.Dropped, "[a d]")
		s.equal("text", err, `lanes: not drained: interrupted "a", "c"; dropped "a", "d": context deadline exceeded`)
		text, _ := json.Marshal(err)
		s.equal("JSON", string(text), `{"_tag":"LanesUndrained","interrupted":["a","c"],"dropped":["a","d"]}`)
		s.equal("status", board.StatusNow(), "{0 0 true []}")
		s.equal("started d", s.started("d"), 0)
	})
}

// TestN15_DrainInTime: nothing is left at the limit, and no timer.
func TestN15_DrainInTime(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		board := do.Await(lanes.Make(s.config(1)))
		s.plays("a", s.reached("go", 1))
		do.Await(board.Wake("a"))
		drain := do.Await(effect.ForkChild(board.Drain(lanes.Within(time.Minute))))
		do.Await(s.raising("go"))
		do.Await(drain.Join())
		s.equal("told", s.told(), "[a succeeded]")
	})
}

// TestN15_DrainIsInterrupted: that takes nothing back.
func TestN15_DrainIsInterrupted(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		board := do.Await(lanes.Make(s.config(1)))
		s.plays("a", s.reached("go", 1))
		do.Await(board.Wake("a"))
		drain := do.Await(effect.ForkChild(board.Drain(lanes.Within(time.Hour))))
		for !board.StatusNow().Closed {
			do.Await(effect.YieldNow())
		}
		do.Await(drain.Interrupt())
		do.Await(effect.Flip(board.Wake("b")))
		do.Await(s.raising("go"))
		do.Await(board.Drain())
		s.equal("told", s.told(), "[a succeeded]")
	})
}

// TestN15_ClosedWhileDraining: the drain is over, and says that it was cut short; a
// cancel is not a cut.
func TestN15_ClosedWhileDraining(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		board := do.Await(lanes.Make(s.config(1)))
		s.plays("a", s.held(effect.YieldNow()))
		s.plays("b", s.held(effect.YieldNow()))
		for _, key := range []string{"a", "b", "c"} {
			do.Await(board.Wake(key))
		}
		do.Await(s.reached("ready", 1))
		drain := do.Await(effect.ForkChild(effect.Flip(board.Drain())))
		for !board.StatusNow().Closed {
			do.Await(effect.YieldNow())
		}
		do.Await(board.Cancel("a"))
		do.Await(s.reached("ready", 2))
		do.Await(board.Close())
		s.equal("error", do.Await(drain.Join()), `lanes: not drained: interrupted "b"; dropped "c": the lanes were closed meanwhile`)
	})
}

// TestN15_CancelOfTheLast: the drain ends with it, be it queued or running.
func TestN15_CancelOfTheLast(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		board := do.Await(lanes.Make(s.config(1)))
		s.plays("a", s.held(effect.YieldNow()))
		do.Await(board.Wake("a"))
		do.Await(board.Wake("b"))
		do.Await(s.reached("ready", 1))
		drain := do.Await(effect.ForkChild(board.Drain()))
		for !board.StatusNow().Closed {
			do.Await(effect.YieldNow())
		}
		do.Await(board.Cancel("b"))
		do.Await(board.Cancel("a"))
		do.Await(drain.Join())
		s.equal("told", s.told(), "[a interrupted cancel]")
	})
}

// TestN15_N12_DrainInside: it would wait for its own caller.
func TestN15_N12_DrainInside(t *testing.T) {
	join := func(e unit) unit {
		return effect.ForkChild(e).FlatMap(func(f *effect.Fiber[effect.Unit]) unit { return f.Join() })
	}
	for name, body := range map[string]func(unit) unit{
		"in the body": func(e unit) unit { return e },
		"in a child":  join,
		"in a racer":  func(e unit) unit { return e.Timeout(time.Hour) },
		"masked":      func(e unit) unit { return e.Uninterruptible() },
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(s *stage, do *effect.Do) {
				board := do.Await(lanes.Make(s.config(1)))
				s.plays("a", effect.Suspend(func() unit { return body(board.Drain()) }))
				do.Await(board.Wake("a"))
				do.Await(s.reached("ended a", 1))
				deadlock := false
				for _, e := range s.exits {
					failed, ok := e.(lanes.ActivationFailed)
					if ok {
						die, _ := failed.Cause.Defect()
						_, deadlock = die.Defect.(*lanes.SelfDeadlock)
					}
				}
				s.equal("a deadlock is told", deadlock, true)
				s.equal("closed", board.StatusNow().Closed, false)
				do.Await(board.Drain())
			})
		})
	}
	t.Run("in OnExit", func(t *testing.T) {
		everywhere(t, func(s *stage, do *effect.Do) {
			var board *lanes.Lanes
			config := s.config(1)
			config.OnExit = func(lanes.ActivationExit) unit { return board.Drain() }
			board = do.Await(lanes.Make(config))
			do.Await(board.Wake("a"))
			do.Await(s.reached("ended a", 1))
			s.equal("closed", board.StatusNow().Closed, false)
			if log := s.logged(); log == "" {
				s.t.Error("nothing is logged")
			}
		})
	})
}
