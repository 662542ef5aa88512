package effect_test

import (
	"math/rand/v2"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// explored runs a program in the effect order and then under so many seeds in the
// explore order, every other one with preemption, and has check look at each run. A
// run that is cut off, or whose main fiber never ends, fails by itself.
func explored[A any](t *testing.T, seeds uint64, program func() effect.Effect[A], check func(exit scope.Exit[A], out effect.RunReport[A]) error) {
	t.Helper()
	if testing.Short() {
		seeds /= 10
	}
	for seed := range seeds + 1 {
		o := effect.DeterministicConfig{MaxSteps: 50_000}
		if seed > 0 {
			o.Order, o.Preempt, o.Choose = scope.ExploreOrder, seed%2 == 0, rand.New(rand.NewPCG(seed, 0)).IntN
		}
		out := effect.RunDeterministic(program(), o)
		exit, ended := out.Exit.Get()
		if !ended || out.StepLimit {
			t.Fatalf("seed %d: no end: %v", seed, out.Report)
		}
		if err := check(exit, out); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}
