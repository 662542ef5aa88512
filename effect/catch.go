package effect

import (
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
)

// handle runs e and, when it fails and the failure is not on its way out of an
// interrupted fiber, goes on with what h makes of the cause.
//
//go:noinline
func handle[A, B any](e Effect[A], ok func(A) (B, *scope.Cause, Effect[B]), h func(*scope.Cause) (B, *scope.Cause, Effect[B])) Effect[B] {
	return Effect[B]{step: func(f *scope.Fiber) (B, *scope.Cause, Effect[B]) {
		v, c := guarded(f, e)
		if c == nil {
			return ok(v)
		}
		if c, skip := f.Skips(c); skip {
			return failed[B](c)
		}
		return h(c)
	}}
}

// CatchCause goes on with h when e fails in any way, interruptions of others
// included. No handler sees the interruption of its own fiber.
//
//go:noinline
func (e Effect[A]) CatchCause[_ onUse](h func(*scope.Cause) Effect[A]) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		v, c := guarded(f, e)
		if c == nil {
			return v, nil, Effect[A]{}
		}
		if c, skip := f.Skips(c); skip {
			return failed[A](c)
		}
		return then(h(c))
	}}
}

// Catch goes on with h when e fails with an expected failure and no defect
// beside it.
func (e Effect[A]) Catch[_ onUse](h func(error) Effect[A]) Effect[A] { return e.CatchIf(nil, h) }

// CatchTag goes on with h when e fails with an E, wrapped ones included; other
// failures pass. In TypeScript the tag picks, here the Go type does.
//
//go:noinline
func (e Effect[A]) CatchTag[E error](h func(E) Effect[A]) Effect[A] {
	return e.CatchIf(func(err error) bool { _, ok := errors.AsType[E](err); return ok }, func(err error) Effect[A] {
		match, _ := errors.AsType[E](err)
		return h(match)
	})
}

// CatchIf is Catch for the failures that pick accepts; nil accepts all.
//
//go:noinline
func (e Effect[A]) CatchIf[_ onUse](pick func(error) bool, h func(error) Effect[A]) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		v, c := guarded(f, e)
		if c == nil {
			return v, nil, Effect[A]{}
		}
		if c, skip := f.Skips(c); skip {
			return failed[A](c)
		}
		rest, err := picked(c, pick)
		if err == nil {
			return again[A](rest)
		}
		return then(h(err))
	}}
}

// picked is the failure to recover from, or none and the cause that travels on.
func picked(c *scope.Cause, pick func(error) bool) (rest *scope.Cause, err error) {
	err, rest, ok := c.Recoverable()
	if !ok {
		return rest, nil
	}
	if pick != nil && !pick(err) {
		return c, nil
	}
	return nil, err
}

// CatchDefect goes on with h when e's cause has a defect.
//
//go:noinline
func (e Effect[A]) CatchDefect[_ onUse](h func(defect any) Effect[A]) Effect[A] {
	return e.CatchCause(func(c *scope.Cause) Effect[A] {
		die, ok := c.Defect()
		if !ok {
			return FailCause[A](c)
		}
		return h(die.Defect)
	})
}

// TapCause runs what h makes of the cause and fails with it all the same.
//
//go:noinline
func (e Effect[A]) TapCause[B any](h func(*scope.Cause) Effect[B]) Effect[A] {
	return e.CatchCause(func(c *scope.Cause) Effect[A] { return h(c).AndThen(FailCause[A](c)) })
}

// TapError runs what h makes of the first expected failure and fails all the
// same.
//
//go:noinline
func (e Effect[A]) TapError[B any](h func(error) Effect[B]) Effect[A] {
	return e.CatchCause(func(c *scope.Cause) Effect[A] {
		err, ok := c.Failure()
		if !ok {
			return FailCause[A](c)
		}
		return h(err).AndThen(FailCause[A](c))
	})
}

// TapDefect runs what h makes of the first defect and dies all the same.
//
//go:noinline
func (e Effect[A]) TapDefect[B any](h func(defect any) Effect[B]) Effect[A] {
	return e.CatchCause(func(c *scope.Cause) Effect[A] {
		die, ok := c.Defect()
		if !ok {
			return FailCause[A](c)
		}
		return h(die.Defect).AndThen(FailCause[A](c))
	})
}

// MapError replaces every expected failure.
//
//go:noinline
func (e Effect[A]) MapError[_ onUse](fn func(error) error) Effect[A] {
	return e.CatchCause(func(c *scope.Cause) Effect[A] { return FailCause[A](c.MapErrors(fn)) })
}

// OrDie turns an expected failure into a defect.
//
//go:noinline
func (e Effect[A]) OrDie[_ onUse]() Effect[A] {
	return e.Catch(func(err error) Effect[A] { return Die[A](err) })
}

