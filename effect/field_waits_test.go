package effect_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// F58: a Goexit in Blocking (t.FailNow) ends the fiber on every runtime.
func TestF58_GoexitInBlocking(t *testing.T) {
	foreign := func(context.Context) (int, error) {
		runtime.Goexit()
		return 1, nil
	}
	program := effect.ForkChild(effect.Blocking(foreign)).
		FlatMap(func(fb *effect.Fiber[int]) effect.Effect[scope.Exit[int]] { return fb.Await() })
	onBoth(t, program, func(t *testing.T, exit scope.Exit[scope.Exit[int]]) {
		succeeds(t, exit)
		inner, _ := exit.Value()
		if die, ok := inner.Cause().Defect(); !ok || die.Defect != (scope.Exited{}) {
			t.Fatal(inner)
		}
	})
}

// F58: whoever waits for a Deferred or a Queue that a Goexit was to complete goes on.
func TestF58_GoexitInInto(t *testing.T) {
	gone := effect.Sync(func() int {
		runtime.Goexit()
		return 1
	})
	dies := func(t *testing.T, c *scope.Cause) {
		t.Helper()
		if die, ok := c.Defect(); !ok || die.Defect != (scope.Exited{}) {
			t.Errorf("the waiter got %v", c)
		}
	}
	t.Run("Deferred", func(t *testing.T) {
		for name, into := range map[string]func(*effect.Deferred[int]) effect.Effect[bool]{
			"Into":     func(d *effect.Deferred[int]) effect.Effect[bool] { return d.Into(gone) },
			"Complete": func(d *effect.Deferred[int]) effect.Effect[bool] { return d.Complete(gone) },
			"inside": func(d *effect.Deferred[int]) effect.Effect[bool] {
				return d.Into(gone.Uninterruptible()).Uninterruptible()
			},
		} {
			t.Run(name, func(t *testing.T) {
				program := effect.Gen(func(do *effect.Do) scope.Exit[int] {
					d := do.Await(effect.MakeDeferred[int]())
					do.Await(effect.ForkDetach(into(d)))
					return do.Await(effect.Exit(d.Await()))
				})
				onBoth(t, program, func(t *testing.T, exit scope.Exit[scope.Exit[int]]) {
					got, _ := exit.Value()
					dies(t, got.Cause())
				})
			})
		}
	})
	t.Run("Queue", func(t *testing.T) {
		program := effect.Gen(func(do *effect.Do) scope.Exit[int] {
			q := do.Await(effect.UnboundedQueue[int]())
			do.Await(effect.ForkDetach(q.Into(gone)))
			return do.Await(effect.Exit(q.Take()))
		})
		onBoth(t, program, func(t *testing.T, exit scope.Exit[scope.Exit[int]]) {
			got, _ := exit.Value()
			dies(t, got.Cause())
		})
	})
}

// waits runs an effect on the fiber that runs this one, from wherever it is called.
func waits(f *scope.Fiber) { effect.RunOn(f, effect.Sleep(time.Millisecond)) }

// F61: code that a wait calls and that waits itself is refused, with what to do; the
// fiber can be interrupted and wait on.
func TestF61_WaitInsideAWait(t *testing.T) {
	inside := map[string]func(f *scope.Fiber) effect.Effect[effect.Unit]{
		"ForEach": func(f *scope.Fiber) effect.Effect[effect.Unit] {
			return effect.ForEachDiscard([]int{1, 2, 3}, func(i, _ int) effect.Effect[effect.Unit] {
				if i == 2 {
					waits(f)
				}
				return effect.YieldNow()
			}, 2)
		},
		"the first of ForEach": func(f *scope.Fiber) effect.Effect[effect.Unit] {
			return effect.ForEachDiscard([]int{1, 2, 3}, func(i, _ int) effect.Effect[effect.Unit] {
				waits(f)
				return effect.YieldNow()
			}, 2)
		},
		"Callback": func(f *scope.Fiber) effect.Effect[effect.Unit] {
			return effect.Callback(func(func(effect.Effect[effect.Unit])) effect.Effect[effect.Unit] {
				waits(f)
				return effect.Void()
			})
		},
		"Callback that has resumed": func(f *scope.Fiber) effect.Effect[effect.Unit] {
			return effect.Callback(func(resume func(effect.Effect[effect.Unit])) effect.Effect[effect.Unit] {
				resume(effect.Void())
				waits(f)
				return effect.Void()
			})
		},
	}
	for name, make := range inside {
		t.Run(name, func(t *testing.T) {
			program := effect.Exit(effect.WithFiber(make)).FlatMap(func(exit scope.Exit[effect.Unit]) effect.Effect[scope.Exit[effect.Unit]] {
				return effect.Sleep(time.Millisecond).As(exit)
			})
			onBoth(t, program, func(t *testing.T, exit scope.Exit[scope.Exit[effect.Unit]]) {
				succeeds(t, exit)
				got, _ := exit.Value()
				// The first item is asked for before anything waits.
				if name == "the first of ForEach" && got.IsSuccess() {
					return
				}
				var refused scope.WaitsAlready
				if !errors.As(got.Err(), &refused) || !strings.Contains(refused.Error(), "let that code give an effect") {
					t.Fatal(got)
				}
			})
		})
	}
}

