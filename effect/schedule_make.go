package effect

import (
	"math"
	"time"
)

// ScheduleForever recurs for ever, without delay. Its output counts from 0.
func ScheduleForever() Schedule[int] { return ScheduleSpaced(0) }

// ScheduleRecurs recurs n times, without delay. Its output counts from 0. A run
// under it takes place at most n+1 times.
func ScheduleRecurs(n int) Schedule[int] {
	return ScheduleForever().While(func(m ScheduleMetadata[int]) bool { return m.Attempt <= n })
}

// ScheduleOnce recurs once, without delay.
func ScheduleOnce() Schedule[Unit] {
	return ScheduleRecurs(1).Map(func(ScheduleMetadata[int]) Unit { return Unit{} })
}

// ScheduleIdentity recurs for ever, without delay; its output is its input.
func ScheduleIdentity() Schedule[any] {
	return ScheduleFromStep(func() func(ScheduleTick) ScheduleDecision[any] {
		return func(t ScheduleTick) ScheduleDecision[any] { return ScheduleDecision[any]{Output: t.Input} }
	})
}

// ScheduleSpaced recurs for ever, d after the end of the run before. Its output
// counts from 0.
func ScheduleSpaced(d time.Duration) Schedule[int] {
	return counting(func(ScheduleInput) time.Duration { return d })
}

// ScheduleWindowed recurs for ever, at the next multiple of interval since the
// first step; a run that takes longer misses those in between. Its output
// counts from 0.
func ScheduleWindowed(interval time.Duration) Schedule[int] {
	return counting(func(in ScheduleInput) time.Duration { return untilWindow(interval, in.Elapsed) })
}

// untilWindow is the time until the next multiple of interval, never 0: on a
// boundary it is a whole interval.
func untilWindow(interval, elapsed time.Duration) time.Duration {
	if interval <= 0 {
		return 0
	}
	return interval - elapsed%interval
}

// ScheduleFixed recurs for ever, at multiples of interval since the first step.
// After a run that took longer than interval the next follows at once, one
// time; missed ones do not pile up. Its output counts from 0.
func ScheduleFixed(interval time.Duration) Schedule[int] {
	return ScheduleFromStepWithMetadata(func() func(ScheduleInput) ScheduleDecision[int] {
		at := fixedRate{interval: interval}
		return func(in ScheduleInput) (d ScheduleDecision[int]) {
			d.Output = in.Attempt - 1
			at, d.Delay = at.next(in.Elapsed)
			return d
		}
	})
}

// fixedRate is the state of ScheduleFixed. due is when the run before should
// have begun.
type fixedRate struct {
	interval, due time.Duration
	started       bool
}

func (r fixedRate) next(elapsed time.Duration) (fixedRate, time.Duration) {
	if r.interval <= 0 {
		return r, 0
	}
	delay := untilWindow(r.interval, elapsed)
	if behind := r.started && elapsed > r.due+r.interval; behind {
		delay = 0
	}
	r.started, r.due = true, elapsed+delay
	return r, delay
}

// ScheduleExponential recurs for ever with delays that begin with base and grow
// by factor (2 is usual). Its output is the delay. A delay too long for a
// time.Duration waits for ever.
func ScheduleExponential(base time.Duration, factor float64) Schedule[time.Duration] {
	return delaying(func(in ScheduleInput) time.Duration {
		return nanoseconds(float64(base) * math.Pow(factor, float64(in.Attempt-1)))
	})
}

// ScheduleFibonacci recurs for ever with delays of one, one, then each the sum
// of the two before. Its output is the delay.
func ScheduleFibonacci(one time.Duration) Schedule[time.Duration] {
	return ScheduleFromStep(func() func(ScheduleTick) ScheduleDecision[time.Duration] {
		before, now := time.Duration(0), one
		return func(ScheduleTick) ScheduleDecision[time.Duration] {
			d := ScheduleDecision[time.Duration]{Output: now, Delay: now}
			before, now = now, addDurations(before, now)
			return d
		}
	})
}

// ScheduleDuration recurs once, after d. Its output is d, and 0 when it is done.
func ScheduleDuration(d time.Duration) Schedule[time.Duration] {
	return ScheduleFromStepWithMetadata(func() func(ScheduleInput) ScheduleDecision[time.Duration] {
		return func(in ScheduleInput) ScheduleDecision[time.Duration] {
			if in.Attempt > 1 {
				return ScheduleDecision[time.Duration]{Done: true}
			}
			return ScheduleDecision[time.Duration]{Output: d, Delay: d}
		}
	})
}

// ScheduleDuring recurs without delay until more than d has passed since the
// first step. Its output is the time that has passed.
func ScheduleDuring(d time.Duration) Schedule[time.Duration] {
	return ScheduleFromStepWithMetadata(func() func(ScheduleInput) ScheduleDecision[time.Duration] {
		return func(in ScheduleInput) ScheduleDecision[time.Duration] {
			return ScheduleDecision[time.Duration]{Output: in.Elapsed, Done: in.Elapsed > d}
		}
	})
}

// counting is an endless schedule that counts.
func counting(delay func(ScheduleInput) time.Duration) Schedule[int] {
	return ScheduleFromStepWithMetadata(func() func(ScheduleInput) ScheduleDecision[int] {
		return func(in ScheduleInput) ScheduleDecision[int] {
			return ScheduleDecision[int]{Output: in.Attempt - 1, Delay: delay(in)}
		}
	})
}

// delaying is an endless schedule that gives its delays.
func delaying(delay func(ScheduleInput) time.Duration) Schedule[time.Duration] {
	return ScheduleFromStepWithMetadata(func() func(ScheduleInput) ScheduleDecision[time.Duration] {
		return func(in ScheduleInput) ScheduleDecision[time.Duration] {
			d := delay(in)
			return ScheduleDecision[time.Duration]{Output: d, Delay: d}
		}
	})
}

// endless is the delay that is never over.
const endless time.Duration = math.MaxInt64

// nanoseconds is ns as a duration; what is too long is endless.
func nanoseconds(ns float64) time.Duration {
	switch {
	case math.IsNaN(ns):
		return 0
	case ns >= float64(endless):
		return endless
	case ns <= math.MinInt64:
		return math.MinInt64
	}
	return time.Duration(math.Round(ns))
}

func addDurations(a, b time.Duration) time.Duration {
	if a > 0 && b > endless-a {
		return endless
	}
	return a + b
}
