package lanes

import (
	"context"
	"fmt"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// frame marks, in a fiber's services, the activation that it runs on behalf of.
// Forks inherit it.
type frame struct {
	of *activation
	// reporting tells that it is OnExit that runs.
	reporting bool
	// plain tells that it is plain Go code that runs: it can be told of its
	// interruption, but not be ended by it.
	plain bool
	// outer is the activation that made these lanes, if one did.
	outer *frame
}

var inside = effect.NewReference[*frame]("lanes.Activation", func() *frame { return nil })

// frameOf is f's frame, or nil. A program that plain code runs has it in its context.
func frameOf(f *scope.Fiber) *frame {
	if fr := inside.Value(f.Env()); fr != nil {
		return fr
	}
	return frameIn(f.Env().Context())
}

// frameKey is the key of the frame that a context is of.
type frameKey struct{}

func frameIn(ctx context.Context) *frame {
	fr, _ := ctx.Value(frameKey{}).(*frame)
	return fr
}

// context is ctx for code that runs on behalf of fr.
func (fr *frame) context(ctx context.Context) context.Context {
	return context.WithValue(ctx, frameKey{}, fr)
}

// in tells whether the frame is a's, or of an activation that a made.
func (fr *frame) in(a *activation) bool {
	for ; fr != nil; fr = fr.outer {
		if fr.of == a {
			return true
		}
	}
	return false
}

// deadlocks tells whether f, which has this frame, must not wait for a's end
// since a waits, or may wait, for f's. a is not over.
//
// The frame tells of detached fibers and of lanes in lanes, where the fibers tell
// nothing; the fibers tell it to who has replaced the services.
func (fr *frame) deadlocks(f *scope.Fiber, a *activation) bool {
	for at := fr; at != nil; at = at.outer {
		if at.of == a {
			return at.plain || at.reporting || maskedUpTo(f, &fr.of.fiber) || masked(&a.fiber)
		}
	}
	if a.reporter != nil && f.EndsWith(&a.reporter.fiber, nil) {
		return true
	}
	return f.EndsWith(&a.fiber, &a.scope) && (maskedUpTo(f, &a.fiber) || masked(&a.fiber))
}

// endsWith tells whether f, which has this frame, ends with a. Such a fiber does not
// wait for a's end but goes first: a finalizer of a's may wait for it.
func (fr *frame) endsWith(f *scope.Fiber, a *activation) bool {
	return f.EndsWith(&a.fiber, &a.scope) || fr.in(a) && f.EndsWith(&fr.of.fiber, &fr.of.scope)
}

// maskedUpTo tells whether f or one that it was forked by, up to last, sits in an
// uninterruptible part: a stop interrupts f unless one of them waits for it there.
func maskedUpTo(f, last *scope.Fiber) bool {
	for ; f != nil; f = f.Forker() {
		if f.Masked() {
			return true
		}
		if f == last {
			break
		}
	}
	return false
}

func masked(f *scope.Fiber) bool {
	_, over := f.Exited()
	return !over && f.Masked()
}

// SelfDeadlock is the defect of a Cancel, Close or Drain that would wait for its own
// end, and the error of a Runner's.
type SelfDeadlock struct {
	// Operation is "Cancel", "Close" or "Drain".
	Operation string
	// Key is that of the activation which the call is made from.
	Key string
	// plain tells that a Runner's method was called.
	plain bool
}

// Tag implements errors.Tagged: "LanesSelfDeadlock".
func (*SelfDeadlock) Tag() string { return "LanesSelfDeadlock" }

func (e *SelfDeadlock) Error() string {
	if e.plain || e.Operation == "Drain" {
		return fmt.Sprintf("lanes: %s would wait for its own end, since it is called from inside the activation of %q; call it from elsewhere, or let the activation end instead", e.Operation, e.Key)
	}
	return fmt.Sprintf("lanes: %s would wait for its own end, since it is called from inside the activation of %q, in OnExit or an uninterruptible part, or by a fiber forked there; call it from a fiber that was forked elsewhere, or let the activation end instead", e.Operation, e.Key)
}
