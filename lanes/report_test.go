package lanes_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lanes"
)

var errBoom = errors.New("boom")

// endings are the ways in which a body ends by itself.
var endings = []struct {
	name string
	end  unit
	told string
}{
	{"success", effect.Void(), "a succeeded"},
	{"failure", effect.Fail[effect.Unit](errBoom), "a failed Cause(Fail(boom))"},
	{"interruption", effect.Interrupt[effect.Unit](), "a failed Cause(Interrupt("},
}

var reasons = []lanes.StopReason{lanes.StopCancel, lanes.StopClose, lanes.StopTimeout}

// moments are when the stop comes. The stage's signals: the activation raises
// "here" at that moment and goes on at "on".
var moments = []struct {
	name string
	// stopped tells that the stop decides.
	stopped bool
	// parallel tells that the stop's interruption need not arrive before "on".
	parallel bool
	make     func(s *stage, here, end unit) (body, report unit)
}{
	{"while it waits", true, true, func(_ *stage, here, end unit) (unit, unit) {
		return here.AndThen(effect.Never[effect.Unit]()).AndThen(end), effect.Void()
	}},
	{"in an uninterruptible part", true, false, func(s *stage, here, end unit) (unit, unit) {
		return here.AndThen(s.reached("on", 1)).AndThen(end).Uninterruptible(), effect.Void()
	}},
	{"in a finalizer of its own", true, false, func(s *stage, here, end unit) (unit, unit) {
		return end.Ensuring(here.AndThen(s.reached("on", 1))), effect.Void()
	}},
	{"while its scope closes", false, true, func(s *stage, here, end unit) (unit, unit) {
		return effect.AddFinalizer(func(exit) unit { return here.AndThen(s.reached("on", 1)) }).AndThen(end), effect.Void()
	}},
	{"while its children end", false, true, func(s *stage, here, end unit) (unit, unit) {
		child := s.raising("child").AndThen(effect.Never[effect.Unit]()).Ensuring(here.AndThen(s.reached("on", 1)))
		return effect.ForkChild(child).AndThen(s.reached("child", 1)).AndThen(end), effect.Void()
	}},
	{"in OnExit", false, true, func(s *stage, here, end unit) (unit, unit) {
		return end, here.AndThen(s.reached("on", 1))
	}},
}

// TestN10_Orders has every ending meet every stop at every moment.
func TestN10_Orders(t *testing.T) {
	for _, end := range endings {
		for _, r := range reasons {
			for _, at := range moments {
				t.Run(fmt.Sprintf("%s, %s %s", end.name, r, at.name), func(t *testing.T) {
					play := func(s *stage, do *effect.Do) {
						body, report := at.make(s, s.raising("here"), end.end)
						s.plays("a", body)
						c := s.config(1)
						c.TurnTimeout = time.Second
						c.OnExit = func(e lanes.ActivationExit) unit { return report.AndThen(s.onExit(e)) }
						board := do.Await(lanes.Make(c))
						do.Await(board.Wake("a"))
						do.Await(s.reached("here", 1))
						// The drop of this wake tells that Cancel or Close has begun.
						do.Await(board.Wake("a"))
						stop := do.Await(effect.ForkChild(s.stop(board, "a", r, time.Second)))
						if r == lanes.StopTimeout {
							do.Await(stop.Join())
						} else {
							do.Await(s.reached("dropped a", 1))
						}
						do.Await(s.raising("on"))
						do.Await(stop.Join())
						if r == lanes.StopTimeout {
							// The wake outlives the timeout. Its activation ends at once.
							do.Await(board.Cancel("a"))
						}
						want := end.told
						if at.stopped {
							want = "a interrupted " + r.String()
						}
						if told := s.told(); !strings.HasPrefix(told[0], want) || r != lanes.StopTimeout && len(told) != 1 {
							s.t.Errorf("told %v, want %s", told, want)
						}
						s.equal("warnings", s.logged(), "")
					}
					serially(t, play)
					if at.parallel && r != lanes.StopTimeout {
						inParallel(t, play)
					}
				})
			}
		}
	}
}

