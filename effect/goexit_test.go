package effect_test

import (
	"context"
	"runtime"
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
