package lanes

// Outcome is what an accepted wake did.
type Outcome uint8

const (
	// refused is no outcome: the wake failed.
	refused Outcome = iota
	// Started: the lane was idle and got a slot.
	Started
	// Queued: the lane was idle and waits for a slot.
	Queued
	// Coalesced: the lane was queued or running already. A queued lane's coming
	// activation serves the wake; a running lane gets one more activation,
	// however many wakes came.
	Coalesced
)

// String is "started", "queued" or "coalesced".
func (o Outcome) String() string {
	switch o {
	case Started:
		return "started"
	case Queued:
		return "queued"
	case Coalesced:
		return "coalesced"
	default:
		return "refused"
	}
}

// MarshalText is String.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }
