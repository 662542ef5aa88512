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

// deadlocks tells whether f, which has this frame, must not wait for a's end
// since a waits, or may wait, for f's. a is not over.
func (fr *frame) deadlocks(f *scope.Fiber, a *activation) bool {
	for ; fr != nil; fr = fr.outer {
		if fr.of != a {
			continue
		}
		if fr.reporting || !f.Interruptible() {
			return true
		}
		// f can be interrupted. It will be, unless the activation's own fiber
		// sits in an uninterruptible part that waits for f.
		_, over := a.fiber.Exited()
		return !over && !a.fiber.Interruptible()
	}
	return false
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
