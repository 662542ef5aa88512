package effect

import (
	"github.com/rivus/tether/scope"
)

// OnExit runs what fin makes of e's exit when e has ended, however, masked. fin's
// failure after a success is the exit; after a failure both causes join.
//
//go:noinline
func (e Effect[A]) OnExit[X any](fin func(scope.Exit[A]) Effect[X]) Effect[A] {
	return onExitEffect(e, true, func(f *scope.Fiber, v A, c *scope.Cause) *scope.Cause {
		_, d := run(f, fin(scope.NewExit(v, c)))
		return d
	})
}

//go:noinline
func onExitEffect[A any](e Effect[A], mask bool, fin func(f *scope.Fiber, v A, c *scope.Cause) *scope.Cause) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		return result(onExitRestored(f, e, Restore{}, mask, fin))
	}}
}

// Ensuring runs fin when e has ended, however, masked.
//
//go:noinline
func (e Effect[A]) Ensuring[X any](fin Effect[X]) Effect[A] {
	return onExitEffect(e, true, func(f *scope.Fiber, _ A, _ *scope.Cause) *scope.Cause {
		_, d := run(f, fin)
		return d
	})
}

// OnError runs what fin makes of the cause when e has failed, masked.
//
//go:noinline
func (e Effect[A]) OnError[X any](fin func(*scope.Cause) Effect[X]) Effect[A] {
	return onExitEffect(e, true, func(f *scope.Fiber, _ A, c *scope.Cause) *scope.Cause {
		if c == nil {
			return nil
		}
		_, d := run(f, fin(c))
		return d
	})
}

// OnInterrupt runs what fin makes of the interruptors when e's cause has an
// interruption, masked.
//
//go:noinline
func (e Effect[A]) OnInterrupt[X any](fin func(interruptors []scope.FiberID) Effect[X]) Effect[A] {
	return onExitEffect(e, true, func(f *scope.Fiber, _ A, c *scope.Cause) *scope.Cause {
		if !c.HasInterrupts() {
			return nil
		}
		_, d := run(f, fin(c.Interruptors()))
		return d
	})
}

// AcquireUseRelease runs acquire masked, then use with what it gave, then
// release with that and use's exit, however use ended.
//
//go:noinline
func AcquireUseRelease[R, A, X any](acquire Effect[R], use func(R) Effect[A], release func(R, scope.Exit[A]) Effect[X]) Effect[A] {
	return UninterruptibleMask(func(restore Restore) Effect[A] {
		return acquire.FlatMap(func(r R) Effect[A] {
			return onExitEffect(Suspend(func() Effect[A] { return restore.Run(use(r)) }), false,
				func(f *scope.Fiber, v A, c *scope.Cause) *scope.Cause {
					_, d := run(f, release(r, scope.NewExit(v, c)))
					return d
				})
		})
	})
}

// AcquireRelease runs acquire masked and registers release in the scope at hand,
// in one uninterruptible step. Release runs when the scope closes, with the
// scope's exit. Without a scope at hand it is a defect.
func AcquireRelease[A, X any](acquire Effect[A], release func(A, scope.Exit[any]) Effect[X]) Effect[A] {
	return acquireRelease(acquire, release, false)
}

// AcquireReleaseInterruptible is AcquireRelease whose acquire can be interrupted
// where its caller can be (TypeScript: the option interruptible).
func AcquireReleaseInterruptible[A, X any](acquire Effect[A], release func(A, scope.Exit[any]) Effect[X]) Effect[A] {
	return acquireRelease(acquire, release, true)
}

//go:noinline
func acquireRelease[A, X any](acquire Effect[A], release func(A, scope.Exit[any]) Effect[X], interruptible bool) Effect[A] {
	return inMask(func(f *scope.Fiber, restore Restore) (A, *scope.Cause) {
		var zero A
		s, c := scopeAtHand(f)
		if c != nil {
			return zero, c
		}
		if !interruptible {
			restore = Restore{}
		}
		v, c := within(f, restore.to, acquire)
		if c != nil {
			return zero, c
		}
		if c := s.Add(f, finalizerIn(f.Env(), func(exit scope.Exit[any]) Effect[X] { return release(v, exit) })); c != nil {
			return zero, c
		}
		return v, nil
	})
}

