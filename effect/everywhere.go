package effect

import (
	"fmt"

	"github.com/rivus/tether/scope"
)

// EverywhereConfig configures InterruptEverywhere. Its zero value interrupts the main
// fiber, in the effect order.
type EverywhereConfig struct {
	DeterministicConfig
	// Stepping interrupts the fiber that takes the step instead of the main one.
	Stepping bool
	// MaxRuns bounds the number of steps that are tried; 0 is 100,000. A program
	// that has more is an error.
	MaxRuns int
}

// InterruptEverywhere runs a program once for each of its steps, interrupting it
// at exactly that step, and once without. After each run check looks whether
// everything is in order; it is given the step (0: not interrupted). The error
// is the first that check answers, with the step.
//
// program is called for each run, so that every run has state of its own.
func InterruptEverywhere[A any](program func() Effect[A], c EverywhereConfig, check func(step int, out RunReport[A]) error) error {
	limit := c.MaxRuns
	if limit == 0 {
		limit = 100_000
	}
	hook := c.OnStep
	for at := 0; at <= limit; at++ {
		reached := at == 0
		var main *scope.Fiber
		run := c.DeterministicConfig
		run.OnStep = func(step int, f *scope.Fiber) {
			if main == nil {
				main = f
			}
			if hook != nil {
				hook(step, f)
			}
			if step == at {
				reached = true
				if c.Stepping {
					f.Interrupt(0)
				} else {
					main.Interrupt(0)
				}
			}
		}
		out := RunDeterministic(program(), run)
		if !reached {
			return nil
		}
		if err := check(at, out); err != nil {
			return fmt.Errorf("interrupted at step %d: %w", at, err)
		}
	}
	return fmt.Errorf("the program has more than %d steps", limit)
}
