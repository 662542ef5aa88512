package effect

import (
	"context"
	"fmt"

	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// Run runs e on the parallel runtime, its main fiber on the caller's goroutine,
// and gives its result as a Go pair. Cancelling ctx interrupts e; Run returns
// when e's finalizers have run. Detached fibers may outlive it.
//
// The error is e's first failure as it is; else *scope.Defect; else, for an
// interruption, ctx's cause when ctx is done and *scope.Interruption otherwise,
// for which errors.Is(err, context.Canceled) holds.
func Run[A any](ctx context.Context, e Effect[A]) (A, error) {
	exit := RunExit(ctx, e)
	v, _ := exit.Value()
	return v, runError(ctx, exit.Cause())
}

func runError(ctx context.Context, c *scope.Cause) error {
	if c.HasInterruptsOnly() && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return c.Err()
}

// RunExit is Run that gives the whole exit (TypeScript: runPromiseExit).
func RunExit[A any](ctx context.Context, e Effect[A]) scope.Exit[A] {
	return RunExitOn(ctx, scope.NewParallel(), e)
}

// RunExitOn is RunExit on a runtime of the caller's, whose fibers share numbers
// and a clock: scope.NewParallel or scope.NewSerial makes one.
func RunExitOn[A any](ctx context.Context, rt scope.LiveRuntime, e Effect[A]) scope.Exit[A] {
	var v A
	stop := func() bool { return true }
	// From a defer, so that a Goexit of e leaves nothing in ctx.
	defer func() { stop() }()
	c := rt.Run(func(f *scope.Fiber) (c *scope.Cause) {
		v, c = run(f, e)
		return c
	}, scope.RunConfig{Env: rootEnv(ctx), Started: func(f *scope.Fiber) { stop = interruptWith(ctx, f) }})
	return scope.NewExit(v, c)
}

func rootEnv(ctx context.Context) *scope.Env {
	var env *scope.Env
	if ctx == context.Background() || ctx == context.TODO() {
		return env
	}
	// Cancellation reaches Go code through the fiber's interruption, so that a
	// masked region is not cancelled; the values come along.
	return env.WithContext(context.WithoutCancel(ctx))
}

func interruptWith(ctx context.Context, f *scope.Fiber) (stop func() bool) {
	if ctx.Done() == nil {
		return func() bool { return true }
	}
	if ctx.Err() != nil {
		f.Interrupt(0)
		return func() bool { return true }
	}
	return context.AfterFunc(ctx, func() { f.Interrupt(0) })
}

// RunFork starts e on the parallel runtime and returns its fiber at once.
// Cancelling ctx interrupts it.
func RunFork[A any](ctx context.Context, e Effect[A]) *Fiber[A] {
	return RunForkOn(ctx, scope.NewParallel(), e)
}

// RunForkOn is RunFork on a runtime of the caller's, as for RunExitOn.
func RunForkOn[A any](ctx context.Context, rt scope.LiveRuntime, e Effect[A]) *Fiber[A] {
	fb := new(Fiber[A])
	rt.Go(&fb.kernel, func(f *scope.Fiber) *scope.Cause {
		v, c := run(f, e)
		fb.value = v
		return c
	}, scope.RunConfig{Env: rootEnv(ctx), Started: func(f *scope.Fiber) {
		stop := interruptWith(ctx, f)
		if !f.Observe(scope.NewBystander(func(*scope.Fiber) { stop() }, nil)) {
			stop()
		}
	}})
	return fb
}

// DeterministicConfig configures RunDeterministic; see scope.
type DeterministicConfig = scope.DeterministicConfig

// RunReport is what RunDeterministic saw.
type RunReport[A any] struct {
	// Exit is the main fiber's exit, or none when it never ended; then
	// Report.Stuck says what it waits for.
	Exit mo.Option[scope.Exit[A]]
	// Report has the time, the steps and the fibers that were left waiting.
	scope.Report
}

// String is the exit, what the run took and, a line each, what it left behind.
func (r RunReport[A]) String() string {
	exit := "no exit"
	if e, ok := r.Exit.Get(); ok {
		exit = e.String()
	}
	return fmt.Sprintf("%s after %v and %d steps\n%v", exit, r.Now, r.Steps, r.Report)
}

// RunDeterministic runs e on a new deterministic runtime, on a virtual clock,
// until nothing is left to do: detached fibers run to their ends or to where
// they wait for ever, and are then torn down. It is for tests.
func RunDeterministic[A any](e Effect[A], c DeterministicConfig) RunReport[A] {
	return RunDeterministicOn(scope.NewDeterministic(c), e)
}

// RunDeterministicOn is RunDeterministic on a runtime made before, so that the
// program can use its clock.
func RunDeterministicOn[A any](d *scope.Deterministic, e Effect[A]) RunReport[A] {
	var v A
	out := RunReport[A]{Report: d.Run(func(f *scope.Fiber) (c *scope.Cause) {
		v, c = run(f, e)
		return c
	}, scope.RunConfig{})}
	if out.Ended {
		c, _ := out.Main.Exited()
		out.Exit = mo.Some(scope.NewExit(v, c))
	}
	return out
}
