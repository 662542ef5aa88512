package effect

import (
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// Repeat runs e, then again as s says, as long as it succeeds; each result is
// the input of s. It gives the final output of s. A failure of e ends it.
func (e Effect[A]) Repeat[Out any](s Schedule[Out]) Effect[Out] {
	return e.RepeatOrElse(s, func(err error, _ mo.Option[ScheduleMetadata[Out]]) Effect[Out] { return Fail[Out](err) })
}

// RepeatOrElse is Repeat that goes on with what orElse makes of an expected
// failure, of e or of s, and of the last step; none before the first.
func (e Effect[A]) RepeatOrElse[Out any](s Schedule[Out], orElse func(err error, last mo.Option[ScheduleMetadata[Out]]) Effect[Out]) Effect[Out] {
	return Effect[Out]{step: func(f *scope.Fiber) (Out, *scope.Cause, Effect[Out]) {
		r, c := s.use(f)
		if c != nil {
			return failed[Out](c)
		}
		var m ScheduleMetadata[Out]
		looped := primitive(func(f *scope.Fiber) (Out, *scope.Cause) {
			var zero Out
			for {
				v, c := attempt(f, e, m)
				if c != nil {
					return zero, c
				}
				next, done, c := r.next(f, v)
				if c != nil {
					return zero, c
				}
				if done {
					return next.Output, nil
				}
				m = next
			}
		})
		return then(looped.Catch(func(err error) Effect[Out] {
			if m.Attempt == 0 {
				return orElse(err, mo.None[ScheduleMetadata[Out]]())
			}
			return orElse(err, mo.Some(m))
		}))
	}}
}

// RepeatOptions says how RepeatWith goes on. Its zero value repeats for ever,
// without delay.
type RepeatOptions[A any] struct {
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
// Effect.repeat with options). The schedule inside is untyped: one for each A
// would be compiled with every Effect type of a program.
func (e Effect[A]) RepeatWith(o RepeatOptions[A]) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		r, c := o.recurrence().schedule().use(f)
		if c != nil {
			return failed[A](c)
		}
		looped := primitive(func(f *scope.Fiber) (A, *scope.Cause) {
			var m ScheduleMetadata[any]
			var zero A
			for {
				v, c := attempt(f, e, m)
				if c != nil {
					return zero, c
				}
				next, done, c := r.next(f, v)
				if c != nil {
					return zero, c
				}
				if done {
					return v, nil
				}
				m = next
			}
		})
		// As in Repeat: a handler that hands the failure on.
		return then(looped.Catch(Fail[A]))
	}}
}

func (o RepeatOptions[A]) recurrence() recurrence {
	out := recurrence{base: o.Schedule, times: o.Times}
	if o.While != nil {
		out.while = func(v any) bool { a, _ := v.(A); return o.While(a) }
	}
	if o.WhileEffect != nil {
		out.whileEffect = func(v any) Effect[bool] { a, _ := v.(A); return o.WhileEffect(a) }
	}
	if o.Until != nil {
		out.until = func(v any) bool { a, _ := v.(A); return o.Until(a) }
	}
	if o.UntilEffect != nil {
		out.untilEffect = func(v any) Effect[bool] { a, _ := v.(A); return o.UntilEffect(a) }
	}
	return out
}
