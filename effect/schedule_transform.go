package effect

import (
	"time"

	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// Map replaces the output, the final one included (its Delay is then 0).
func (s Schedule[Out]) Map[B any](fn func(ScheduleMetadata[Out]) B) Schedule[B] {
	return Schedule[B]{s.plan.mapped(func(_ *scope.Fiber, m ScheduleMetadata[any]) (any, *scope.Cause) {
		return fn(typed[Out](m)), nil
	})}
}

// MapEffect is Map by an effect. Its failure is the schedule's.
func (s Schedule[Out]) MapEffect[B any](fn func(ScheduleMetadata[Out]) Effect[B]) Schedule[B] {
	return Schedule[B]{s.plan.mapped(func(f *scope.Fiber, m ScheduleMetadata[any]) (any, *scope.Cause) {
		return run(f, fn(typed[Out](m)))
	})}
}

//go:noinline
func (p plan) mapped(fn func(*scope.Fiber, ScheduleMetadata[any]) (any, *scope.Cause)) plan {
	return p.around(func(step stepper) stepper {
		var count scheduleCount
		return func(f *scope.Fiber, t ScheduleTick) (ScheduleDecision[any], *scope.Cause) {
			d, c := step(f, t)
			if c != nil {
				return d, c
			}
			if d.Done {
				d.Delay = 0
			}
			d.Output, c = fn(f, metadata(count.advance(t), d))
			return d, c
		}
	})
}

// deciding looks at every step that recurs and may change the decision.
//
//go:noinline
func (p plan) deciding(look func(*scope.Fiber, ScheduleMetadata[any], *ScheduleDecision[any]) *scope.Cause) plan {
	return p.around(func(step stepper) stepper {
		var count scheduleCount
		return func(f *scope.Fiber, t ScheduleTick) (ScheduleDecision[any], *scope.Cause) {
			d, c := step(f, t)
			if c != nil || d.Done {
				return d, c
			}
			return d, look(f, metadata(count.advance(t), d), &d)
		}
	})
}

//go:noinline
func (p plan) while(keep func(ScheduleMetadata[any]) bool) plan {
	return p.deciding(func(_ *scope.Fiber, m ScheduleMetadata[any], d *ScheduleDecision[any]) *scope.Cause {
		d.Done = !keep(m)
		return nil
	})
}

//go:noinline
func (p plan) whileEffect(keep func(ScheduleMetadata[any]) Effect[bool]) plan {
	return p.deciding(func(f *scope.Fiber, m ScheduleMetadata[any], d *ScheduleDecision[any]) *scope.Cause {
		ok, c := run(f, keep(m))
		d.Done = !ok
		return c
	})
}

// While is done, with the output at hand, as soon as keep answers false. A
// schedule that is done by itself is not asked.
func (s Schedule[Out]) While[_ onUse](keep func(ScheduleMetadata[Out]) bool) Schedule[Out] {
	return Schedule[Out]{s.plan.while(func(m ScheduleMetadata[any]) bool { return keep(typed[Out](m)) })}
}

// WhileEffect is While by an effect. Its failure is the schedule's.
func (s Schedule[Out]) WhileEffect[_ onUse](keep func(ScheduleMetadata[Out]) Effect[bool]) Schedule[Out] {
	return Schedule[Out]{s.plan.whileEffect(func(m ScheduleMetadata[any]) Effect[bool] { return keep(typed[Out](m)) })}
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
	return Schedule[Out]{upTo(s.plan, limit)}
}

// upTo is no method of plan: what those name is compiled with every schedule.
func upTo(p plan, limit ScheduleLimit) plan {
	return p.while(func(m ScheduleMetadata[any]) bool {
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
	return Schedule[Out]{s.plan.deciding(func(f *scope.Fiber, m ScheduleMetadata[any], _ *ScheduleDecision[any]) *scope.Cause {
		_, c := run(f, fn(typed[Out](m)))
		return c
	})}
}

// ModifyDelay replaces the delay. The output stays, even where it is the delay.
func (s Schedule[Out]) ModifyDelay[_ onUse](fn func(ScheduleMetadata[Out]) time.Duration) Schedule[Out] {
	return Schedule[Out]{s.plan.deciding(func(_ *scope.Fiber, m ScheduleMetadata[any], d *ScheduleDecision[any]) *scope.Cause {
		d.Delay = fn(typed[Out](m))
		return nil
	})}
}

// ModifyDelayEffect is ModifyDelay by an effect. Its failure is the schedule's.
func (s Schedule[Out]) ModifyDelayEffect[_ onUse](fn func(ScheduleMetadata[Out]) Effect[time.Duration]) Schedule[Out] {
	return Schedule[Out]{s.plan.deciding(func(f *scope.Fiber, m ScheduleMetadata[any], d *ScheduleDecision[any]) (c *scope.Cause) {
		d.Delay, c = run(f, fn(typed[Out](m)))
		return c
	})}
}

// AddDelay makes the delay longer. The output stays.
func (s Schedule[Out]) AddDelay[_ onUse](fn func(ScheduleMetadata[Out]) time.Duration) Schedule[Out] {
	return s.ModifyDelay(func(m ScheduleMetadata[Out]) time.Duration { return addDurations(m.Delay, fn(m)) })
}

// AddDelayEffect is AddDelay by an effect. Its failure is the schedule's.
func (s Schedule[Out]) AddDelayEffect[_ onUse](fn func(ScheduleMetadata[Out]) Effect[time.Duration]) Schedule[Out] {
	return Schedule[Out]{s.plan.deciding(func(f *scope.Fiber, m ScheduleMetadata[any], d *ScheduleDecision[any]) *scope.Cause {
		more, c := run(f, fn(typed[Out](m)))
		d.Delay = addDurations(m.Delay, more)
		return c
	})}
}

// Jittered multiplies each delay by a random number from 0.8 to 1.2, drawn from
// Random. The output stays.
func (s Schedule[Out]) Jittered[_ onUse]() Schedule[Out] {
	return Schedule[Out]{s.plan.jittered()}
}

func (p plan) jittered() plan {
	return p.deciding(func(f *scope.Fiber, m ScheduleMetadata[any], d *ScheduleDecision[any]) *scope.Cause {
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
	return Schedule[any]{s.plan.passthrough()}
}

func (p plan) passthrough() plan {
	return p.mapped(func(_ *scope.Fiber, m ScheduleMetadata[any]) (any, *scope.Cause) { return m.Input, nil })
}
