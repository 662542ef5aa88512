package lanes

// EventKind says what an Event is about.
type EventKind uint8

const (
	// EventStarted: an activation got its slot, and its fiber runs. Each is
	// followed by one EventEnded.
	EventStarted EventKind = iota + 1
	// EventEnded: an activation is over, its OnExit included; its slot is about
	// to be passed on.
	EventEnded
	// EventCoalesced: a wake met a lane that was queued or running.
	EventCoalesced
	// EventQueued: a wake put its lane at the end of the queue.
	EventQueued
	// EventDropped: Cancel or Close took away the activation that a lane was
	// owed.
	EventDropped
	// EventFull: a wake was refused, since the queue is full.
	EventFull
)

// String is "started", "ended", "coalesced", "queued", "dropped" or "full".
func (k EventKind) String() string {
	switch k {
	case EventStarted:
		return "started"
	case EventEnded:
		return "ended"
	case EventCoalesced:
		return "coalesced"
	case EventQueued:
		return "queued"
	case EventDropped:
		return "dropped"
	case EventFull:
		return "full"
	default:
		return "unknown"
	}
}

// MarshalText is String.
func (k EventKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Event is what Config.Observe hears. Two events that come from one fiber, and
// the started and the ended of one key, arrive in order; on the parallel runtime
// others may arrive in either.
type Event struct {
	Kind EventKind `json:"kind"`
	Key  string    `json:"key"`
	// Exit is set for EventEnded.
	Exit ActivationExit `json:"exit,omitempty"`
}
