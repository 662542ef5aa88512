package effect_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// Run gives a Go pair. Cancelling the context interrupts the program, and Run
// returns when its finalizers have run.
func ExampleRun() {
	fmt.Println(effect.Run(context.Background(), effect.Succeed(42)))

	ctx, cancel := context.WithCancelCause(context.Background())
	serve := effect.SyncUnit(func() { cancel(errors.New("shutting down")) }).
		AndThen(effect.Never[int]()).
		Ensuring(effect.SyncUnit(func() { fmt.Println("connections closed") }))
	fmt.Println(effect.Run(ctx, serve))
	// Output:
	// 42 <nil>
	// connections closed
	// 0 shutting down
}

// RunExit keeps what Run's one error leaves out: here the failure of a finalizer
// behind that of the program.
func ExampleRunExit() {
	program := effect.Fail[int](errors.New("write failed")).
		Ensuring(effect.Fail[effect.Unit](errors.New("close failed")))
	exit := effect.RunExit(context.Background(), program)
	fmt.Println(exit)
	fmt.Println(exit.Err())
	// Output:
	// Failure(Cause(Fail(write failed), Fail(close failed)))
	// write failed
}

// A test runs a program of a day in no time, and learns what waits for ever.
func ExampleRunDeterministic() {
	out := effect.RunDeterministic(effect.Sleep(24*time.Hour), effect.DeterministicConfig{})
	fmt.Println(out.Now)

	left, right := effect.NewSemaphore(1), effect.NewSemaphore(1)
	both := func(a, b *effect.Semaphore) effect.Effect[effect.Unit] {
		return a.WithPermits(1, effect.YieldNow().AndThen(b.WithPermits(1, effect.Void())))
	}
	deadlock := effect.ZipConcurrent(both(left, right), both(right, left)).AsUnit()
	out = effect.RunDeterministic(deadlock, effect.DeterministicConfig{})
	fmt.Println("ended:", out.Exit.IsPresent())
	for _, stuck := range out.Stuck {
		fmt.Println("fiber", stuck.Fiber, "waits for", stuck.On)
	}
	// Output:
	// 24h0m0s
	// ended: false
	// fiber 1 waits for concurrent work (All, ForEach)
	// fiber 2 waits for permits of a Semaphore
	// fiber 3 waits for permits of a Semaphore
}

// Wherever a program is interrupted, what it opened must be closed. AcquireRelease
// sees to that; a release that merely comes last does not.
func ExampleInterruptEverywhere() {
	open := false
	acquire := effect.SyncUnit(func() { open = true })
	release := effect.SyncUnit(func() { open = false })
	work := effect.Sleep(time.Second)
	resource := effect.AcquireRelease(acquire, func(effect.Unit, scope.Exit[any]) effect.Effect[effect.Unit] { return release })

	for _, program := range []effect.Effect[effect.Unit]{
		effect.Scoped(resource.AndThen(work)),
		acquire.AndThen(work).AndThen(release),
	} {
		fresh := func() effect.Effect[effect.Unit] {
			open = false
			return program
		}
		err := effect.InterruptEverywhere(fresh, effect.EverywhereConfig{}, func(int, effect.RunReport[effect.Unit]) error {
			if open {
				return errors.New("left open")
			}
			return nil
		})
		fmt.Println(errors.Unwrap(err)) // err itself names the step
	}
	// Output:
	// <nil>
	// left open
}
