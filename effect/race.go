package effect

import (
	"time"

	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// RaceFirst runs both and ends as the first one that ends does. The loser is
// interrupted and awaited.
func (e Effect[A]) RaceFirst[_ onUse](that Effect[A]) Effect[A] { return RaceAllFirst(e, that) }

// Race runs both and gives the first success. The loser is interrupted and
// awaited. When both fail it fails with both causes.
func (e Effect[A]) Race[_ onUse](that Effect[A]) Effect[A] { return RaceAll(e, that) }

// RaceAllFirst runs all and ends as the first one that ends does.
func RaceAllFirst[A any](effects ...Effect[A]) Effect[A] { return race(effects, true) }

// RaceAll runs all and gives the first success; it fails when all have failed.
// With none it never ends.
func RaceAll[A any](effects ...Effect[A]) Effect[A] { return race(effects, false) }

//go:noinline
func race[A any](effects []Effect[A], first bool) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		values := make([]A, len(effects))
		i, c := f.Race(len(effects), func(i int, f *scope.Fiber) *scope.Cause {
			v, c := run(f, effects[i])
			values[i] = v
			return c
		}, scope.RaceConfig{First: first})
		if c != nil {
			var zero A
			return zero, c, Effect[A]{}
		}
		return values[i], nil, Effect[A]{}
	}}
}

// StopOn runs e until it ends or stop fails. It is RaceFirst with an effect that
// never succeeds.
//
//go:noinline
func (e Effect[A]) StopOn[_ onUse](stop Effect[Nothing]) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		v, _, c := against(f, e, func(f *scope.Fiber) *scope.Cause {
			_, c := run(f, stop)
			return c
		})
		return result(v, c)
	}}
}

// against races e with a rival and tells whether that ended first.
func against[A any](f *scope.Fiber, e Effect[A], rival func(*scope.Fiber) *scope.Cause) (out A, lost bool, c *scope.Cause) {
	i, c := f.Race(2, func(i int, f *scope.Fiber) *scope.Cause {
		if i == 1 {
			return rival(f)
		}
		v, c := run(f, e)
		out = v
		return c
	}, scope.RaceConfig{First: true})
	if c != nil || i == 1 {
		var zero A
		out = zero
	}
	return out, i == 1, c
}

// TimeoutError is the failure of Timeout.
type TimeoutError struct{ After time.Duration }

func (t *TimeoutError) Error() string { return "timed out after " + t.After.String() }

// Tag implements errors.Tagged.
func (*TimeoutError) Tag() string { return "TimeoutError" }

// Timeout makes the net error convention hold.
func (*TimeoutError) Timeout() bool { return true }

// Timeout interrupts e after d, waits for its end and fails with *TimeoutError.
//
//go:noinline
func (e Effect[A]) Timeout[_ onUse](d time.Duration) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		v, timedOut, c := timeout(f, e, d)
		if c == nil && timedOut {
			return again[A](scope.CauseFail(&TimeoutError{After: d}))
		}
		return v, c, Effect[A]{}
	}}
}

// TimeoutOrElse interrupts e after d, waits for its end and goes on with orElse.
//
//go:noinline
func (e Effect[A]) TimeoutOrElse[_ onUse](d time.Duration, orElse func() Effect[A]) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		v, timedOut, c := timeout(f, e, d)
		switch {
		case c != nil:
			return failed[A](c)
		case timedOut:
			return then(orElse())
		default:
			return v, nil, Effect[A]{}
		}
	}}
}

// TimeoutOption interrupts e after d, waits for its end and gives none.
//
//go:noinline
func TimeoutOption[A any](e Effect[A], d time.Duration) Effect[mo.Option[A]] {
	return Effect[mo.Option[A]]{step: func(f *scope.Fiber) (mo.Option[A], *scope.Cause, Effect[mo.Option[A]]) {
		v, timedOut, c := timeout(f, e, d)
		if c != nil || timedOut {
			return mo.None[A](), c, Effect[mo.Option[A]]{}
		}
		return mo.Some(v), nil, Effect[mo.Option[A]]{}
	}}
}

func timeout[A any](f *scope.Fiber, e Effect[A], d time.Duration) (out A, timedOut bool, c *scope.Cause) {
	out, timedOut, c = against(f, e, sleeper(d))
	return out, timedOut, f.NoticeAfter(c)
}

//go:noinline
func sleeper(d time.Duration) func(*scope.Fiber) *scope.Cause {
	return func(f *scope.Fiber) *scope.Cause { return sleep(f, d) }
}
