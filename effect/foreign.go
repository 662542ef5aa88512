package effect

import (
	"context"

	"github.com/rivus/tether/scope"
)

// Blocking runs Go code that may block. ctx is cancelled when the fiber is
// interrupted, and the fiber waits for fn to return; so what fn holds is never
// left behind. A fiber that was interrupted ends so, whatever fn returns. Inside a
// mask ctx is not cancelled. On the parallel runtime fn runs on the fiber's own
// goroutine. An error is a failure, a panic a defect.
//
// On the deterministic runtime no virtual time passes while fn runs: a Timeout
// around it does not end it.
//
//go:noinline
func Blocking[A any](fn func(ctx context.Context) (A, error)) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		ctx, cancel := context.WithCancel(f.Env().Context())
		defer cancel()
		defer f.OnInterrupt(cancel)()
		if !scope.Alone(f.Runtime()) {
			scope.AboutToBlock(f)
			v, err := fn(ctx)
			if err != nil {
				return then(Fail[A](err))
			}
			return value(v)
		}
		t := f.Arm()
		var ended literal[A]
		complete := scope.Foreign(f.Runtime())
		go func() {
			ended.cause = goexited() // stays when fn calls Goexit
			defer complete(func() { t.Wake() })
			ended = callForeign(ctx, fn)
		}()
		f.BlockFirmly(t, waitForeign)
		return then(Effect[A]{lit: &ended})
	}}
}

var waitForeign = &scope.Waiting{What: "Go code (Blocking, TryPromise)"}

func callForeign[A any](ctx context.Context, fn func(context.Context) (A, error)) (ended literal[A]) {
	defer func() {
		if r := recover(); r != nil {
			ended = literal[A]{cause: scope.CauseRecovered(r)}
		}
	}()
	v, err := fn(ctx)
	if err != nil {
		return literal[A]{cause: scope.CauseFail(err)}
	}
	return literal[A]{value: v}
}

func goexited() *scope.Cause { return scope.CauseDie(scope.Exited{}) }

// TryPromise runs fn on a goroutine of its own (TypeScript: tryPromise). When
// the fiber is interrupted ctx is cancelled and the fiber ends at once; fn may
// go on for a while, and its result is dropped. When that must not be, as under
// a lease's fence, use Blocking. Its rule for virtual time holds here, too.
//
//go:noinline
func TryPromise[A any](fn func(ctx context.Context) (A, error)) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		ctx, cancel := context.WithCancel(f.Env().Context())
		// From a defer: a run that is cut off unwinds the fiber here.
		defer cancel()
		t := f.Arm()
		got := make(chan literal[A], 1)
		complete := scope.Foreign(f.Runtime())
		go func() {
			// A Goexit in fn still settles.
			ended := literal[A]{cause: goexited()}
			defer func() {
				got <- ended
				complete(func() { t.Wake() })
			}()
			ended = callForeign(ctx, fn)
		}()
		p := f.Block(t, waitForeign)
		var v A
		c := p.Cause
		if c == nil {
			ended := <-got
			v, c = ended.value, ended.cause
		}
		c = f.Settle(c, func() *scope.Cause { return nil })
		if c != nil {
			var zero A
			v = zero
		}
		return v, c, Effect[A]{}
	}}
}

// Callback is for code that calls back (TypeScript: Effect.callback). register
// gets a function that makes the fiber go on with an effect, once; later calls
// do nothing. The effect that register returns is the cleanup: it runs, masked,
// when the fiber is interrupted while it waits. Return the zero Effect for
// none.
//
// On the parallel runtime resume may be called from any goroutine, on the
// deterministic one only by code that runs on it (timers of its clock, other
// fibers); for goroutines use Blocking or TryPromise.
//
//go:noinline
func Callback[A any](register func(resume func(Effect[A])) Effect[Unit]) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		t := f.Arm()
		next := make(chan Effect[A], 1)
		cleanup, c := registerSafely(f, t, register, next)
		if c != nil {
			return failed[A](c)
		}
		noCleanup := cleanup.lit == nil && cleanup.step == nil
		p := f.Block(t, waitCallback)
		if p.Cause == nil && (!p.Slept || noCleanup) {
			return then(<-next)
		}
		c = p.Cause
		if noCleanup {
			return failed[A](c)
		}
		var v A
		if c == nil {
			v, c = guarded(f, <-next)
		}
		c = f.SettleForeign(c, func() *scope.Cause {
			_, c := run(f, cleanup)
			return c
		})
		if c != nil {
			return failed[A](c)
		}
		return value(v)
	}}
}

var waitCallback = &scope.Waiting{What: "a Callback"}

// registerSafely leaves the wait in order when register panics.
func registerSafely[A any](f *scope.Fiber, t scope.Token, register func(func(Effect[A])) Effect[Unit], next chan Effect[A]) (cleanup Effect[Unit], c *scope.Cause) {
	defer func() {
		if r := recover(); r != nil {
			t.Wake()
			f.Block(t, waitCallback)
			c = f.Raised(r)
		}
	}()
	return register(func(e Effect[A]) {
		select {
		case next <- e:
			t.Wake()
		default:
		}
	}), nil
}