// AddFinalizer registers fin in the scope at hand, to run with the scope's exit
// and the services at hand now. Without a scope at hand it is a defect.
//
//go:noinline
func AddFinalizer[X any](fin func(scope.Exit[any]) Effect[X]) Effect[Unit] {
	return Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
		s, c := scopeAtHand(f)
		if c == nil {
			c = s.Add(f, finalizerIn(f.Env(), fin))
		}
		return result(Unit{}, c)
	}}
}

// AddFinalizerTo registers fin in s (TypeScript: Scope.addFinalizerExit). On a
// closed scope it runs at once. Unlike with AddFinalizer, fin gets the services of
// who closes s, not those at hand now.
//
//go:noinline
func AddFinalizerTo[X any](s *scope.Scope, fin func(scope.Exit[any]) Effect[X]) Effect[Unit] {
	return Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
		return result(Unit{}, s.Add(f, func(f *scope.Fiber, exit scope.Exit[any]) *scope.Cause {
			_, c := run(f, fin(exit))
			return c
		}))
	}}
}

// finalizerIn is the finalizer that evaluates fin with env's services on top of
// those at hand when it runs.
//
//go:noinline
func finalizerIn[X any](env *scope.Env, fin func(scope.Exit[any]) Effect[X]) scope.Finalizer {
	return func(f *scope.Fiber, exit scope.Exit[any]) *scope.Cause {
		prev := f.Env()
		next := prev.Merge(env)
		e := fin(exit)
		if next == prev || e.lit != nil {
			_, c := run(f, e)
			return c
		}
		defer f.SetEnv(prev)
		f.SetEnv(next)
		_, c := guarded(f, e)
		return c
	}
}

func scopeAtHand(f *scope.Fiber) (*scope.Scope, *scope.Cause) {
	if s := f.Scope(); s != nil {
		return s, nil
	}
	return nil, missingService(f, missingScope)
}

// Scope gives the scope at hand (TypeScript: Effect.scope). Without one it is a
// defect.
func Scope() Effect[*scope.Scope] { return primitive(scopeAtHand) }

// Scoped runs e with a new scope at hand, which closes with e's exit when e has
// ended, however.
//
//go:noinline
func Scoped[A any](e Effect[A]) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		prev := f.Env()
		s := new(scope.Scope)
		f.SetEnv(prev.WithScope(s))
		return result(onExit(f, e, true, func(_ *scope.Fiber, v A, c *scope.Cause) *scope.Cause {
			f.SetEnv(prev)
			return closeMasked(f, s, v, c)
		}))
	}}
}

// ScopedWith gives fn a new scope, which closes when what fn made has ended. It
// does not become the scope at hand.
//
//go:noinline
func ScopedWith[A any](fn func(s *scope.Scope) Effect[A]) Effect[A] {
	return Suspend(func() Effect[A] {
		s := new(scope.Scope)
		return closing(fn(s), s)
	})
}

//go:noinline
func closing[A any](e Effect[A], s *scope.Scope) Effect[A] {
	return onExitEffect(e, true, func(f *scope.Fiber, v A, c *scope.Cause) *scope.Cause {
		return closeMasked(f, s, v, c)
	})
}

// closeMasked closes s with the exit of what ended with v or c. A scope.Exit[A] would
// be compiled for each A, with what it is as text and as JSON.
func closeMasked[A any](f *scope.Fiber, s *scope.Scope, v A, c *scope.Cause) *scope.Cause {
	if c != nil {
		return s.CloseMasked(f, scope.ExitFailCause[any](c))
	}
	return s.CloseMasked(f, scope.ExitSucceed[any](v))
}

// UseScope runs e with s at hand and closes s with e's exit (TypeScript:
// Scope.use).
func (e Effect[A]) UseScope[_ onUse](s *scope.Scope) Effect[A] { return closing(e.ProvideScope(s), s) }

// ProvideScope runs e with s as the scope at hand.
//
//go:noinline
func (e Effect[A]) ProvideScope[_ onUse](s *scope.Scope) Effect[A] {
	return withEnv(e, func(_ *scope.Fiber, env *scope.Env) *scope.Env { return env.WithScope(s) })
}

// MakeScope makes a scope that nothing closes by itself (TypeScript:
// Scope.make).
func MakeScope(strategy scope.Strategy) Effect[*scope.Scope] {
	return Sync(func() *scope.Scope { return scope.New(strategy) })
}

// CloseScope closes s (TypeScript: Scope.close).
//
//go:noinline
func CloseScope[A any](s *scope.Scope, exit scope.Exit[A]) Effect[Unit] {
	return Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
		return Unit{}, s.Close(f, exit.Any()), Effect[Unit]{}
	}}
}
