package effect

import (
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
)

// Unit is the type of effects that have no result of their own (TypeScript:
// void).
type Unit struct{}

// Nothing is the type without values: an Effect[Nothing] never succeeds. Its
// only value, nil, is never handed to anybody.
type Nothing interface{ nothing() }

// Effect describes a program that succeeds with an A, fails, dies or is
// interrupted. It is a lazy value: nothing happens before it runs, and running
// it twice does the work twice. It can be shared between goroutines.
//
// The zero Effect is not a program: running it is a defect.
type Effect[A any] struct {
	// lit is an exit that is known already. Knowing it without a call lets All
	// treat it without a fiber, as TypeScript does.
	lit *literal[A]
	// step gives a result, a cause, or the next effect to run in its place.
	step func(f *scope.Fiber) (A, *scope.Cause, Effect[A])
}

type literal[A any] struct {
	value A
	cause *scope.Cause
}

var errZeroEffect = errors.New("effect: the zero Effect was run; it is not a program (a function that should build one returned its zero value)")

// then makes e the next thing to run.
func then[A any](e Effect[A]) (A, *scope.Cause, Effect[A]) {
	var zero A
	if e.lit == nil && e.step == nil {
		return zero, scope.CauseDie(errZeroEffect), e
	}
	return zero, nil, e
}

// value ends a step with a value, failed with a cause.
func value[A any](v A) (A, *scope.Cause, Effect[A]) { return v, nil, Effect[A]{} }

func failed[A any](c *scope.Cause) (A, *scope.Cause, Effect[A]) {
	var zero A
	return zero, c, Effect[A]{}
}

// again makes a cause travel on as TypeScript's failCause does: as a next step.
//
//go:noinline
func again[A any](c *scope.Cause) (zero A, _ *scope.Cause, next Effect[A]) {
	return zero, nil, Effect[A]{lit: &literal[A]{cause: c}}
}

// result ends a step with what run gave.
func result[A any](v A, c *scope.Cause) (A, *scope.Cause, Effect[A]) { return v, c, Effect[A]{} }

// primitive makes an effect of a step that never continues with another effect.
//
//go:noinline
func primitive[A any](step func(f *scope.Fiber) (A, *scope.Cause)) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		v, c := step(f)
		return v, c, Effect[A]{}
	}}
}

// run evaluates e on f: step by step, with a check for an interruption before
// each step and after the value.
func run[A any](f *scope.Fiber, e Effect[A]) (v A, c *scope.Cause) {
	if f.Enter() {
		return runSegment(f, e)
	}
	for {
		if f.Signaled() {
			if c = f.Notice(); c != nil {
				f.Leave()
				return v, c
			}
		}
		if e.lit != nil {
			v, c = e.lit.value, e.lit.cause
			break
		}
		if e.step == nil {
			c = scope.CauseDie(errZeroEffect)
			break
		}
		v, c, e = e.step(f)
		if e.lit == nil && e.step == nil {
			break
		}
		if c != nil {
			break
		}
	}
	f.Leave()
	if f.Signaled() {
		if c = f.NoticeAfter(c); c != nil {
			var zero A
			v = zero
		}
	}
	return v, c
}

func runSegment[A any](f *scope.Fiber, e Effect[A]) (v A, c *scope.Cause) {
	if deep := f.Segment(func() {
		f.Leave() // run counts this level again
		v, c = run(f, e)
		f.Enter()
	}); deep != nil {
		return v, deep
	}
	f.Leave()
	return v, c
}

// guarded is run that turns a panic into a defect. Frames that have something
// to do when the evaluation ends use it.
func guarded[A any](f *scope.Fiber, e Effect[A]) (v A, c *scope.Cause) {
	mark := f.Mark()
	defer func() {
		// Also after a Goexit, for the defers that run on, and after code that
		// recovered a panic of an evaluation itself.
		f.Reset(mark)
		if r := recover(); r != nil {
			var zero A
			v, c = zero, f.Raised(r)
		}
	}()
	return run(f, e)
}

// onExit runs e, then fin with how it ended, masked if mask is set. fin also
// runs when a Goexit unwinds the fiber.
func onExit[A any](f *scope.Fiber, e Effect[A], mask bool, fin func(f *scope.Fiber, v A, c *scope.Cause) *scope.Cause) (A, *scope.Cause) {
	return onExitRestored(f, e, Restore{}, mask, fin)
}

// onExitRestored is onExit inside a mask that restore undoes for e. One frame does
// it, as programs park under it.
func onExitRestored[A any](f *scope.Fiber, e Effect[A], restore Restore, mask bool, fin func(f *scope.Fiber, v A, c *scope.Cause) *scope.Cause) (v A, c *scope.Cause) {
	mark := f.Mark()
	returned := false
	defer func() {
		if returned || f.Abandoned() {
			return
		}
		var zero A
		if r := recover(); r != nil {
			f.Reset(mark)
			v, c = finalize(f, zero, f.Raised(r), mask, fin)
			return
		}
		f.Unwound(mark)
		fin(f, zero, scope.CauseDie(scope.Exited{}))
	}()
	if restore.to == restoreNothing {
		v, c = run(f, e)
	} else {
		v, c = within(f, restore.to, e)
	}
	returned = true
	return finalize(f, v, c, mask, fin)
}

// finalize runs fin after what ended with v and c.
//
//go:noinline
func finalize[A any](f *scope.Fiber, v A, c *scope.Cause, mask bool, fin func(f *scope.Fiber, v A, c *scope.Cause) *scope.Cause) (A, *scope.Cause) {
	entered := false
	if mask {
		entered, c = f.MaskAfter(c)
	}
	ended := c
	c = scope.CombineFinalizer(c, f.Guard(func() *scope.Cause { return fin(f, v, ended) }))
	if entered {
		c = f.Unmask(c)
	}
	if c != nil {
		var zero A
		v = zero
	}
	return v, c
}
