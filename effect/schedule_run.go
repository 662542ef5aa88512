package effect

import "github.com/rivus/tether/scope"

// scheduleRun is one use of a schedule by a fiber.
type scheduleRun[Out any] struct {
	step  stepper[Out]
	count scheduleCount
}

func (s Schedule[Out]) use[_ onUse](f *scope.Fiber) (*scheduleRun[Out], *scope.Cause) {
	step, c := s.begin(f)
	return &scheduleRun[Out]{step: step}, c
}

// next makes one step and waits for its delay. done says that there is no
// recurrence; the metadata then has the final output only.
func (r *scheduleRun[Out]) next[_ onUse](f *scope.Fiber, input any) (m ScheduleMetadata[Out], done bool, c *scope.Cause) {
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
	_, c = run(f, pause(d))
	return m, false, c
}

func pause[Out any](d ScheduleDecision[Out]) Effect[Unit] {
	if d.Delay == endless {
		return Never[Unit]()
	}
	return Sleep(d.Delay)
}

// attempt runs e with m as the current metadata.
func attempt[A, Out any](f *scope.Fiber, e Effect[A], m ScheduleMetadata[Out]) (A, *scope.Cause) {
	prev := f.Env()
	defer f.SetEnv(prev)
	f.SetEnv(CurrentScheduleMetadata.In(prev, m.erased()))
	return guarded(f, e)
}

// Schedule runs e as s says: unlike Repeat, the first step of s, with a nil
// input, comes before the first run. It gives the final output of s.
func (e Effect[A]) Schedule[Out any](s Schedule[Out]) Effect[Out] { return scheduleFrom(e, nil, s) }

// ScheduleFrom is Schedule with an input for the first step.
func (e Effect[A]) ScheduleFrom[Out any](initial A, s Schedule[Out]) Effect[Out] {
	return scheduleFrom(e, initial, s)
}

func scheduleFrom[A, Out any](e Effect[A], input any, s Schedule[Out]) Effect[Out] {
	return primitive(func(f *scope.Fiber) (Out, *scope.Cause) {
		var zero Out
		r, c := s.use(f)
		if c != nil {
			return zero, c
		}
		for input := input; ; {
			m, done, c := r.next(f, input)
			if c != nil {
				return zero, c
			}
			if done {
				return m.Output, nil
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
		step, c := s.begin(f)
		return func(t ScheduleTick) Effect[ScheduleDecision[Out]] {
			return primitive(func(f *scope.Fiber) (ScheduleDecision[Out], *scope.Cause) { return step(f, t) })
		}, c
	})
}

// ScheduleToStepWithMetadata is ScheduleToStep that reads the runtime's clock
// and waits for the delay. It serves for toStepWithSleep too.
func ScheduleToStepWithMetadata[Out any](s Schedule[Out]) Effect[func(input any) Effect[ScheduleRecurrence[Out]]] {
	return primitive(func(f *scope.Fiber) (func(any) Effect[ScheduleRecurrence[Out]], *scope.Cause) {
		r, c := s.use(f)
		return func(input any) Effect[ScheduleRecurrence[Out]] {
			return primitive(func(f *scope.Fiber) (ScheduleRecurrence[Out], *scope.Cause) {
				m, done, c := r.next(f, input)
				return ScheduleRecurrence[Out]{m, done}, c
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
