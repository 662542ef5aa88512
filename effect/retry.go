package effect

import (
	"slices"

	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// Retry runs e again, as s says, as long as it fails with an expected failure,
// which is the input of s. When s is done, the last failure is the result. A
// defect or an interruption ends it at once.
//
//go:noinline
func (e Effect[A]) Retry[Out any](s Schedule[Out]) Effect[A] {
	return e.RetryOrElse(s, func(err error, _ Out) Effect[A] { return Fail[A](err) })
}

// RetryOrElse is Retry that goes on with what orElse makes of the last failure
// and the schedule's final output.
//
//go:noinline
func (e Effect[A]) RetryOrElse[Out any](s Schedule[Out], orElse func(err error, out Out) Effect[A]) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		r, c := s.plan.use(f)
		if c != nil {
			return failed[A](c)
		}
		var m ScheduleMetadata[any]
		for {
			v, c := attempt(f, e, m)
			if c == nil {
				return value(v)
			}
			if c, skip := f.Skips(c); skip {
				return failed[A](c)
			}
			err, rest, ok := c.Recoverable()
			if !ok {
				return again[A](withoutDone(rest))
			}
			next, done, c := r.next(f, err)
			if c != nil {
				return failed[A](c)
			}
			if done {
				return then(orElse(err, typed[Out](next).Output))
			}
			m = next
		}
	}}
}

// withoutDone is c without the signals that a source was at its end: TypeScript
// looks for its own schedule's among them, and drops them beside a defect.
//
//go:noinline
func withoutDone(c *scope.Cause) *scope.Cause {
	return scope.CauseFromReasons(slices.DeleteFunc(slices.Clone(c.Reasons()), func(r scope.Reason) bool {
		fail, ok := r.(scope.Fail)
		return ok && scope.IsDone(fail.Err)
	})...)
}

// RetryConfig says how RetryWith goes on. Its zero value retries for ever,
// without delay.
type RetryConfig struct {
	// Schedule has the delays and may end the retrying; nil is ScheduleForever.
	Schedule AnySchedule
	// While retries only failures that it accepts, Until only those that it does
	// not. WhileEffect and UntilEffect ask an effect, whose failure ends it. They
	// are asked in this order, each failure once, after Schedule.
	While       func(error) bool
	WhileEffect func(error) Effect[bool]
	Until       func(error) bool
	UntilEffect func(error) Effect[bool]
	// Times is the largest number of retries, looked at last; e runs once more
	// than that.
	Times mo.Option[int]
}

// RetryWith is Retry by options (TypeScript: Effect.retry with options).
func RetryWith[A any](e Effect[A], o RetryConfig) Effect[A] { return e.Retry(o.schedule()) }

func (o RetryConfig) schedule() Schedule[any] {
	return Schedule[any]{RepeatConfig[error](o).recurrence().plan()}
}

// recurrence is what the options of Retry and Repeat have in common.
type recurrence struct {
	base                     AnySchedule
	while, until             func(any) bool
	whileEffect, untilEffect func(any) Effect[bool]
	times                    mo.Option[int]
}

// plan gives the input as its output.
func (o recurrence) plan() plan {
	if o.base == nil {
		o.base = ScheduleForever()
	}
	p := o.base.untyped().passthrough()
	if keep := o.while; keep != nil {
		p = p.while(func(m ScheduleMetadata[any]) bool { return keep(m.Input) })
	}
	if keep := o.whileEffect; keep != nil {
		p = p.whileEffect(func(m ScheduleMetadata[any]) Effect[bool] { return keep(m.Input) })
	}
	if stop := o.until; stop != nil {
		p = p.while(func(m ScheduleMetadata[any]) bool { return !stop(m.Input) })
	}
	if stop := o.untilEffect; stop != nil {
		p = p.whileEffect(func(m ScheduleMetadata[any]) Effect[bool] {
			return stop(m.Input).Map(func(b bool) bool { return !b })
		})
	}
	if times, ok := o.times.Get(); ok {
		p = p.while(func(m ScheduleMetadata[any]) bool { return m.Attempt <= times })
	}
	return p
}
