package processlock

import (
	"strconv"

	"github.com/samber/mo"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
)

// Error is what Acquire and IsHeld fail with, besides a context's cause: *Held
// or *Failure.
type Error interface {
	errors.Tagged
	processLockError()
}

var (
	_ Error = (*Held)(nil)
	_ Error = (*Failure)(nil)
)

// Held says that somebody else holds the lock. Holder is absent where it is not
// recorded, or not yet.
type Held struct {
	Path   string
	Holder mo.Option[Holder]
}

func (*Held) processLockError() {}

// Tag implements errors.Tagged: "ProcessLockHeld".
func (h *Held) Tag() string { return "ProcessLockHeld" }

// Error names the path and the holder.
func (h *Held) Error() string {
	if holder, ok := h.Holder.Get(); ok {
		return "process lock " + quote(h.Path) + " is held by " + holder.String()
	}
	return "process lock " + quote(h.Path) + " is held"
}

// MarshalJSON implements json.Marshaler: {"_tag":"ProcessLockHeld", "path",
// "holder"?}.
func (h *Held) MarshalJSON() ([]byte, error) {
	fields := struct {
		Path   string  `json:"path"`
		Holder *Holder `json:"holder,omitempty"`
	}{Path: h.Path}
	if holder, ok := h.Holder.Get(); ok {
		fields.Holder = &holder
	}
	return errors.MarshalTagged(h.Tag(), fields)
}

// The reasons of a Failure that platform does not know.
const (
	// ReasonContended: for a second every attempt met others' attempts or
	// checks, and no holder.
	ReasonContended platform.Reason = "contended"
	// ReasonDeadGuard: three nested reclaimers died, each while it reclaimed.
	ReasonDeadGuard platform.Reason = "dead-guard"
	// ReasonReplaced: the file at the path is not the one that is held.
	ReasonReplaced platform.Reason = "replaced"
)

// Failure says that the lock could neither be taken nor found held, and why. Nothing
// is held, and what was at the path is as it was.
type Failure struct {
	Path   string
	Reason platform.Reason
	// Message names the path, the reason and the way out.
	Message string
	Cause   error
}

func (*Failure) processLockError() {}

// Tag implements errors.Tagged: "ProcessLockFailure".
func (f *Failure) Tag() string { return "ProcessLockFailure" }

func (f *Failure) Error() string { return f.Message }

// Unwrap is the platform's failure, or nil.
func (f *Failure) Unwrap() error { return f.Cause }

// MarshalJSON implements json.Marshaler: {"_tag":"ProcessLockFailure", "path",
// "reason", "message"}.
func (f *Failure) MarshalJSON() ([]byte, error) {
	return errors.MarshalTagged(f.Tag(), struct {
		Path    string          `json:"path"`
		Reason  platform.Reason `json:"reason"`
		Message string          `json:"message"`
	}{f.Path, f.Reason, f.Message})
}

// failed wraps what a port answered.
func failed(path, doing string, cause error) *Failure {
	reason := platform.ReasonOf(cause)
	if reason == "" {
		reason = platform.ReasonIO
	}
	return &Failure{
		Path: path, Reason: reason, Cause: cause,
		Message: "process lock " + quote(path) + ": cannot " + doing + ": " + cause.Error(),
	}
}

func failure(path string, reason platform.Reason, why string) *Failure {
	return &Failure{Path: path, Reason: reason, Message: "process lock " + quote(path) + ": " + why}
}

// quote keeps a message readable when the path is absurdly long.
func quote(path string) string {
	const most = 300
	if len(path) > most {
		return strconv.Quote(path[:most]) + "..."
	}
	return strconv.Quote(path)
}
