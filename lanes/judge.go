package lanes

import "github.com/rivus/tether/scope"

// ending is all that decides how an activation is reported.
type ending struct {
	key string
	// body is how Activate's effect ended; nil is success.
	body *scope.Cause
	// stop is the reason of the first stop before the body ended, and by the
	// fiber that the stop interrupts in the name of.
	stop StopReason
	by   scope.FiberID
	// closing is what the finalizers of the activation's scope failed with.
	closing *scope.Cause
}

// stopped tells whether the stop ended the body. A body that ended by itself
// before the interruption reached it has no trace of it in its cause.
func (e ending) stopped() bool {
	if e.stop == notStopped {
		return false
	}
	for _, r := range e.body.Reasons() {
		if i, ok := r.(scope.Interrupt); ok && i.By == e.by {
			return true
		}
	}
	return false
}

// judge gives the report, and the part of closing that has no place in it and
// is logged instead.
func (e ending) judge() (exit ActivationExit, unreported *scope.Cause) {
	// The closing runs masked: an interruption in its cause is a stop that came
	// too late to decide anything.
	closing := e.closing.WithoutInterrupts()
	switch {
	case !e.stopped():
		if c := scope.CombineFinalizer(e.body, closing); c != nil {
			return ActivationFailed{e.key, c}, nil
		}
		return ActivationSucceeded{e.key}, nil
	case e.body.HasDies():
		return ActivationFailed{e.key, e.body.WithoutInterrupts().ElectDefects()}, closing
	default:
		return ActivationInterrupted{e.key, e.stop}, closing
	}
}
