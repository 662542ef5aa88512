package effect_test

import (
	"context"
	"fmt"
	"time"

	"github.com/rivus/tether/effect"
)

// An interruption cancels the function's context and waits for its return, so
// that nothing of it is left behind.
func ExampleBlocking() {
	ctx, stop := context.WithCancel(context.Background())
	query := effect.Blocking(func(ctx context.Context) (string, error) {
		stop() // somebody stops the program while the query runs
		<-ctx.Done()
		fmt.Println("query ended")
		return "", ctx.Err()
	})
	fmt.Println(effect.RunExit(ctx, query))
	// Output:
	// query ended
	// Failure(Cause(Interrupt(#0)))
}

// The fiber does not wait for the function: an interruption leaves it behind.
func ExampleTryPromise() {
	release, returned := make(chan struct{}), make(chan struct{})
	ctx, stop := context.WithCancel(context.Background())
	stubborn := effect.TryPromise(func(context.Context) (string, error) {
		defer close(returned)
		stop()
		<-release
		fmt.Println("the function goes on")
		return "too late", nil
	})
	fmt.Println(effect.RunExit(ctx, stubborn))
	close(release)
	<-returned
	// Output:
	// Failure(Cause(Interrupt(#0)))
	// the function goes on
}

// An API that calls back becomes an effect. The effect that the function returns
// takes the listener back when the fiber is interrupted, here by a timeout.
func ExampleCallback() {
	var listener func(string) // the API: it has one listener, which it calls once
	event := effect.Callback(func(resume func(effect.Effect[string])) effect.Effect[effect.Unit] {
		listener = func(name string) { resume(effect.Succeed(name)) }
		return effect.SyncUnit(func() {
			listener = nil
			fmt.Println("not listening any more")
		})
	})
	program := effect.GenUnit(func(do *effect.Do) {
		fiber := do.Await(effect.ForkChild(event))
		do.Await(effect.Sleep(time.Second))
		listener("door opened")
		fmt.Println(do.Await(fiber.Join()))

		fmt.Println(do.Await(effect.Exit(event.Timeout(time.Minute))))
	})
	effect.RunDeterministic(program, effect.DeterministicConfig{})
	// Output:
	// door opened
	// not listening any more
	// Failure(Cause(Fail(timed out after 1m0s)))
}
