package effect_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// both runs a test of interruption at every step, of the main fiber and of
// whichever fiber steps.
func both[A any](t *testing.T, program func() effect.Effect[A], check func(step int, out effect.RunReport[A]) error) {
	t.Helper()
	for _, stepping := range []bool{false, true} {
		runs := 0
		err := effect.InterruptEverywhere(program, effect.EverywhereConfig{Stepping: stepping}, func(step int, out effect.RunReport[A]) error {
			runs++
			return check(step, out)
		})
		if err != nil {
			t.Fatalf("stepping %t: %v", stepping, err)
		}
		if runs < 3 {
			t.Fatalf("stepping %t: only %d runs", stepping, runs)
		}
	}
}

// F26, F27: a release runs exactly once if, and only if, its acquire succeeded.
func TestInterruptEverywhereAcquireRelease(t *testing.T) {
	var acquired, released, alive, most int
	program := func() effect.Effect[effect.Unit] {
		acquired, released, alive, most = 0, 0, 0, 0
		acquire := effect.YieldNow().AndThen(effect.SyncUnit(func() {
			acquired++
			alive++
			most = max(most, alive)
		})).Tap(func(effect.Unit) effect.Effect[effect.Unit] { return effect.Sleep(time.Second) })
		release := func(effect.Unit, scope.Exit[any]) effect.Effect[effect.Unit] {
			return effect.Sleep(time.Second).AndThen(effect.SyncUnit(func() { released++; alive-- }))
		}
		one := effect.Scoped(effect.AcquireRelease(acquire, release).AndThen(effect.Sleep(time.Second)))
		two := effect.AcquireUseRelease(acquire, func(effect.Unit) effect.Effect[effect.Unit] { return effect.YieldNow() },
			func(u effect.Unit, e scope.Exit[effect.Unit]) effect.Effect[effect.Unit] { return release(u, e.Any()) })
		open := effect.Scoped(effect.AcquireReleaseInterruptible(acquire, release).AndThen(effect.YieldNow()))
		return one.AndThen(two).AndThen(open)
	}
	both(t, program, func(step int, out effect.RunReport[effect.Unit]) error {
		switch {
		case step == 0 && acquired != 3:
			return fmt.Errorf("acquired %d times", acquired)
		case out.Exit.IsAbsent():
			return fmt.Errorf("never ended: %v", out.Report)
		case acquired > released+1 || acquired < released:
			return fmt.Errorf("acquired %d, released %d", acquired, released)
		case alive > 1:
			// An interruptible acquire may be cut off after it counted and
			// before its release was registered, once.
			return fmt.Errorf("%d alive", alive)
		}
		return nil
	})
}

// F26, F30: permits are all back after every run, and never more are out than
// there are.
func TestInterruptEverywhereSemaphore(t *testing.T) {
	var s *effect.Semaphore
	var inside, most int
	program := func() effect.Effect[effect.Unit] {
		s = effect.NewSemaphore(2)
		inside, most = 0, 0
		work := effect.SyncUnit(func() { inside++; most = max(most, inside) }).
			AndThen(effect.Sleep(time.Millisecond)).
			Ensuring(effect.SyncUnit(func() { inside-- }))
		return effect.GenUnit(func(do *effect.Do) {
			var fibers []effect.AnyFiber
			for i := range 5 {
				fibers = append(fibers, do.Await(effect.ForkChild(s.WithPermits(1+i%2, work))))
			}
			do.Await(s.WithPermits(2, work))
			do.Await(s.WithPermitsIfAvailable(1, work))
			do.Await(effect.AwaitAll(fibers...))
		})
	}
	both(t, program, func(step int, out effect.RunReport[effect.Unit]) error {
		if out.Exit.IsAbsent() {
			return fmt.Errorf("never ended: %v", out.Report)
		}
		if s.Free() != 2 || most > 2 {
			return fmt.Errorf("free %d, most inside %d", s.Free(), most)
		}
		return nil
	})
}

// F26, F30: every waiter of a deferred or a latch ends, however it is
// interrupted.
func TestInterruptEverywhereDeferredAndLatch(t *testing.T) {
	var woken int
	program := func() effect.Effect[effect.Unit] {
		woken = 0
		return effect.GenUnit(func(do *effect.Do) {
			d := do.Await(effect.MakeDeferred[int]())
			l := do.Await(effect.MakeLatch(false))
			var fibers []effect.AnyFiber
			for range 3 {
				fibers = append(fibers, do.Await(effect.ForkChild(d.Await().AndThen(l.Await()).Ensuring(effect.SyncUnit(func() { woken++ })))))
			}
			do.Await(effect.YieldNow())
			do.Await(d.Into(effect.Sleep(time.Millisecond).As(1)))
			do.Await(l.Release())
			do.Await(effect.YieldNow())
			do.Await(l.Open())
			do.Await(effect.AwaitAll(fibers...))
		})
	}
	both(t, program, func(step int, out effect.RunReport[effect.Unit]) error {
		if out.Exit.IsAbsent() || len(out.Stuck) > 0 {
			return fmt.Errorf("never ended: %v", out.Report)
		}
		if step == 0 && woken != 3 {
			return fmt.Errorf("woken %d", woken)
		}
		return nil
	})
}
