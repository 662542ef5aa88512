package lanes_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lanes"
	"github.com/rivus/tether/scope"
)

// TestN12_F38_SelfDeadlock: Cancel of the own key and Close, from where they would
// wait for their own end.
func TestN12_F38_SelfDeadlock(t *testing.T) {
	join := func(e unit) unit {
		return effect.ForkChild(e).FlatMap(func(f *effect.Fiber[effect.Unit]) unit { return f.Join() })
	}
	type outcome string
	const (
		whole    outcome = "the activation is stopped"
		inBody   outcome = "its body dies"
		inChild  outcome = "a fiber beside it dies"
		inReport outcome = "OnExit dies"
	)
	for _, c := range []struct {
		name    string
		body    func(stop unit) unit
		outcome outcome
	}{
		{"in an interruptible part", func(stop unit) unit { return stop }, whole},
		{"in a child of one", join, whole},
		{"in a racer of one", func(stop unit) unit { return stop.Timeout(time.Hour) }, whole},
		{"in parallel work of one", func(stop unit) unit {
			return effect.ForEach([]int{1, 2}, func(int, int) unit { return stop }, effect.Concurrency(2)).AsUnit()
		}, whole},
		{"in a scoped fiber of one", func(stop unit) unit {
			return effect.ForkScoped(stop).AndThen(effect.Never[effect.Unit]())
		}, whole},
		{"in a child that a release awaits", func(stop unit) unit {
			// The child stops after the acquire, which is uninterruptible.
			acquired := effect.NewLatch(false)
			return effect.AcquireRelease(effect.ForkChild(acquired.Await().AndThen(stop)), func(f *effect.Fiber[effect.Unit], _ exit) unit { return f.Await().AsUnit() }).
				AndThen(acquired.Open().AsUnit()).AndThen(effect.Never[effect.Unit]())
		}, whole},
		{"in a child that a finalizer awaits", func(stop unit) unit {
			return effect.ForkChild(stop).FlatMap(func(f *effect.Fiber[effect.Unit]) unit {
				return effect.Never[effect.Unit]().Ensuring(f.Await().AsUnit())
			})
		}, whole},
		{"in a scoped fiber that a finalizer awaits", func(stop unit) unit {
			return effect.ForkScoped(stop).FlatMap(func(f *effect.Fiber[effect.Unit]) unit {
				return effect.AddFinalizer(func(exit) unit { return f.Await().AsUnit() }).AndThen(effect.Never[effect.Unit]())
			})
		}, whole},
		{"with other services, in an uninterruptible part", func(stop unit) unit {
			return stop.SetEnv(nil).Uninterruptible()
		}, inBody},
		{"with other services, in OnExit", func(stop unit) unit { return stop.SetEnv(nil) }, inReport},
		{"with other services, in a child of OnExit", func(stop unit) unit { return join(stop.SetEnv(nil)) }, inReport},
		{"in an uninterruptible part", func(stop unit) unit { return stop.Uninterruptible() }, inBody},
		{"in a child of one", func(stop unit) unit { return join(stop).Uninterruptible() }, inBody},
		{"in a child of an uninterruptible child", func(stop unit) unit { return join(join(stop).Uninterruptible()) }, inChild},
		{"in an uninterruptible child", func(stop unit) unit { return join(stop.Uninterruptible()) }, inChild},
		{"in a racer of an uninterruptible part", func(stop unit) unit { return stop.Timeout(time.Hour).Uninterruptible() }, inBody},
		{"in a finalizer", func(stop unit) unit { return effect.Void().Ensuring(stop) }, inBody},
		{"in a finalizer of the scope", func(stop unit) unit { return effect.AddFinalizer(func(exit) unit { return stop }) }, inBody},
		{"in OnExit", func(stop unit) unit { return stop }, inReport},
		{"in a child of OnExit", join, inReport},
	} {
		for _, r := range reasons[:2] {
			t.Run(c.name+", "+r.String(), func(t *testing.T) {
				everywhere(t, func(s *stage, do *effect.Do) {
					var board *lanes.Lanes
					config := s.config(1)
					stop := effect.Suspend(func() unit { return s.stop(board, "a", r, 0) })
					if c.outcome == inReport {
						config.OnExit = func(e lanes.ActivationExit) unit { return s.onExit(e).AndThen(c.body(stop)) }
					} else {
						s.plays("a", c.body(stop))
					}
					board = do.Await(lanes.Make(config))
					do.Await(board.Wake("a"))
					do.Await(s.reached("ended a", 1))
					s.equal("closed", do.Await(board.Status()).Closed, r == lanes.StopClose)
					told, log := s.told()[0], s.logged()
					switch {
					case c.outcome == inReport:
						if told != "a succeeded" || !strings.Contains(log, "would wait for its own end") {
							s.t.Errorf("told %s, logged %s", told, log)
						}
					case c.outcome == inChild && r == lanes.StopClose:
						// Close stops the activation before the child's defect does, unless
						// that has ended before it is joined.
						if told != "a interrupted close" && !strings.HasPrefix(told, "a failed") {
							s.t.Errorf("told %s, logged %s", told, log)
						}
					case c.outcome != whole:
						if !strings.HasPrefix(told, "a failed") || !strings.Contains(told, "would wait for its own end") {
							s.t.Errorf("told %s, logged %s", told, log)
						}
					default:
						s.equal("told", told, "a interrupted "+r.String())
					}
				})
			})
		}
	}
}