// TestN10_Cleanup: what a failing cleanup does to the report.
func TestN10_Cleanup(t *testing.T) {
	dies := effect.Die[effect.Unit]("mess")
	for _, c := range []struct {
		name    string
		body    func(s *stage) unit
		stop    bool
		told    string
		warning string
	}{
		{"success, the scope's closing dies", func(*stage) unit {
			return effect.AddFinalizer(func(exit) unit { return dies })
		}, false, "a failed Cause(Die(mess))", ""},
		{"success, stopped while its scope closes, which dies", func(s *stage) unit {
			return effect.AddFinalizer(func(exit) unit {
				return s.raising("ready").AndThen(effect.Never[effect.Unit]().Interruptible()).Ensuring(dies)
			})
		}, true, "a failed Cause(Die(mess))", ""},
		{"success, an interruptible finalizer is stopped", func(s *stage) unit {
			return effect.AddFinalizer(func(exit) unit {
				return s.raising("ready").AndThen(effect.Never[effect.Unit]().Interruptible())
			})
		}, true, "a succeeded", ""},
		{"stopped, its own finalizer dies", func(s *stage) unit {
			return s.raising("ready").AndThen(effect.Never[effect.Unit]()).Ensuring(dies)
		}, true, "a failed Cause(Die(mess))", ""},
		{"stopped, its own finalizer fails", func(s *stage) unit {
			return s.raising("ready").AndThen(effect.Never[effect.Unit]()).Ensuring(effect.Fail[effect.Unit](errBoom))
		}, true, "a interrupted cancel", ""},
		{"stopped, its scope's closing dies", func(s *stage) unit { return s.held(dies) }, true, "a interrupted cancel", "mess"},
		{"stopped, both die", func(s *stage) unit {
			return effect.AddFinalizer(func(exit) unit { return dies }).AndThen(
				s.raising("ready").AndThen(effect.Never[effect.Unit]()).Ensuring(effect.Die[effect.Unit]("own")))
		}, true, "a failed Cause(Die(own))", "mess"},
	} {
		t.Run(c.name, func(t *testing.T) {
			everywhere(t, func(s *stage, do *effect.Do) {
				board := do.Await(lanes.Make(s.config(1)))
				s.plays("a", c.body(s))
				do.Await(board.Wake("a"))
				if c.stop {
					do.Await(s.reached("ready", 1))
					do.Await(board.Cancel("a"))
				}
				do.Await(s.reached("ended a", 1))
				s.equal("told", s.told(), "["+c.told+"]")
				if log := s.logged(); c.warning == "" && log != "" || !strings.Contains(log, c.warning) {
					s.t.Errorf("logged %q", log)
				}
			})
		})
	}
}

// TestN12_BadOnExit: whatever OnExit does, the lane goes on, and it is logged.
func TestN12_BadOnExit(t *testing.T) {
	for _, c := range []struct {
		name   string
		onExit func() unit
		logged string
	}{
		{"dies", func() unit { return effect.Die[effect.Unit]("bug") }, "bug"},
		{"fails", func() unit { return effect.Fail[effect.Unit](errBoom) }, "boom"},
		{"panics", func() unit { panic("bug") }, "bug"},
		{"zero effect", func() unit { return unit{} }, "zero Effect"},
		{"Goexit", func() unit { return effect.SyncUnit(runtime.Goexit) }, "Goexit"},
		{"its scope dies", func() unit { return effect.AddFinalizer(func(exit) unit { return effect.Die[effect.Unit]("bug") }) }, "bug"},
	} {
		t.Run(c.name, func(t *testing.T) {
			everywhere(t, func(s *stage, do *effect.Do) {
				config := s.config(1)
				config.OnExit = func(lanes.ActivationExit) unit { return c.onExit() }
				board := do.Await(lanes.Make(config))
				do.Await(board.Wake("a"))
				do.Await(board.Wake("b"))
				do.Await(s.reached("ended b", 1))
				do.Await(board.Wake("a"))
				do.Await(s.reached("ended a", 2))
				log := s.logged()
				if !strings.Contains(log, c.logged) || strings.Count(log, "level=WARN") != 3 {
					s.t.Errorf("logged %q", log)
				}
			})
		})
	}
}

