package effect_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
)

// Whoever completes a deferred on the runtime has its waiter run before the call returns.
// From elsewhere the waiter runs when it is its turn.
func TestSerialWaiterOfADeferred(t *testing.T) {
	for name, complete := range map[string]func(d *effect.Deferred[int]) effect.Effect[bool]{
		"CompleteNow": func(d *effect.Deferred[int]) effect.Effect[bool] {
			return effect.Sync(func() bool { return d.CompleteNow(effect.Succeed(1)) })
		},
		"Succeed": func(d *effect.Deferred[int]) effect.Effect[bool] { return d.Succeed(1) },
		"CompleteNow beside": func(d *effect.Deferred[int]) effect.Effect[bool] {
			return effect.Sync(func() bool { return aside(func() bool { return d.CompleteNow(effect.Succeed(1)) }) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			var order []string
			log := func(what string) { order = append(order, what) }
			_, err := effect.RunSerial(t.Context(), effect.GenUnit(func(do *effect.Do) {
				d := do.Await(effect.MakeDeferred[int]())
				waiter := do.Await(effect.ForkChild(d.Await().Tap(func(int) effect.Effect[effect.Unit] {
					log("waiter")
					return effect.Void()
				}), effect.StartImmediately()))
				if !do.Await(complete(d)) {
					t.Error("it was complete")
				}
				log("completer")
				do.Await(waiter.Join())
			}))
			want := []string{"waiter", "completer"}
			if name == "CompleteNow beside" {
				want = []string{"completer", "waiter"}
			}
			if err != nil || !slices.Equal(order, want) {
				t.Errorf("%v: %q, want %q", err, order, want)
			}
		})
	}
}

// aside calls fn on a goroutine of its own, and waits there where it is called.
func aside[A any](fn func() A) A {
	got := make(chan A)
	go func() { got <- fn() }()
	return <-got
}

// Goroutines offer to a queue that was made on the runtime, open a latch, publish and run
// fibers of a collection; the fibers that wait hear of everything, once.
func TestSerialFedFromOutside(t *testing.T) {
	const n = 100
	var all sync.WaitGroup
	outside := func(fn func(i int)) {
		for i := range n {
			all.Go(func() { fn(i) })
		}
	}
	ran := 0
	_, err := effect.RunSerial(t.Context(), effect.Scoped(effect.GenUnit(func(do *effect.Do) {
		queue := do.Await(effect.UnboundedQueue[int]())
		gate := do.Await(effect.MakeLatch(false))
		set := do.Await(effect.MakeFiberSet[effect.Unit]())
		run := do.Await(effect.FiberSetRuntime(set))
		handle := do.Await(effect.MakeFiberHandle[effect.Unit]())
		runOnce := do.Await(effect.FiberHandleRuntime(handle))
		only := 0
		outside(func(i int) { queue.OfferNow(i) })
		outside(func(int) { gate.OpenNow() })
		outside(func(int) { run(effect.SyncUnit(func() { ran++ })) })
		outside(func(int) {
			runOnce(effect.SyncUnit(func() { only++ }).AndThen(effect.Never[effect.Unit]()), effect.OnlyIfMissing())
		})
		seen := map[int]bool{}
		for range n {
			seen[do.Await(queue.Take())] = true
		}
		if len(seen) != n {
			t.Errorf("%d messages were taken", len(seen))
		}
		do.Await(gate.Await())
		do.Await(effect.Blocking(func(context.Context) (effect.Unit, error) { all.Wait(); return effect.Unit{}, nil }))
		do.Await(set.AwaitEmpty())
		do.Await(effect.YieldNow())
		if only != 1 {
			t.Errorf("%d ran that were to run only if none did", only)
		}
		do.Await(handle.Clear())
	})))
	if err != nil || ran != n {
		t.Errorf("%v, %d ran", err, ran)
	}
}

// Go code runs beside the fibers, which go on meanwhile: a Blocking gets a context that an
// interruption cancels, and a Callback may be resumed by any goroutine.
func TestSerialForeignWork(t *testing.T) {
	_, err := effect.RunSerial(t.Context(), effect.GenUnit(func(do *effect.Do) {
		begun, turns := make(chan struct{}), 0
		blocked := do.Await(effect.ForkChild(effect.Blocking(func(ctx context.Context) (int, error) {
			close(begun)
			<-ctx.Done()
			return 0, ctx.Err()
		}), effect.StartImmediately()))
		<-begun // it does not need this runtime
		for range 10 {
			do.Await(effect.YieldNow())
			turns++
		}
		do.Await(blocked.Interrupt())
		if exit := do.Await(blocked.Await()); !exit.Cause().HasInterruptsOnly() {
			t.Errorf("Blocking ended with %v", exit)
		}
		if v := do.Await(effect.TryPromise(func(context.Context) (int, error) { return 7, nil })); v != 7 {
			t.Errorf("TryPromise gave %d", v)
		}
		v := do.Await(effect.Callback(func(resume func(effect.Effect[int])) effect.Effect[effect.Unit] {
			go func() {
				resume(effect.Succeed(1))
				resume(effect.Succeed(2))
			}()
			return effect.Void()
		}))
		if v != 1 || turns != 10 {
			t.Errorf("Callback gave %d, %d turns", v, turns)
		}
		// A Goexit in Go code ends that code.
		exit := do.Await(effect.Exit(effect.Blocking(func(context.Context) (int, error) { runtime.Goexit(); return 0, nil })))
		if die, ok := exit.Cause().Defect(); !ok || die.Defect != (scope.Exited{}) {
			t.Errorf("Goexit: %v", exit)
		}
	}))
	if err != nil {
		t.Error(err)
	}
}

// The context that a run is given interrupts it, whatever it does, and its values are at
// hand.
func TestSerialCancelled(t *testing.T) {
	type key struct{}
	reason := errors.New("enough")
	waiting := make(chan struct{})
	wait := func(e effect.Effect[effect.Unit]) effect.Effect[effect.Unit] {
		return effect.SyncUnit(func() { close(waiting) }).AndThen(e)
	}
	for name, work := range map[string]effect.Effect[effect.Unit]{
		"waits":  wait(effect.Never[effect.Unit]()),
		"sleeps": wait(effect.Sleep(time.Hour)),
		"blocks": effect.Blocking(func(ctx context.Context) (effect.Unit, error) {
			if ctx.Value(key{}) != 1 {
				t.Error("the context's values are lost")
			}
			close(waiting)
			<-ctx.Done()
			return effect.Unit{}, nil
		}),
		"yields":   wait(effect.YieldNow().Forever().AsUnit()),
		"computes": wait(effect.SyncUnit(func() {}).Forever().AsUnit()),
		"forks":    wait(effect.ForEachDiscard([]int{1, 2, 3}, func(int, int) effect.Effect[effect.Unit] { return effect.Never[effect.Unit]() }, effect.Unbounded)),
		"releases": effect.AcquireUseRelease(effect.Succeed(1),
			func(int) effect.Effect[effect.Unit] { return wait(effect.Never[effect.Unit]()) },
			func(int, scope.Exit[effect.Unit]) effect.Effect[effect.Unit] { return effect.Sleep(time.Millisecond) }),
	} {
		t.Run(name, func(t *testing.T) {
			waiting = make(chan struct{})
			ctx, cancel := context.WithCancelCause(context.WithValue(context.Background(), key{}, 1))
			go func() {
				<-waiting
				cancel(reason)
			}()
			if _, err := effect.RunSerial(ctx, work); !errors.Is(err, reason) {
				t.Errorf("ended with %v", err)
			}
			fiber := effect.RunSerialFork(ctx, effect.Sync(func() int { t.Error("it ran"); return 1 }))
			if exit := awaitOutside(fiber); !exit.Cause().HasInterruptsOnly() {
				t.Errorf("with a context that is over: %v", exit)
			}
		})
	}
}

// awaitOutside waits for a fiber of a live runtime on a goroutine of none.
func awaitOutside[A any](fiber *effect.Fiber[A]) scope.Exit[A] {
	ended := make(chan struct{})
	if fiber.Kernel().Observe(scope.NewObserver(func(*scope.Fiber) { close(ended) })) {
		<-ended
	}
	exit, _ := fiber.Exited()
	return exit
}

// Recursion that is no tail call goes on in pieces of stack on other goroutines, from
// which fibers wait and wake as from the first.
func TestSerialDeepRecursion(t *testing.T) {
	const depth = 40_000
	var down func(n int) effect.Effect[int]
	down = func(n int) effect.Effect[int] {
		if n == 0 {
			return effect.YieldNow().AndThen(effect.Sleep(0)).AndThen(effect.Succeed(0))
		}
		return effect.Suspend(func() effect.Effect[int] { return down(n - 1) }).Map(func(n int) int { return n + 1 })
	}
	n, err := effect.RunSerial(t.Context(), effect.GenUnit(func(do *effect.Do) {
		for _, n := range do.Await(effect.All([]effect.Effect[int]{down(depth), down(depth)}, effect.Unbounded)) {
			if n != depth {
				t.Errorf("got %d", n)
			}
		}
	}))
	if err != nil {
		t.Errorf("%v, %v", n, err)
	}
}
