package effect

import (
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
)

// TagCase is one case of CatchTags, made by OnTag.
type TagCase[A any] struct {
	handle func(error) (Effect[A], bool)
}

// OnTag is the case of the failures that are an E, wrapped ones included.
func OnTag[A any, E error](h func(E) Effect[A]) TagCase[A] {
	return TagCase[A]{func(err error) (Effect[A], bool) {
		match, ok := errors.AsType[E](err)
		if !ok {
			return Effect[A]{}, false
		}
		return h(match), true
	}}
}

// CatchTags goes on with the first case that takes e's failure; a failure that
// none takes passes. Unlike in a chain of CatchTags, no case sees the failure of
// another's handler.
func (e Effect[A]) CatchTags[_ onUse](cases ...TagCase[A]) Effect[A] {
	return e.CatchCause(func(c *scope.Cause) Effect[A] {
		rest, err := picked(c, nil)
		if err == nil {
			return FailCause[A](rest)
		}
		for _, one := range cases {
			if next, ok := one.handle(err); ok {
				return next
			}
		}
		return FailCause[A](c)
	})
}

// CatchCauseIf is CatchCause for the causes that pick accepts.
func (e Effect[A]) CatchCauseIf[_ onUse](pick func(*scope.Cause) bool, h func(*scope.Cause) Effect[A]) Effect[A] {
	return e.CatchCause(func(c *scope.Cause) Effect[A] {
		if !pick(c) {
			return FailCause[A](c)
		}
		return h(c)
	})
}

// TapCauseIf is TapCause for the causes that pick accepts.
func (e Effect[A]) TapCauseIf[B any](pick func(*scope.Cause) bool, h func(*scope.Cause) Effect[B]) Effect[A] {
	return e.CatchCauseIf(pick, func(c *scope.Cause) Effect[A] { return h(c).AndThen(FailCause[A](c)) })
}

// TapErrorTag is TapError for the failures that are an E, wrapped ones included.
func (e Effect[A]) TapErrorTag[E error, B any](h func(E) Effect[B]) Effect[A] {
	return e.TapError(func(err error) Effect[Unit] {
		match, ok := errors.AsType[E](err)
		if !ok {
			return Void()
		}
		return h(match).AsUnit()
	})
}

// MapBoth replaces every expected failure and the result.
func (e Effect[A]) MapBoth[B any](onFailure func(error) error, onSuccess func(A) B) Effect[B] {
	return e.MatchCauseEffect(
		func(c *scope.Cause) Effect[B] { return FailCause[B](c.MapErrors(onFailure)) },
		func(v A) Effect[B] { return Sync(func() B { return onSuccess(v) }) })
}

// OnExitIf is OnExit for the exits that pick accepts.
func (e Effect[A]) OnExitIf[X any](pick func(scope.Exit[A]) bool, fin func(scope.Exit[A]) Effect[X]) Effect[A] {
	return onExitEffect(e, true, func(f *scope.Fiber, v A, c *scope.Cause) *scope.Cause {
		exit := scope.NewExit(v, c)
		if !pick(exit) {
			return nil
		}
		_, d := run(f, fin(exit))
		return d
	})
}

// OnErrorIf is OnError for the causes that pick accepts.
func (e Effect[A]) OnErrorIf[X any](pick func(*scope.Cause) bool, fin func(*scope.Cause) Effect[X]) Effect[A] {
	return onExitEffect(e, true, func(f *scope.Fiber, _ A, c *scope.Cause) *scope.Cause {
		if c == nil || !pick(c) {
			return nil
		}
		_, d := run(f, fin(c))
		return d
	})
}

// Eventually runs e again, after a YieldNow, until it succeeds. A defect or an
// interruption ends it.
func (e Effect[A]) Eventually[_ onUse]() Effect[A] {
	return e.Catch(func(error) Effect[A] { return after(YieldNow(), e.Eventually()) })
}

var errNoEffects = errors.New("effect: FirstSuccessOf without effects")

// FirstSuccessOf runs the effects one after the other until one succeeds, and
// ends as the last one did when none has. A defect or an interruption ends it.
// Without effects it is a defect.
func FirstSuccessOf[A any](effects ...Effect[A]) Effect[A] {
	if len(effects) == 0 {
		return Die[A](errNoEffects)
	}
	return Suspend(func() Effect[A] { return firstSuccessOf(effects) })
}

func firstSuccessOf[A any](effects []Effect[A]) Effect[A] {
	if len(effects) == 1 {
		return effects[0]
	}
	return effects[0].Catch(func(error) Effect[A] { return firstSuccessOf(effects[1:]) })
}

// FailSync is the effect that fails with the error that fn makes when it runs.
func FailSync[A any](fn func() error) Effect[A] {
	return Suspend(func() Effect[A] { return Fail[A](fn()) })
}

// FailCauseSync is the effect that fails with the cause that fn makes when it
// runs.
func FailCauseSync[A any](fn func() *scope.Cause) Effect[A] {
	return Suspend(func() Effect[A] { return FailCause[A](fn()) })
}