// F61: a fiber that a wait refused can be interrupted afterwards.
func TestF61_InterruptibleAfterwards(t *testing.T) {
	program := effect.Gen(func(do *effect.Do) scope.Exit[effect.Unit] {
		fb := do.Await(effect.ForkChild(effect.WithFiber(func(f *scope.Fiber) effect.Effect[effect.Unit] {
			return effect.Callback(func(func(effect.Effect[effect.Unit])) effect.Effect[effect.Unit] {
				waits(f)
				return effect.Void()
			}).IgnoreCause().AndThen(effect.Never[effect.Unit]())
		}), effect.StartImmediately()))
		do.Await(fb.Interrupt())
		return do.Await(fb.Await())
	})
	onBoth(t, program, func(t *testing.T, exit scope.Exit[scope.Exit[effect.Unit]]) {
		got, _ := exit.Value()
		if !got.Cause().HasInterruptsOnly() {
			t.Fatal(exit)
		}
	})
}

// F61: a Goexit in the registration of a Callback leaves the fiber able to wait in its
// finalizers.
func TestF61_GoexitInARegistration(t *testing.T) {
	ran := make(chan struct{}, 1)
	program := effect.ForkChild(effect.Callback(func(func(effect.Effect[int])) effect.Effect[effect.Unit] {
		runtime.Goexit()
		return effect.Void()
	}).Ensuring(effect.Sleep(time.Millisecond).AndThen(effect.SyncUnit(func() { ran <- struct{}{} })))).
		FlatMap(func(fb *effect.Fiber[int]) effect.Effect[scope.Exit[int]] { return fb.Await() })
	onBoth(t, program, func(t *testing.T, exit scope.Exit[scope.Exit[int]]) {
		got, _ := exit.Value()
		if die, ok := got.Cause().Defect(); !ok || die.Defect != (scope.Exited{}) {
			t.Error(exit)
		}
		select {
		case <-ran:
		default:
			t.Error("the finalizer did not run to its end")
		}
	})
}

// F61: a Blocking that another one runs, on the parallel runtime, leaves the outer
// one's context cancelled by an interruption, during and after it.
func TestF61_BlockingInsideABlocking(t *testing.T) {
	for _, when := range []string{"during", "after"} {
		t.Run(when, func(t *testing.T) {
			ready := make(chan struct{})
			outerDone := make(chan error, 1)
			e := effect.WithFiber(func(f *scope.Fiber) effect.Effect[int] {
				return effect.Blocking(func(outer context.Context) (int, error) {
					effect.RunOn(f, effect.Blocking(func(inner context.Context) (int, error) {
						if when == "during" {
							close(ready)
							<-inner.Done()
						}
						return 0, nil
					}))
					if when == "after" {
						close(ready)
					}
					<-outer.Done()
					outerDone <- outer.Err()
					return 0, nil
				})
			})
			fb := effect.RunFork(context.Background(), e)
			<-ready
			fb.InterruptNow(0)
			select {
			case <-outerDone:
			case <-time.After(20 * time.Second):
				t.Fatal("the outer context was not cancelled")
			}
			effect.RunExit(context.Background(), fb.Await())
		})
	}
}

// F61: the same on the deterministic runtime, where a Blocking's function runs beside
// the fiber: it cannot run anything on it.
func TestF61_RunOnFromABlockingOfTheDeterministicRuntime(t *testing.T) {
	program := effect.WithFiber(func(f *scope.Fiber) effect.Effect[int] {
		return effect.Blocking(func(context.Context) (int, error) {
			waits(f)
			return 1, nil
		})
	})
	exit := effect.RunDeterministic(program, effect.DeterministicConfig{}).Exit.MustGet()
	var refused scope.WaitsAlready
	if !errors.As(exit.Err(), &refused) {
		t.Fatal(exit)
	}
}
