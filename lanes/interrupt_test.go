package lanes_test

import (
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lanes"
	"github.com/rivus/tether/scope"
)

// interruptEverywhere runs what play starts once for each of its steps, and
// interrupts a fiber at that step: the one that takes it, or the main fiber.
func interruptEverywhere(o effect.DeterministicConfig, main bool, play func(o effect.DeterministicConfig, at int) bool) {
	for at := 1; ; at++ {
		reached := false
		var first *scope.Fiber
		o.OnStep = func(step int, f *scope.Fiber) {
			if first == nil {
				first = f
			}
			if step != at {
				return
			}
			reached = true
			if main {
				f = first
			}
			// The main fiber holds the test's own bookkeeping; interrupting it is
			// the other half of the test.
			if main || f != first {
				f.Interrupt(0)
			}
		}
		if !play(o, at) || !reached {
			return
		}
	}
}

// TestN14_InterruptEverywhere interrupts the callers of Wake, Cancel and Close,
// the activations, their children and OnExit, or the whole program, at every
// single step.
func TestN14_InterruptEverywhere(t *testing.T) {
	for _, main := range []bool{false, true} {
		name := "whoever steps"
		if main {
			name = "main"
		}
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(schedules(t, 40)/20 + 1) {
				for _, order := range []scope.Order{scope.EffectOrder, scope.ExploreOrder} {
					interruptEverywhere(effect.DeterministicConfig{}, main, func(o effect.DeterministicConfig, at int) bool {
						step := o.OnStep
						o = exploring(2*seed + 1)
						o.Order, o.OnStep = order, step
						l := newLedger(seed, seed%2 == 0)
						l.disturbed = true
						if problem := l.play(o, !main); problem != "" {
							t.Fatalf("order %d, seed %d, interrupted at step %d: %s", order, seed, at, problem)
						}
						return true
					})
				}
			}
		})
	}
}

// TestN14_WakeIsAcceptedOrNot: interrupted at any step, a Wake has either not
// happened, or its activation follows.
func TestN14_WakeIsAcceptedOrNot(t *testing.T) {
	for _, taken := range []bool{false, true} {
		served := 0
		interruptEverywhere(effect.DeterministicConfig{}, false, func(o effect.DeterministicConfig, at int) bool {
			step := o.OnStep
			waker := scope.FiberID(0)
			steps := 0
			o.OnStep = func(_ int, f *scope.Fiber) {
				if f.ID() == waker {
					steps++
					step(steps, f)
				} else if waker == 0 {
					step(0, f)
				}
			}
			deterministic(t, o, func(s *stage, do *effect.Do) {
				board := do.Await(lanes.Make(s.config(1)))
				if taken {
					s.plays("busy", s.reached("go", 1))
					do.Await(board.Wake("busy"))
				}
				f := do.Await(effect.ForkChild(board.Wake("a").AndThen(s.raising("woken"))))
				waker = f.ID()
				do.Await(f.Await())
				do.Await(s.raising("go"))
				do.Await(effect.Sleep(1))
				st := board.StatusNow()
				s.equal("idle", len(st.Lanes), 0)
				if s.count("woken") > 0 && s.started("a") != 1 {
					s.t.Errorf("interrupted at step %d: the wake was lost", at)
				}
				served += s.started("a")
			})
			return !t.Failed()
		})
		if served == 0 {
			t.Error("no wake got through")
		}
	}
}
