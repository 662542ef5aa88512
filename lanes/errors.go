package lanes

import (
	"fmt"

	"github.com/rivus/tether/errors"
)

// Error is what Make, Wake and Drain fail with: *ConfigInvalid, *QueueFull, *Closed or
// *Undrained.
type Error interface {
	errors.Tagged
	lanesError()
}

var (
	_ Error = (*ConfigInvalid)(nil)
	_ Error = (*QueueFull)(nil)
	_ Error = (*Closed)(nil)
	_ Error = (*Undrained)(nil)
)

// ConfigInvalid says that Make was given limits that cannot be kept.
type ConfigInvalid struct {
	// Message names the field and what it must be.
	Message string `json:"message"`
}

func (*ConfigInvalid) lanesError() {}

// Tag implements errors.Tagged: "LanesConfigInvalid".
func (*ConfigInvalid) Tag() string { return "LanesConfigInvalid" }

func (e *ConfigInvalid) Error() string { return "lanes: " + e.Message }

// MarshalJSON implements json.Marshaler: {"_tag":"LanesConfigInvalid",
// "message"}.
func (e *ConfigInvalid) MarshalJSON() ([]byte, error) {
	type fields ConfigInvalid
	return errors.MarshalTagged(e.Tag(), (*fields)(e))
}

// QueueFull says that a wake of an idle lane was refused, since MaxQueued lanes
// wait already. Nothing is owed to the key.
type QueueFull struct {
	Key       string `json:"key"`
	MaxQueued int    `json:"maxQueued"`
}

func (*QueueFull) lanesError() {}

// Tag implements errors.Tagged: "LaneQueueFull".
func (*QueueFull) Tag() string { return "LaneQueueFull" }

func (e *QueueFull) Error() string {
	return fmt.Sprintf("lanes: cannot wake %q: %d lanes wait already", e.Key, e.MaxQueued)
}

// MarshalJSON implements json.Marshaler: {"_tag":"LaneQueueFull", "key",
// "maxQueued"}.
func (e *QueueFull) MarshalJSON() ([]byte, error) {
	type fields QueueFull
	return errors.MarshalTagged(e.Tag(), (*fields)(e))
}

// Closed says that a wake came after Close or Drain began.
type Closed struct {
	Key string `json:"key"`
}

func (*Closed) lanesError() {}

// Tag implements errors.Tagged: "LanesClosed".
func (*Closed) Tag() string { return "LanesClosed" }

func (e *Closed) Error() string {
	return fmt.Sprintf("lanes: cannot wake %q: the lanes are closed", e.Key)
}

// MarshalJSON implements json.Marshaler: {"_tag":"LanesClosed", "key"}.
func (e *Closed) MarshalJSON() ([]byte, error) {
	type fields Closed
	return errors.MarshalTagged(e.Tag(), (*fields)(e))
}
