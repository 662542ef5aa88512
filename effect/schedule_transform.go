package effect

import (
	"time"

	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// Map replaces the output, the final one included (its Delay is then 0).
func (s Schedule[Out]) Map[B any](fn func(ScheduleMetadata[Out]) B) Schedule[B] {
	return mapped(s, func(_ *scope.Fiber, m ScheduleMetadata[Out]) (B, *scope.Cause) { return fn(m), nil })
}

// MapEffect is Map by an effect. Its failure is the schedule's.
func (s Schedule[Out]) MapEffect[B any](fn func(ScheduleMetadata[Out]) Effect[B]) Schedule[B] {
	return mapped(s, func(f *scope.Fiber, m ScheduleMetadata[Out]) (B, *scope.Cause) { return run(f, fn(m)) })
}

func mapped[Out, B any](s Schedule[Out], fn func(*scope.Fiber, ScheduleMetadata[Out]) (B, *scope.Cause)) Schedule[B] {
	return around(s, func(step stepper[Out]) stepper[B] {
		var count scheduleCount
		return func(f *scope.Fiber, t ScheduleTick) (out ScheduleDecision[B], c *scope.Cause) {
			d, c := step(f, t)
			if c != nil {
				return out, c
			}
			if d.Done {
				d.Delay = 0
			}
			out.Delay, out.Done = d.Delay, d.Done
			out.Output, c = fn(f, metadata(count.advance(t), d))
			return out, c
		}
	})
}

// deciding looks at every step that recurs and may change the decision.
func (s Schedule[Out]) deciding[_ onUse](look func(*scope.Fiber, ScheduleMetadata[Out], *ScheduleDecision[Out]) *scope.Cause) Schedule[Out] {
	return around(s, func(step stepper[Out]) stepper[Out] {
		var count scheduleCount
		return func(f *scope.Fiber, t ScheduleTick) (ScheduleDecision[Out], *scope.Cause) {
			d, c := step(f, t)
			if c != nil || d.Done {
				return d, c
			}
			return d, look(f, metadata(count.advance(t), d), &d)
		}
	})
}

// While is done, with the output at hand, as soon as keep answers false. A
// schedule that is done by itself is not asked.
func (s Schedule[Out]) While[_ onUse](keep func(ScheduleMetadata[Out]) bool) Schedule[Out] {
	return s.deciding(func(_ *scope.Fiber, m ScheduleMetadata[Out], d *ScheduleDecision[Out]) *scope.Cause {
		d.Done = !keep(m)
		return nil
	})
}

// WhileEffect is While by an effect. Its failure is the schedule's.
func (s Schedule[Out]) WhileEffect[_ onUse](keep func(ScheduleMetadata[Out]) Effect[bool]) Schedule[Out] {
	return s.deciding(func(f *scope.Fiber, m ScheduleMetadata[Out], d *ScheduleDecision[Out]) *scope.Cause {
		ok, c := run(f, keep(m))
		d.Done = !ok
		return c
	})
}

// ScheduleLimit is what UpTo sets.
type ScheduleLimit struct {
	// Times is the largest number of recurrences.
	Times mo.Option[int]
	// Duration is the time since the first step after which there are no more.
	Duration mo.Option[time.Duration]
}

// UpTo is done when a limit is passed, whichever is first.
func (s Schedule[Out]) UpTo[_ onUse](limit ScheduleLimit) Schedule[Out] {
	return s.While(func(m ScheduleMetadata[Out]) bool {
		if times, ok := limit.Times.Get(); ok && m.Attempt > times {
			return false
		}
		d, ok := limit.Duration.Get()
		return !ok || m.Elapsed <= d
	})
}

// Tap runs an effect for every step that recurs, before its delay. Its failure
// is the schedule's.
func (s Schedule[Out]) Tap[X any](fn func(ScheduleMetadata[Out]) Effect[X]) Schedule[Out] {
	return s.deciding(func(f *scope.Fiber, m ScheduleMetadata[Out], _ *ScheduleDecision[Out]) *scope.Cause {
		_, c := run(f, fn(m))
		return c
	})
}

// ModifyDelay replaces the delay. The output stays, even where it is the delay.
func (s Schedule[Out]) ModifyDelay[_ onUse](fn func(ScheduleMetadata[Out]) time.Duration) Schedule[Out] {
	return s.deciding(func(_ *scope.Fiber, m ScheduleMetadata[Out], d *ScheduleDecision[Out]) *scope.Cause {
		d.Delay = fn(m)
		return nil
	})
}

// ModifyDelayEffect is ModifyDelay by an effect. Its failure is the schedule's.
func (s Schedule[Out]) ModifyDelayEffect[_ onUse](fn func(ScheduleMetadata[Out]) Effect[time.Duration]) Schedule[Out] {
	return s.deciding(func(f *scope.Fiber, m ScheduleMetadata[Out], d *ScheduleDecision[Out]) (c *scope.Cause) {
		d.Delay, c = run(f, fn(m))
		return c
	})
}

// AddDelay makes the delay longer. The output stays.
func (s Schedule[Out]) AddDelay[_ onUse](fn func(ScheduleMetadata[Out]) time.Duration) Schedule[Out] {
	return s.ModifyDelay(func(m ScheduleMetadata[Out]) time.Duration { return addDurations(m.Delay, fn(m)) })
}

// AddDelayEffect is AddDelay by an effect. Its failure is the schedule's.
func (s Schedule[Out]) AddDelayEffect[_ onUse](fn func(ScheduleMetadata[Out]) Effect[time.Duration]) Schedule[Out] {
	return s.deciding(func(f *scope.Fiber, m ScheduleMetadata[Out], d *ScheduleDecision[Out]) *scope.Cause {
		more, c := run(f, fn(m))
		d.Delay = addDurations(m.Delay, more)
		return c
	})
}

// Jittered multiplies each delay by a random number from 0.8 to 1.2, drawn from
// Random. The output stays.
func (s Schedule[Out]) Jittered[_ onUse]() Schedule[Out] {
	return s.deciding(func(f *scope.Fiber, m ScheduleMetadata[Out], d *ScheduleDecision[Out]) *scope.Cause {
		d.Delay = jitter(m.Delay, unit64(randomSource(f)))
		return nil
	})
}

// jitter is the delay for a draw from [0, 1).
func jitter(delay time.Duration, draw float64) time.Duration {
	if delay == endless {
		return endless
	}
	return nanoseconds(float64(delay)*0.8*(1-draw) + float64(delay)*1.2*draw)
}

// Passthrough replaces the output by the input, the final one included.
func (s Schedule[Out]) Passthrough[_ onUse]() Schedule[any] {
	return s.Map(func(m ScheduleMetadata[Out]) any { return m.Input })
}
