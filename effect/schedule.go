package effect

import (
	"time"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
)

// Schedule says when something recurs, and for how long it goes on recurring:
// each step looks at an input (Retry's failure, Repeat's result) and answers a
// delay and an output, or that it is done. It is an immutable value; each use
// starts it afresh, so one schedule serves any number of fibers.
//
// Inputs are untyped: what looks at them (While, Map, Tap) finds them in the
// metadata. Delays are measured on the runtime's monotonic clock; only
// ScheduleCron looks at the wall clock.
//
// The zero Schedule is no schedule: using it is a defect.
type Schedule[Out any] struct{ plan plan }

// plan is a schedule without the type of its output, an Out as an any: what is done
// with schedules is compiled once, and not for each Out of a program. It is no
// embedded field, or all its methods would be compiled again as the Schedule's.
type plan struct {
	// start makes the state of one use. Its cause is an interruption.
	start func(f *scope.Fiber) (stepper, *scope.Cause)
}

// stepper is a schedule in use. f is for steps that run effects; the pure ones,
// which are all but those with a callback that gives an effect, ignore it.
type stepper func(f *scope.Fiber, t ScheduleTick) (ScheduleDecision[any], *scope.Cause)

// AnySchedule is a schedule whose output does not matter.
type AnySchedule interface{ untyped() plan }

func (s Schedule[Out]) untyped() plan { return s.plan }

// ScheduleTick is what one step of a schedule is given.
type ScheduleTick struct {
	// Now is the wall-clock time.
	Now time.Time
	// Monotonic is the clock's monotonic time; delays are reckoned with it.
	Monotonic time.Duration
	// Input is the failure (Retry) or the result (Repeat) that came before.
	Input any
}

// ScheduleDecision is what one step of a schedule answers.
type ScheduleDecision[Out any] struct {
	// Output is the schedule's output, the final one when it is done.
	Output Out
	// Delay is how long to wait before the recurrence. One that is not positive
	// lets other fibers run, and the longest duration there is waits for ever.
	Delay time.Duration
	// Done ends the schedule: there is no recurrence.
	Done bool
}

// ScheduleInput tells where in its run a schedule is (TypeScript:
// Schedule.InputMetadata).
type ScheduleInput struct {
	// Input is the failure (Retry) or the result (Repeat) that came before.
	Input any
	// Attempt counts the steps, from 1.
	Attempt int
	// Start and Now are the wall-clock times of the first step and of this one.
	Start, Now time.Time
	// Elapsed is the monotonic time since the first step, SincePrevious since
	// the step before (TypeScript: elapsedSincePrevious).
	Elapsed, SincePrevious time.Duration
}

// ScheduleMetadata is a step with what the schedule answered (TypeScript:
// Schedule.Metadata).
type ScheduleMetadata[Out any] struct {
	ScheduleInput
	Output Out
	// Delay is the wait before the recurrence (TypeScript: duration).
	Delay time.Duration
}

// typed gives the output its type back.
func typed[Out any](m ScheduleMetadata[any]) ScheduleMetadata[Out] {
	out, _ := m.Output.(Out)
	return ScheduleMetadata[Out]{ScheduleInput: m.ScheduleInput, Output: out, Delay: m.Delay}
}

func (d ScheduleDecision[Out]) untyped[_ onUse]() ScheduleDecision[any] {
	return ScheduleDecision[any]{d.Output, d.Delay, d.Done}
}

// CurrentScheduleMetadata is the step that led to the run at hand, for effects
// under Retry, Repeat and Schedule; its Attempt is 0 in the first run and
// outside (TypeScript: Schedule.CurrentMetadata).
var CurrentScheduleMetadata = NewReference("Schedule/CurrentMetadata", noSchedule)

// noSchedule is the metadata of a run that no step led to. Its times are the epoch, as
// in TypeScript, and not Go's zero time.
func noSchedule() (m ScheduleMetadata[any]) {
	m.Start, m.Now = time.UnixMilli(0).UTC(), time.UnixMilli(0).UTC()
	return m
}