// TestN12_MaskedAfterTheCheck: between the check of a child that cancels the own key
// and the interruption the activation begins to wait for that child, uninterruptibly.
func TestN12_MaskedAfterTheCheck(t *testing.T) {
	inParallel(t, func(s *stage, do *effect.Do) {
		var board *lanes.Lanes
		checked, waiting := make(chan struct{}), make(chan struct{})
		c := s.config(1)
		c.Observe = func(e lanes.Event) {
			if e.Kind == lanes.EventDropped {
				close(checked)
				<-waiting
			}
			s.observe(e)
		}
		stop := effect.Suspend(func() unit { return board.Wake("a").AsUnit() }).AndThen(board0(&board, "a"))
		s.plays("a", effect.ForkChild(stop).FlatMap(func(f *effect.Fiber[effect.Unit]) unit {
			seen := effect.Blocking(func(context.Context) (effect.Unit, error) { <-checked; return effect.Unit{}, nil })
			return seen.AndThen(effect.SyncUnit(func() { close(waiting) }).AndThen(f.Await().AsUnit()).Uninterruptible())
		}))
		board = do.Await(lanes.Make(c))
		do.Await(board.Wake("a"))
		do.Await(s.reached("ended a", 1))
		s.equal("told", s.told(), "[a interrupted cancel]")
	})
}

// TestN12_DetachedFibersMayWait: a fiber that outlives the activation it was
// forked in may cancel the key, then and later.
func TestN12_DetachedFibersMayWait(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		var board *lanes.Lanes
		s.plays("a", effect.ForkDetach(s.reached("now", 1).AndThen(board0(&board, "a")).AndThen(s.raising("cancelled"))).
			AndThen(s.held(effect.Void())), s.held(effect.Void()))
		board = do.Await(lanes.Make(s.config(1)))
		do.Await(board.Wake("a"))
		do.Await(s.reached("ready", 1))
		do.Await(s.raising("now"))
		do.Await(s.reached("cancelled", 1))
		s.equal("told", s.told(), "[a interrupted cancel]")
	})
	everywhere(t, func(s *stage, do *effect.Do) {
		var board *lanes.Lanes
		s.plays("a", effect.ForkDetach(s.reached("now", 1).AndThen(board0(&board, "a").Uninterruptible()).AndThen(s.raising("cancelled"))).
			AndThen(effect.Void()), s.held(effect.Void()))
		board = do.Await(lanes.Make(s.config(1)))
		do.Await(board.Wake("a"))
		do.Await(s.reached("ended a", 1))
		do.Await(board.Wake("a"))
		do.Await(s.reached("ready", 1))
		do.Await(s.raising("now"))
		do.Await(s.reached("cancelled", 1))
		s.equal("told", s.told(), "[a succeeded a interrupted cancel]")
	})
}

