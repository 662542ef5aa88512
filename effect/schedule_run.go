package effect

import (
	"time"

	"github.com/rivus/tether/scope"
)

// scheduleRun is one use of a schedule by a fiber.
type scheduleRun struct {
	step  stepper
	count scheduleCount
}

func (p plan) use(f *scope.Fiber) (*scheduleRun, *scope.Cause) {
	step, c := p.begin(f)
	return &scheduleRun{step: step}, c
}

// next makes one step and waits for its delay. done says that there is no
// recurrence; the metadata then has the final output only.
func (r *scheduleRun) next(f *scope.Fiber, input any) (m ScheduleMetadata[any], done bool, c *scope.Cause) {
	t := ScheduleTick{Now: f.Clock().Now(), Monotonic: f.Clock().Monotonic(), Input: input}
	d, c := r.step(f, t)
	if c != nil {
		return m, false, c
	}
	if d.Done {
		m.Output = d.Output
		return m, true, nil
	}
	m = metadata(r.count.advance(t), d)
	_, c = run(f, pause(d.Delay))
	return m, false, c
}

func pause(delay time.Duration) Effect[Unit] {
	if delay == endless {
		return Never[Unit]()
	}
	return Sleep(delay)
}

// attempt runs e with m as the current metadata.
func attempt[A any](f *scope.Fiber, e Effect[A], m ScheduleMetadata[any]) (A, *scope.Cause) {
	prev := f.Env()
	defer f.SetEnv(prev)
	if m.Attempt == 0 {
		m = noSchedule()
	}
	f.SetEnv(CurrentScheduleMetadata.In(prev, m))
	return guarded(f, e)
}

// Schedule runs e as s says: unlike Repeat, the first step of s, with a nil
// input, comes before the first run. It gives the final output of s.
func (e Effect[A]) Schedule[Out any](s Schedule[Out]) Effect[Out] {
	return scheduleFrom[A, Out](e, nil, s.plan)
}

// ScheduleFrom is Schedule with an input for the first step.
func (e Effect[A]) ScheduleFrom[Out any](initial A, s Schedule[Out]) Effect[Out] {
	return scheduleFrom[A, Out](e, initial, s.plan)
}

func scheduleFrom[A, Out any](e Effect[A], input any, p plan) Effect[Out] {
	return primitive(func(f *scope.Fiber) (Out, *scope.Cause) {
		var zero Out
		r, c := p.use(f)
		if c != nil {
			return zero, c
		}
		for input := input; ; {
			m, done, c := r.next(f, input)
			if c != nil {
				return zero, c
			}
			if done {
				return typed[Out](m).Output, nil
			}
			v, c := attempt(f, e, m)
			if c != nil {
				return zero, c
			}
			input = v
		}
	})
}

// ScheduleToStep starts a use of s and gives its step function. Steps must not
// run side by side (TypeScript: Schedule.toStep, where a step that is done fails
// with Done).
func ScheduleToStep[Out any](s Schedule[Out]) Effect[func(ScheduleTick) Effect[ScheduleDecision[Out]]] {
	return primitive(func(f *scope.Fiber) (func(ScheduleTick) Effect[ScheduleDecision[Out]], *scope.Cause) {
		step, c := s.plan.begin(f)
		return func(t ScheduleTick) Effect[ScheduleDecision[Out]] {
			return primitive(func(f *scope.Fiber) (ScheduleDecision[Out], *scope.Cause) {
				d, c := step(f, t)
				out, _ := d.Output.(Out)
				return ScheduleDecision[Out]{out, d.Delay, d.Done}, c
			})
		}, c
	})
}

// ScheduleToStepWithMetadata is ScheduleToStep that reads the runtime's clock
// and waits for the delay. It serves for toStepWithSleep too.
func ScheduleToStepWithMetadata[Out any](s Schedule[Out]) Effect[func(input any) Effect[ScheduleRecurrence[Out]]] {
	return primitive(func(f *scope.Fiber) (func(any) Effect[ScheduleRecurrence[Out]], *scope.Cause) {
		r, c := s.plan.use(f)
		return func(input any) Effect[ScheduleRecurrence[Out]] {
			return primitive(func(f *scope.Fiber) (ScheduleRecurrence[Out], *scope.Cause) {
				m, done, c := r.next(f, input)
				return ScheduleRecurrence[Out]{typed[Out](m), done}, c
			})
		}, c
	})
}

// ScheduleRecurrence is a step that has been waited for.
type ScheduleRecurrence[Out any] struct {
	ScheduleMetadata[Out]
	// Done: there is no recurrence, and Output is the final one.
	Done bool
}
