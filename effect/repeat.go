package effect

import (
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// Repeat runs e, then again as s says, as long as it succeeds; each result is
// the input of s. It gives the final output of s. A failure of e ends it.
//
//go:noinline
func (e Effect[A]) Repeat[Out any](s Schedule[Out]) Effect[Out] {
	return repeatOrElse(e, s.plan, func(err error, _ ScheduleMetadata[any]) Effect[Out] { return Fail[Out](err) })
}

// RepeatOrElse is Repeat that goes on with what orElse makes of an expected
// failure, of e or of s, and of the last step; none before the first.
//
//go:noinline
func (e Effect[A]) RepeatOrElse[Out any](s Schedule[Out], orElse func(err error, last mo.Option[ScheduleMetadata[Out]]) Effect[Out]) Effect[Out] {
	return repeatOrElse(e, s.plan, func(err error, m ScheduleMetadata[any]) Effect[Out] {
		if m.Attempt == 0 {
			return orElse(err, mo.None[ScheduleMetadata[Out]]())
		}
		return orElse(err, mo.Some(typed[Out](m)))
	})
}

// repeatOrElse tells orElse of the last step; its Attempt is 0 before the first.
func repeatOrElse[A, Out any](e Effect[A], p plan, orElse func(err error, last ScheduleMetadata[any]) Effect[Out]) Effect[Out] {
	return Effect[Out]{step: func(f *scope.Fiber) (Out, *scope.Cause, Effect[Out]) {
		r, c := p.use(f)
		if c != nil {
			return failed[Out](c)
		}
		var m ScheduleMetadata[any]
		looped := Effect[Out]{step: func(f *scope.Fiber) (Out, *scope.Cause, Effect[Out]) {
			var zero Out
			for {
				v, c := attempt(f, e, m)
				if c != nil {
					return zero, c, Effect[Out]{}
				}
				next, done, c := r.next(f, v)
				if c != nil {
					return zero, c, Effect[Out]{}
				}
				if done {
					return typed[Out](next).Output, nil, Effect[Out]{}
				}
				m = next
			}
		}}
		return then(looped.Catch(func(err error) Effect[Out] { return orElse(err, m) }))
	}}
}

// RepeatConfig says how RepeatWith goes on. Its zero value repeats for ever,
// without delay.
type RepeatConfig[A any] struct {
	// Schedule has the delays and may end the repeating; nil is ScheduleForever.
	Schedule AnySchedule
	// While repeats only after results that it accepts, Until only after those
	// that it does not. WhileEffect and UntilEffect ask an effect, whose failure
	// ends it. They are asked in this order, each result once, after Schedule.
	While       func(A) bool
	WhileEffect func(A) Effect[bool]
	Until       func(A) bool
	UntilEffect func(A) Effect[bool]
	// Times is the largest number of repetitions, looked at last; e runs once
	// more than that.
	Times mo.Option[int]
}

// RepeatWith is Repeat by options, and gives e's last result (TypeScript:
// Effect.repeat with options).
//
//go:noinline
func RepeatWith[A any](e Effect[A], o RepeatConfig[A]) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		var last A
		c := repeat(f, o.recurrence(), func(m ScheduleMetadata[any]) (any, *scope.Cause) {
			v, c := attempt(f, e, m)
			last = v
			return v, c
		})
		if c == nil {
			return value(last)
		}
		// As in Repeat: a handler that hands the failure on.
		if c, skip := f.Skips(c); skip {
			return failed[A](c)
		}
		err, rest, ok := c.Recoverable()
		if ok {
			rest = scope.CauseFail(err)
		}
		return again[A](rest)
	}}
}

// repeat is RepeatWith for results of any type.
func repeat(f *scope.Fiber, o recurrence, once func(ScheduleMetadata[any]) (any, *scope.Cause)) *scope.Cause {
	return f.Guard(func() *scope.Cause {
		r, c := o.plan().use(f)
		if c != nil {
			return c
		}
		var m ScheduleMetadata[any]
		for {
			v, c := once(m)
			if c != nil {
				return c
			}
			next, done, c := r.next(f, v)
			if c != nil || done {
				return c
			}
			m = next
		}
	})
}

func (o RepeatConfig[A]) recurrence[_ onUse]() recurrence {
	return recurrence{
		base: o.Schedule, times: o.Times,
		while: untyped(o.While), whileEffect: untyped(o.WhileEffect),
		until: untyped(o.Until), untilEffect: untyped(o.UntilEffect),
	}
}

func untyped[A, B any](fn func(A) B) func(any) B {
	if fn == nil {
		return nil
	}
	return func(v any) B { a, _ := v.(A); return fn(a) }
}