// OrElseSucceed gives fn's value when e fails with an expected failure.
//
//go:noinline
func (e Effect[A]) OrElseSucceed[_ onUse](fn func(error) A) Effect[A] {
	return e.Catch(func(err error) Effect[A] { return Sync(func() A { return fn(err) }) })
}

// Ignore forgets the result and an expected failure.
//
//go:noinline
func (e Effect[A]) Ignore[_ onUse]() Effect[Unit] {
	return ignoring(e, func(c *scope.Cause) *scope.Cause {
		rest, _ := picked(c, nil)
		return rest
	})
}

// IgnoreCause forgets the result and any cause.
//
//go:noinline
func (e Effect[A]) IgnoreCause[_ onUse]() Effect[Unit] {
	return ignoring(e, func(*scope.Cause) *scope.Cause { return nil })
}

// ignoring goes on with nothing, or with what pass leaves of the cause.
//
//go:noinline
func ignoring[A any](e Effect[A], pass func(*scope.Cause) *scope.Cause) Effect[Unit] {
	return Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
		_, c := guarded(f, e)
		if c != nil {
			var skip bool
			if c, skip = f.Skips(c); skip {
				return failed[Unit](c)
			}
			if c = pass(c); c != nil {
				return again[Unit](c)
			}
		}
		return then(Void())
	}}
}

// MatchCauseEffect goes on with one of two effects.
//
//go:noinline
func (e Effect[A]) MatchCauseEffect[B any](onFailure func(*scope.Cause) Effect[B], onSuccess func(A) Effect[B]) Effect[B] {
	return handle(e,
		func(v A) (B, *scope.Cause, Effect[B]) { return then(onSuccess(v)) },
		func(c *scope.Cause) (B, *scope.Cause, Effect[B]) { return then(onFailure(c)) })
}

// MatchEffect goes on with one of two effects; defects and interruptions pass.
//
//go:noinline
func (e Effect[A]) MatchEffect[B any](onFailure func(error) Effect[B], onSuccess func(A) Effect[B]) Effect[B] {
	return handle(e,
		func(v A) (B, *scope.Cause, Effect[B]) { return then(onSuccess(v)) },
		func(c *scope.Cause) (B, *scope.Cause, Effect[B]) {
			err, rest, ok := c.Recoverable()
			if !ok {
				return again[B](rest)
			}
			return then(onFailure(err))
		})
}

// MatchCause gives one of two values.
//
//go:noinline
func (e Effect[A]) MatchCause[B any](onFailure func(*scope.Cause) B, onSuccess func(A) B) Effect[B] {
	return handle(e,
		func(v A) (B, *scope.Cause, Effect[B]) { return value(onSuccess(v)) },
		func(c *scope.Cause) (B, *scope.Cause, Effect[B]) { return value(onFailure(c)) })
}

// Match gives one of two values; defects and interruptions pass.
//
//go:noinline
func (e Effect[A]) Match[B any](onFailure func(error) B, onSuccess func(A) B) Effect[B] {
	return handle(e,
		func(v A) (B, *scope.Cause, Effect[B]) { return value(onSuccess(v)) },
		func(c *scope.Cause) (B, *scope.Cause, Effect[B]) {
			err, rest, ok := c.Recoverable()
			if !ok {
				return again[B](rest)
			}
			return value(onFailure(err))
		})
}

// Exit gives how e ends, whatever that is. Like every handler it does not see
// the interruption of its own fiber.
func Exit[A any](e Effect[A]) Effect[scope.Exit[A]] {
	if e.lit != nil {
		return Succeed(scope.NewExit(e.lit.value, e.lit.cause))
	}
	return handle(e,
		func(v A) (scope.Exit[A], *scope.Cause, Effect[scope.Exit[A]]) { return value(scope.ExitSucceed(v)) },
		func(c *scope.Cause) (scope.Exit[A], *scope.Cause, Effect[scope.Exit[A]]) {
			return value(scope.ExitFailCause[A](c))
		})
}

// Flip swaps the failure and the result.
//
//go:noinline
func Flip[A any](e Effect[A]) Effect[error] {
	return e.MatchEffect(
		func(err error) Effect[error] { return Succeed(err) },
		func(v A) Effect[error] { return Fail[error](Flipped[A]{v}) })
}

// Flipped is the failure of a flipped success.
type Flipped[A any] struct{ Value A }

func (Flipped[A]) Error() string { return "flipped: the effect succeeded" }

// Sandbox makes any cause an expected failure, of type *Sandboxed.
//
//go:noinline
func (e Effect[A]) Sandbox[_ onUse]() Effect[A] {
	return e.CatchCause(func(c *scope.Cause) Effect[A] { return Fail[A](&Sandboxed{c}) })
}

// Sandboxed is a cause as a failure.
type Sandboxed struct{ Cause *scope.Cause }

func (s *Sandboxed) Error() string { return s.Cause.String() }

// Unwrap is the cause's error.
func (s *Sandboxed) Unwrap() error { return s.Cause.Err() }