// scheduleCount derives metadata from ticks. Every constructor and combinator
// that needs metadata has one of its own: a schedule that begins in the middle,
// as the second of a Concat does, counts from there.
type scheduleCount struct {
	attempt         int
	start           time.Time
	first, previous time.Duration
}

func (c scheduleCount) next(t ScheduleTick) (scheduleCount, ScheduleInput) {
	if c.attempt == 0 {
		c.start, c.first, c.previous = t.Now, t.Monotonic, t.Monotonic
	}
	c.attempt++
	in := ScheduleInput{
		Input: t.Input, Attempt: c.attempt, Start: c.start, Now: t.Now,
		Elapsed: t.Monotonic - c.first, SincePrevious: t.Monotonic - c.previous,
	}
	c.previous = t.Monotonic
	return c, in
}

func (c *scheduleCount) advance(t ScheduleTick) (in ScheduleInput) {
	*c, in = c.next(t)
	return in
}

func metadata(in ScheduleInput, d ScheduleDecision[any]) ScheduleMetadata[any] {
	return ScheduleMetadata[any]{ScheduleInput: in, Output: d.Output, Delay: d.Delay}
}

// ScheduleFromStep is a schedule of one's own. start is called once for each
// use and makes the step function, which keeps the use's state. Steps are
// called one after the other, and must be pure otherwise (TypeScript:
// Schedule.fromStep).
func ScheduleFromStep[Out any](start func() func(ScheduleTick) ScheduleDecision[Out]) Schedule[Out] {
	return Schedule[Out]{plan{func(*scope.Fiber) (stepper, *scope.Cause) {
		step := start()
		return func(_ *scope.Fiber, t ScheduleTick) (ScheduleDecision[any], *scope.Cause) {
			return step(t).untyped(), nil
		}, nil
	}}}
}

// ScheduleFromStepEffect is ScheduleFromStep for steps that are effects; it is
// the inverse of ScheduleToStep. A start that fails makes every step fail so.
func ScheduleFromStepEffect[Out any](start Effect[func(ScheduleTick) Effect[ScheduleDecision[Out]]]) Schedule[Out] {
	return Schedule[Out]{plan{func(f *scope.Fiber) (stepper, *scope.Cause) {
		step, c := guarded(f, start)
		if c != nil {
			if c, skip := f.Skips(c); skip {
				return nil, c
			}
			return failing(c), nil
		}
		return func(f *scope.Fiber, t ScheduleTick) (ScheduleDecision[any], *scope.Cause) {
			d, c := run(f, step(t))
			return d.untyped(), c
		}, nil
	}}}
}

// failing answers every tick with a cause.
func failing(c *scope.Cause) stepper {
	return func(*scope.Fiber, ScheduleTick) (d ScheduleDecision[any], _ *scope.Cause) { return d, c }
}

// ScheduleFromStepWithMetadata is ScheduleFromStep for steps that want to know
// where in the run they are.
func ScheduleFromStepWithMetadata[Out any](start func() func(ScheduleInput) ScheduleDecision[Out]) Schedule[Out] {
	return ScheduleFromStep(func() func(ScheduleTick) ScheduleDecision[Out] {
		step, count := start(), scheduleCount{}
		return func(t ScheduleTick) ScheduleDecision[Out] { return step(count.advance(t)) }
	})
}

var errZeroSchedule = errors.New("effect: the zero Schedule was used; make schedules with ScheduleRecurs, ScheduleSpaced...")

// begin starts a use.
func (p plan) begin(f *scope.Fiber) (stepper, *scope.Cause) {
	if p.start == nil {
		return nil, scope.CauseDie(errZeroSchedule)
	}
	return p.start(f)
}

// around is a plan that asks p and answers something else.
//
//go:noinline
func (p plan) around(use func(inner stepper) stepper) plan {
	return plan{func(f *scope.Fiber) (stepper, *scope.Cause) {
		inner, c := p.begin(f)
		if c != nil {
			return nil, c
		}
		return use(inner), nil
	}}
}
