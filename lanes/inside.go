package lanes

import (
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
	// outer is the activation that made these lanes, if one did.
	outer *frame
}

var inside = effect.NewReference[*frame]("lanes.Activation", func() *frame { return nil })

func frameOf(f *scope.Fiber) *frame { return inside.Value(f.Env()) }

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
			return at.reporting || maskedUpTo(f, &fr.of.fiber) || masked(&a.fiber)
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

// SelfDeadlock is the defect of a Cancel or Close that would wait for its own
// end.
type SelfDeadlock struct {
	// Operation is "Cancel" or "Close".
	Operation string
	// Key is that of the activation which the call is made from.
	Key string
}

// Tag implements errors.Tagged: "LanesSelfDeadlock".
func (*SelfDeadlock) Tag() string { return "LanesSelfDeadlock" }

func (e *SelfDeadlock) Error() string {
	return fmt.Sprintf("lanes: %s would wait for its own end, since it is called from inside the activation of %q, in OnExit or an uninterruptible part, or by a fiber forked there; call it from a fiber that was forked elsewhere, or let the activation end instead", e.Operation, e.Key)
}
