package lanes

// StopReason is why a running activation was stopped.
type StopReason uint8

const (
	// notStopped is the zero reason: nobody stopped the activation.
	notStopped StopReason = iota
	// StopCancel: Cancel of its key.
	StopCancel
	// StopClose: Close, or the end of the scope that Make ran in.
	StopClose
	// StopTimeout: Config.TurnTimeout.
	StopTimeout
)

// String is "cancel", "close" or "timeout".
func (r StopReason) String() string {
	switch r {
	case StopCancel:
		return "cancel"
	case StopClose:
		return "close"
	case StopTimeout:
		return "timeout"
	default:
		return "none"
	}
}

// MarshalText is String.
func (r StopReason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }
