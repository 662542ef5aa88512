package effect_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

var endings = map[string]func(){"panic": func() { panic("boom") }, "Goexit": runtime.Goexit}

// A Goexit beside an interruption: finalizers run masked, to their ends, as they do
// after a panic.
func TestFinalizersOfAGoexitWhileInterrupted(t *testing.T) {
	for name, end := range endings {
		t.Run(name, func(t *testing.T) {
			ran := map[string]bool{}
			finalizer := func(what string) effect.Effect[effect.Unit] {
				return effect.YieldNow().AndThen(effect.SyncUnit(func() { ran[what] = true }))
			}
			fiber := effect.RunFork(context.Background(), effect.Scoped(
				effect.AcquireRelease(effect.Void(), func(effect.Unit, scope.Exit[any]) effect.Effect[effect.Unit] {
					return finalizer("release")
				}).AndThen(effect.WithFiber(func(f *scope.Fiber) effect.Effect[effect.Unit] {
					f.Interrupt(7) // as any other goroutine may just now
					end()
					return effect.Void()
				}).Ensuring(finalizer("ensuring")))))
			exit := effect.RunExit(context.Background(), fiber.Await())
			if !ran["release"] || !ran["ensuring"] {
				t.Errorf("ran %v; the exit is %v", ran, exit)
			}
		})
	}
}

// A Goexit leaves the services of those parts that it unwinds: finalizers further out
// find their own.
func TestServicesOfFinalizersAfterAGoexit(t *testing.T) {
	key := effect.NewReference("key", func() string { return "outer" })
	for name, end := range endings {
		t.Run(name, func(t *testing.T) {
			var saw string
			fiber := effect.RunFork(context.Background(), effect.SyncUnit(end).ProvideService(key, "inner").
				Ensuring(key.Get().Map(func(s string) effect.Unit {
					saw = s
					return effect.Unit{}
				})))
			effect.RunExit(context.Background(), fiber.Await())
			if saw != "outer" {
				t.Errorf("the finalizer found %q", saw)
			}
		})
	}
}

// After a Goexit in an earlier finalizer of a scope, in a part of it that can be
// interrupted, the later ones run masked all the same.
func TestScopeFinalizersAfterAGoexitInAnother(t *testing.T) {
	for name, end := range endings {
		t.Run(name, func(t *testing.T) {
			finalizer := func(e effect.Effect[effect.Unit]) effect.Effect[effect.Unit] {
				return effect.AddFinalizer(func(scope.Exit[any]) effect.Effect[effect.Unit] { return e })
			}
			ran := false
			fiber := effect.RunFork(context.Background(), effect.Scoped(
				finalizer(effect.YieldNow().AndThen(effect.SyncUnit(func() { ran = true }))).AndThen(
					finalizer(effect.WithFiber(func(f *scope.Fiber) effect.Effect[effect.Unit] {
						f.Interrupt(7) // as any other goroutine may just now
						end()
						return effect.Void()
					}).Interruptible()))))
			effect.RunExit(context.Background(), fiber.Await())
			if !ran {
				t.Error("a finalizer did not run to its end")
			}
		})
	}
}

func nested(levels int, e effect.Effect[effect.Unit]) effect.Effect[effect.Unit] {
	for range levels {
		e = e.Map(func(u effect.Unit) effect.Unit { return u })
	}
	return e
}

// Below a stack segment a Goexit goes on, also when a finalizer panics on its way.
func TestGoexitWithAPanicBelowASegment(t *testing.T) {
	for _, levels := range []int{10, 20_000} {
		wentOn := false
		fiber := effect.RunFork(context.Background(), nested(levels,
			effect.SyncUnit(runtime.Goexit).Ensuring(effect.SyncUnit(func() { panic("finalizer") }))).
			IgnoreCause().AndThen(effect.SyncUnit(func() { wentOn = true })))
		effect.RunExit(context.Background(), fiber.Await())
		if wentOn {
			t.Errorf("at a depth of %d the program went on", levels)
		}
	}
}

// A finalizer has the depth of where it stands, not that of what ended below it.
func TestDepthOfAFinalizer(t *testing.T) {
	depth := func(end func()) (at int) {
		fiber := effect.RunFork(context.Background(), nested(1_000, effect.SyncUnit(end)).
			Ensuring(effect.WithFiber(func(f *scope.Fiber) effect.Effect[effect.Unit] {
				at = f.Depth()
				return effect.Void()
			})))
		effect.RunExit(context.Background(), fiber.Await())
		return at
	}
	want := depth(func() {})
	for name, end := range endings {
		if got := depth(end); got != want {
			t.Errorf("%s: the depth is %d, not %d", name, got, want)
		}
	}
}

// watchedContext tells whether somebody waits for its end.
type watchedContext struct {
	context.Context
	done    chan struct{}
	waiting atomic.Int32
}

// Done never closes. It is a channel of its own: those of the context package are not
// asked for AfterFunc.
func (w *watchedContext) Done() <-chan struct{} { return w.done }

// AfterFunc is what context.AfterFunc uses where there is one.
func (w *watchedContext) AfterFunc(func()) (stop func() bool) {
	w.waiting.Add(1)
	return func() bool { w.waiting.Add(-1); return true }
}

// A run whose program ends its goroutine leaves nothing in the context.
func TestContextAfterAGoexit(t *testing.T) {
	ctx := &watchedContext{Context: context.Background(), done: make(chan struct{})}
	during, ended := int32(0), make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = effect.Run(ctx, effect.SyncUnit(func() {
			during = ctx.waiting.Load()
			runtime.Goexit()
		}))
	}()
	<-ended
	if during != 1 || ctx.waiting.Load() != 0 {
		t.Errorf("waiting: %d while it runs, %d after", during, ctx.waiting.Load())
	}
}