// TestN12_OnExitIsUninterruptible: Cancel and Close wait for it, and no stop ends
// any part of it.
func TestN12_OnExitIsUninterruptible(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		c := s.config(1)
		c.OnExit = func(e lanes.ActivationExit) unit {
			return effect.GenUnit(func(do *effect.Do) {
				do.Await(effect.AddFinalizer(func(exit) unit { return s.onExit(e) }))
				do.Await(s.raising("here"))
				do.Await(s.reached("on", 1))
				// Interruptible parts included: the stop was the activation's.
				do.Await(effect.YieldNow().Interruptible())
				do.Await(s.raising("through"))
			})
		}
		board := do.Await(lanes.Make(c))
		s.plays("a", s.held(effect.Void()))
		do.Await(board.Wake("a"))
		do.Await(s.reached("ready", 1))
		cancel := do.Await(effect.ForkChild(board.Cancel("a")))
		do.Await(s.reached("here", 1))
		closing := do.Await(effect.ForkChild(board.Close()))
		do.Await(effect.YieldNow())
		s.equal("Cancel and Close wait", []bool{ended(cancel), ended(closing)}, "[false false]")
		do.Await(s.raising("on"))
		do.Await(cancel.Join())
		do.Await(closing.Join())
		s.equal("told", s.told(), "[a interrupted cancel]")
		s.equal("OnExit ran to its end", s.count("through"), 1)
		s.equal("logged", s.logged(), "")
	})
}

// TestN12_BadObserver: a panic in Observe is logged, a Goexit ends the fiber it is
// called on; neither takes a slot or a wake with it.
func TestN12_BadObserver(t *testing.T) {
	for i, bad := range []func(){func() { panic("bug") }, runtime.Goexit} {
		everywhere(t, func(s *stage, do *effect.Do) {
			c := s.config(1)
			c.Observe = func(e lanes.Event) {
				s.observe(e)
				bad()
			}
			board := do.Await(lanes.Make(c))
			s.plays("a", s.reached("go", 1))
			for _, step := range []unit{board.Wake("a").AsUnit(), board.Wake("b").AsUnit(), board.Wake("b").AsUnit(), board.Wake("c").AsUnit(), board.Cancel("c")} {
				f := do.Await(effect.ForkChild(step))
				do.Await(f.Await())
			}
			do.Await(s.raising("go"))
			do.Await(s.reached("ended b", 1))
			// What is dropped ends the first caller; the second one waits for the rest.
			do.Await(do.Await(effect.ForkChild(board.Close())).Await())
			do.Await(board.Close())
			do.Await(s.reached("exit a", 1))
			s.equal("status", do.Await(board.Status()), "{0 0 true []}")
			s.equal("logged", strings.Contains(s.logged(), "level=WARN"), i == 0)
			started := 0
			for _, e := range s.happened() {
				if strings.HasPrefix(e, "started") {
					started++
				}
			}
			s.equal("reports", len(s.told()), started)
		})
	}
}

// TestF38_OnExitUsesTheLanes: it may wake its own key and others, and cancel
// others.
func TestF38_OnExitUsesTheLanes(t *testing.T) {
	everywhere(t, func(s *stage, do *effect.Do) {
		var board *lanes.Lanes
		c := s.config(2)
		c.OnExit = func(e lanes.ActivationExit) unit {
			return s.onExit(e).AndThen(effect.GenUnit(func(do *effect.Do) {
				if e.Lane() == "a" && s.started("a") == 1 {
					s.equal("own key", do.Await(board.Wake("a")), lanes.Coalesced)
					do.Await(board.Cancel("b"))
					do.Await(board.Wake("c"))
				}
			}))
		}
		board = do.Await(lanes.Make(c))
		s.plays("b", s.held(effect.Void()))
		do.Await(board.Wake("b"))
		do.Await(s.reached("ready", 1))
		do.Await(board.Wake("a"))
		do.Await(s.reached("ended c", 1))
		do.Await(s.reached("ended a", 2))
		s.equal("told first", s.told()[:2], "[a succeeded b interrupted cancel]")
		s.equal("logged", s.logged(), "")
	})
}
