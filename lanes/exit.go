package lanes

import (
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
)

// ActivationExit is how an activation ended: ActivationSucceeded,
// ActivationFailed or ActivationInterrupted. No other types implement it.
type ActivationExit interface {
	// Tag is the name of the type.
	Tag() string
	// Lane is the activation's key.
	Lane() string
	activationExit()
}

// ActivationSucceeded: Activate's effect succeeded, and its scope closed without
// a failure.
type ActivationSucceeded struct {
	Key string `json:"key"`
}

// ActivationFailed: the activation failed, died or interrupted itself; or the
// closing of its scope failed after it had ended by itself; or it was stopped
// and one of its own finalizers died.
type ActivationFailed struct {
	Key string `json:"key"`
	// Cause has none of the interruption by which the activation was stopped.
	Cause *scope.Cause `json:"cause"`
}

// ActivationInterrupted: the activation was stopped, before or after it started.
// An expected failure that a stopped activation ends with is dropped, as every
// handler of an interrupted fiber drops it: Go code that hears of its
// cancellation fails with context.Canceled.
type ActivationInterrupted struct {
	Key string `json:"key"`
	// Reason is that of the first stop.
	Reason StopReason `json:"reason"`
}

// Tag is "ActivationSucceeded".
func (ActivationSucceeded) Tag() string { return "ActivationSucceeded" }

// Tag is "ActivationFailed".
func (ActivationFailed) Tag() string { return "ActivationFailed" }

// Tag is "ActivationInterrupted".
func (ActivationInterrupted) Tag() string { return "ActivationInterrupted" }

// Lane is Key.
func (e ActivationSucceeded) Lane() string { return e.Key }

// Lane is Key.
func (e ActivationFailed) Lane() string { return e.Key }

// Lane is Key.
func (e ActivationInterrupted) Lane() string { return e.Key }

func (ActivationSucceeded) activationExit()   {}
func (ActivationFailed) activationExit()      {}
func (ActivationInterrupted) activationExit() {}

// MarshalJSON implements json.Marshaler: {"_tag":"ActivationSucceeded", "key"}.
func (e ActivationSucceeded) MarshalJSON() ([]byte, error) {
	type fields ActivationSucceeded
	return errors.MarshalTagged(e.Tag(), fields(e))
}

// MarshalJSON implements json.Marshaler: {"_tag":"ActivationFailed", "key",
// "cause"}.
func (e ActivationFailed) MarshalJSON() ([]byte, error) {
	type fields ActivationFailed
	return errors.MarshalTagged(e.Tag(), fields(e))
}

// MarshalJSON implements json.Marshaler: {"_tag":"ActivationInterrupted", "key",
// "reason"}.
func (e ActivationInterrupted) MarshalJSON() ([]byte, error) {
	type fields ActivationInterrupted
	return errors.MarshalTagged(e.Tag(), fields(e))
}