// TestN12_DetachedFibersMayWaitForOnExit: the activation's own fiber has ended, and
// its mask with it.
func TestN12_DetachedFibersMayWaitForOnExit(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		var board *lanes.Lanes
		c := s.config(1)
		c.OnExit = func(e lanes.ActivationExit) unit {
			return s.raising("now").AndThen(s.reached("on", 1)).AndThen(s.onExit(e))
		}
		s.plays("a", effect.ForkDetach(s.reached("now", 1).
			// The drop of this wake tells that Cancel waits.
			AndThen(effect.Suspend(func() unit { return board.Wake("a").AsUnit() })).
			AndThen(board0(&board, "a")).AndThen(s.raising("cancelled"))).AsUnit())
		board = do.Await(lanes.Make(c))
		do.Await(board.Wake("a"))
		do.Await(s.reached("dropped a", 1))
		do.Await(s.raising("on"))
		do.Await(s.reached("cancelled", 1))
		s.equal("told", s.told(), "[a succeeded]")
	})
}

// TestN12_RacesEndWithoutADeadlock: the mask in which a fiber awaits the losers of a
// race is no uninterruptible part of its program.
func TestN12_RacesEndWithoutADeadlock(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		var board *lanes.Lanes
		late := s.reached("losing", 1).AndThen(effect.Suspend(func() unit { return board.Wake("a").AsUnit() })).
			AndThen(board0(&board, "a")).AndThen(s.raising("cancelled"))
		loser := s.raising("racing").AndThen(effect.Never[effect.Unit]()).Ensuring(s.raising("losing").AndThen(s.reached("on", 1)))
		s.plays("a", effect.ForkDetach(late).AndThen(loser.RaceFirst(s.reached("racing", 1))).AndThen(effect.Never[effect.Unit]()))
		board = do.Await(lanes.Make(s.config(1)))
		do.Await(board.Wake("a"))
		// The drop of the wake tells that Cancel waits.
		do.Await(s.reached("dropped a", 1))
		do.Await(s.raising("on"))
		do.Await(s.reached("cancelled", 1))
		s.equal("told", s.told(), "[a interrupted cancel]")
		s.equal("logged", s.logged(), "")
	})
}

func board0(board **lanes.Lanes, key string) unit {
	return effect.Suspend(func() unit { return (*board).Cancel(key) })
}

// TestN12_NestedLanes: an activation of inner lanes that cancels the outer one it
// is part of.
func TestN12_NestedLanes(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		var outer *lanes.Lanes
		inner := lanes.Config{MaxConcurrent: 1, Logger: s.config(1).Logger, Activate: func(string) unit {
			return effect.Exit(board0(&outer, "a").Uninterruptible()).FlatMap(func(e scope.Exit[effect.Unit]) unit {
				return effect.SyncUnit(func() {
					die, _ := e.Cause().Defect()
					deadlock, ok := die.Defect.(*lanes.SelfDeadlock)
					if !ok || deadlock.Tag() != "LanesSelfDeadlock" || deadlock.Key != "a" || deadlock.Operation != "Cancel" {
						s.t.Errorf("got %v", e)
					}
					s.raise("refused")
				})
			})
		}}
		s.plays("a", lanes.Make(inner).FlatMap(func(l *lanes.Lanes) unit {
			return l.Wake("x").AndThen(s.reached("refused", 1))
		}))
		outer = do.Await(lanes.Make(s.config(1)))
		do.Await(outer.Wake("a"))
		do.Await(s.reached("ended a", 1))
		s.equal("told", s.told(), "[a succeeded]")
	})
}
