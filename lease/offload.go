package lease

import (
	"context"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// offload runs Go code that blocks for a moment at most: on the parallel runtime
// on the fiber's own goroutine, where that disturbs nobody, on the serial and the
// deterministic one beside the fibers.
func offload[A any](f *scope.Fiber, fn func() (A, error)) (A, *scope.Cause) {
	if scope.Alone(f.Runtime()) {
		return effect.RunOn(f, effect.Blocking(func(context.Context) (A, error) { return fn() }))
	}
	// A disk may hang; who started this fiber immediately must not hang with it.
	scope.AboutToBlock(f)
	v, err := fn()
	if err != nil {
		var zero A
		return zero, scope.CauseFail(err)
	}
	return v, nil
}
