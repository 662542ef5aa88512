package effect_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// twoCallers has two callers of one cached effect, the first of whom is interrupted
// at any time: before it starts the run, while that runs, and after.
func twoCallers() effect.Effect[int] {
	return effect.Gen(func(do *effect.Do) int {
		get := do.Await(effect.Cached(effect.YieldNow().As(42)))
		first := do.Await(effect.ForkChild(get))
		second := do.Await(effect.ForkChild(get))
		do.Await(effect.YieldNow())
		do.Await(first.Interrupt())
		return do.Await(second.Join())
	})
}

// F57: the caller that is to start a cached run is interrupted before it does, and
// another waits for the run already.
func TestF57_CachedCallerInterruptedBeforeItStartsTheRun(t *testing.T) {
	t.Run("explored", func(t *testing.T) {
		explored(t, 20_000, twoCallers, func(exit scope.Exit[int], _ effect.RunReport[int]) error {
			if v, ok := exit.Value(); !ok || v != 42 {
				return fmt.Errorf("%v", exit)
			}
			return nil
		})
	})
	t.Run("parallel", func(t *testing.T) {
		rounds := 2000
		if testing.Short() {
			rounds = 200
		}
		for range rounds {
			if v, err := effect.Run(context.Background(), twoCallers()); v != 42 || err != nil {
				t.Fatal(v, err)
			}
		}
	})
}

// F57, at every step: whichever caller is interrupted, the other one gets the result.
func TestF57_CachedInterruptedEverywhere(t *testing.T) {
	for _, order := range []scope.Order{scope.EffectOrder, scope.ExploreOrder} {
		var other *effect.Fiber[int]
		program := func() effect.Effect[int] {
			other = nil
			return effect.Gen(func(do *effect.Do) int {
				get := do.Await(effect.Cached(effect.YieldNow().As(42)))
				other = do.Await(effect.ForkDetach(get))
				return do.Await(get)
			})
		}
		o := effect.EverywhereConfig{DeterministicConfig: effect.DeterministicConfig{Order: order}}
		err := effect.InterruptEverywhere(program, o, func(_ int, out effect.RunReport[int]) error {
			if out.Exit.IsAbsent() {
				return fmt.Errorf("no end: %v", out.Report)
			}
			if other == nil {
				return nil
			}
			if exit, ended := other.Exited(); !ended || exit.IsFailure() {
				return fmt.Errorf("the other caller: %v, %v; %v", ended, exit, out.Report)
			}
			return nil
		})
		if err != nil {
			t.Errorf("order %d: %v", order, err)
		}
	}
}
