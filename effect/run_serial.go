package effect

import (
	"context"

	"github.com/rivus/tether/scope"
)

// RunSerial is Run on a serial runtime of its own: fibers run one at a time, in the
// order of effect@4.1.0, and what one does between two waits is one step for the
// others, as in TypeScript. So state that only e's fibers touch needs no mutex. A fiber
// that computes for long holds up the others; Blocking and TryPromise run beside.
//
// Several such runs are independent of one another and use several cores. For one
// runtime that serves many runs, as of requests to a server, use RunExitOn or RunForkOn
// with scope.NewSerial.
func RunSerial[A any](ctx context.Context, e Effect[A]) (A, error) {
	exit := RunSerialExit(ctx, e)
	v, _ := exit.Value()
	return v, runError(ctx, exit.Cause())
}

// RunSerialExit is RunSerial that gives the whole exit.
func RunSerialExit[A any](ctx context.Context, e Effect[A]) scope.Exit[A] {
	return RunExitOn(ctx, scope.NewSerial(), e)
}

// RunSerialFork starts e on a serial runtime of its own and returns its fiber at once.
// Cancelling ctx interrupts it.
func RunSerialFork[A any](ctx context.Context, e Effect[A]) *Fiber[A] {
	return RunForkOn(ctx, scope.NewSerial(), e)
}
