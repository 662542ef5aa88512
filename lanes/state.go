package lanes

// State is what a lane is doing.
type State uint8

const (
	// StateIdle: the lane does nothing and is owed nothing. It takes no memory.
	StateIdle State = iota
	// StateQueued: the lane was woken and waits for a slot.
	StateQueued
	// StateRunning: the lane has a slot. Its activation starts, runs, cleans up
	// or is being reported.
	StateRunning
)

// String is "idle", "queued" or "running".
func (s State) String() string {
	switch s {
	case StateQueued:
		return "queued"
	case StateRunning:
		return "running"
	default:
		return "idle"
	}
}

// MarshalText is String.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
