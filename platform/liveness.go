package platform

// Liveness is what can be said about a recorded holder.
type Liveness uint8

// The verdicts. Only Dead is proof; everything that cannot be told is Unknown.
const (
	Unknown Liveness = iota
	Alive
	Dead
)

// String is "unknown", "alive" or "dead".
func (l Liveness) String() string {
	switch l {
	case Alive:
		return "alive"
	case Dead:
		return "dead"
	default:
		return "unknown"
	}
}

// Judge tells whether holder still runs, as self sees it (rule H1). It is pure
// but for lookup (a Process's Identify), which it calls at most once and only
// when the answer depends on it.
//
//   - other host: Unknown
//   - same host, other boot: Dead, whatever the namespaces, which ended with it
//   - same boot, another PID or time namespace (where both recorded it): Unknown
//   - the same of all: Dead when no such pid runs or it started at another time, Alive
//     when it is the same, Unknown when the look failed
func Judge(self, holder Identity, lookup func(pid int64) (id Identity, runs bool, err error)) Liveness {
	switch {
	case self.Host != holder.Host:
		return Unknown
	case self.BootID != holder.BootID:
		return Dead
	case apart(self.PIDNs, holder.PIDNs), apart(self.TimeNs, holder.TimeNs):
		// Its pid and start time count in another world: a look here would find
		// nobody, or somebody else, and take that for a death.
		return Unknown
	}
	now, runs, err := lookup(holder.PID)
	switch {
	case err != nil:
		return Unknown
	case !runs:
		return Dead
	case now.StartTime == holder.StartTime:
		return Alive
	default:
		return Dead
	}
}

// JudgeHolder is Judge with the identity and the lookup of process. It fails when
// the own identity cannot be read.
func JudgeHolder(process Process, holder Identity) (Liveness, error) {
	self, err := process.Self()
	if err != nil {
		return Unknown, err
	}
	return Judge(self, holder, process.Identify), nil
}

func apart(a, b uint64) bool { return a != 0 && b != 0 && a != b }
