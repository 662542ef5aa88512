package effect_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// F63: a fiber of another runtime that a deterministic program waits for is a defect
// which says what to write instead, and no wait for ever.
func TestF63_WaitForAFiberOfAnotherRuntime(t *testing.T) {
	for name, wait := range map[string]func(*effect.Fiber[int]) effect.Effect[effect.Unit]{
		"Join":     func(f *effect.Fiber[int]) effect.Effect[effect.Unit] { return f.Join().AsUnit() },
		"Await":    func(f *effect.Fiber[int]) effect.Effect[effect.Unit] { return f.Await().AsUnit() },
		"AwaitAll": func(f *effect.Fiber[int]) effect.Effect[effect.Unit] { return effect.AwaitAll(f) },
	} {
		t.Run(name, func(t *testing.T) {
			gate := make(chan struct{})
			defer close(gate)
			program := effect.Suspend(func() effect.Effect[effect.Unit] {
				return wait(effect.RunFork(context.Background(), effect.Blocking(func(context.Context) (int, error) {
					<-gate
					return 1, nil
				})))
			})
			exit, ended := effect.RunDeterministic(program, effect.DeterministicConfig{}).Exit.Get()
			var wrong scope.WrongRuntime
			if !ended || !errors.As(exit.Err(), &wrong) || !strings.Contains(wrong.Error(), "ForkDetach") {
				t.Error(exit)
			}
		})
	}
}
