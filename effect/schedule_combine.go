package effect

import (
	"time"

	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// Concat goes on with next when s is done. The step that finds s done is next's
// first.
func (s Schedule[Out]) Concat[_ onUse](next Schedule[Out]) Schedule[Out] {
	return Schedule[Out]{s.plan.concat(next.plan)}
}

func (p plan) concat(next plan) plan {
	return p.around(func(step stepper) stepper {
		switched := false
		return func(f *scope.Fiber, t ScheduleTick) (ScheduleDecision[any], *scope.Cause) {
			d, c := step(f, t)
			if c != nil || !d.Done || switched {
				return d, c
			}
			second, c := next.begin(f)
			if c != nil {
				return d, c
			}
			step, switched = second, true
			return step(f, t)
		}
	})
}

// ScheduleConcatResult is Concat for two types of output: Left from the first
// schedule, Right from the second.
func ScheduleConcatResult[A, B any](s Schedule[A], next Schedule[B]) Schedule[mo.Either[A, B]] {
	left := s.Map(func(m ScheduleMetadata[A]) mo.Either[A, B] { return mo.Left[A, B](m.Output) })
	return left.Concat(next.Map(func(m ScheduleMetadata[B]) mo.Either[A, B] { return mo.Right[A, B](m.Output) }))
}

// ScheduleMax recurs as long as all of the schedules do, with the longest of
// their delays. Its output is that delay, and 0 when it is done.
func ScheduleMax(first AnySchedule, more ...AnySchedule) Schedule[time.Duration] {
	return merged(first, more, func(all combined) (time.Duration, bool) { return all.longest, all.recurring < all.of })
}

// ScheduleMin recurs as long as any of the schedules does, with the shortest of
// their delays. Its output is that delay, and 0 when it is done.
func ScheduleMin(first AnySchedule, more ...AnySchedule) Schedule[time.Duration] {
	return merged(first, more, func(all combined) (time.Duration, bool) { return all.shortest, all.recurring == 0 })
}

// combined is what several schedules answered to one tick.
type combined struct {
	of, recurring     int
	shortest, longest time.Duration
}

func (all combined) and(delay time.Duration, done bool) combined {
	all.of++
	if done {
		return all
	}
	if all.recurring == 0 {
		all.shortest, all.longest = delay, delay
	}
	all.recurring++
	all.shortest, all.longest = min(all.shortest, delay), max(all.longest, delay)
	return all
}

// merged steps every schedule each time, those that are done too.
func merged(first AnySchedule, more []AnySchedule, decide func(combined) (delay time.Duration, done bool)) Schedule[time.Duration] {
	plans := make([]plan, 0, 1+len(more))
	plans = append(plans, first.untyped())
	for _, s := range more {
		plans = append(plans, s.untyped())
	}
	return Schedule[time.Duration]{plan{func(f *scope.Fiber) (stepper, *scope.Cause) {
		steps := make([]stepper, len(plans))
		for i, p := range plans {
			var c *scope.Cause
			if steps[i], c = p.begin(f); c != nil {
				return nil, c
			}
		}
		return func(f *scope.Fiber, t ScheduleTick) (ScheduleDecision[any], *scope.Cause) {
			var all combined
			for _, step := range steps {
				d, c := step(f, t)
				if c != nil {
					return ScheduleDecision[any]{}, c
				}
				all = all.and(d.Delay, d.Done)
			}
			delay, done := decide(all)
			if done {
				return ScheduleDecision[any]{Output: time.Duration(0), Done: true}, nil
			}
			return ScheduleDecision[any]{Output: delay, Delay: delay}, nil
		}, nil
	}}}
}
