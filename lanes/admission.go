package lanes

// admission holds the limits and how far they are used. It is a value.
//
// Between two calls of the board, queued > 0 implies that no slot is free.
type admission struct {
	maxConcurrent int
	// maxQueued is negative when the queue has no bound.
	maxQueued int

	running, queued int
	// draining: no wakes are taken any more, what is owed runs to its end. closed:
	// nothing is owed either.
	draining, closed bool
}

// slot tells whether a lane may run now.
func (a admission) slot() bool { return a.running < a.maxConcurrent }

// room tells whether a woken lane may join the queue. A lane that comes back
// from running does not ask.
func (a admission) room() bool { return a.maxQueued < 0 || a.queued < a.maxQueued }

// moved is the use once a lane went from one state to another.
func (a admission) moved(from, to State) admission {
	a = a.count(from, -1)
	return a.count(to, 1)
}

func (a admission) count(s State, by int) admission {
	switch s {
	case StateQueued:
		a.queued += by
	case StateRunning:
		a.running += by
	}
	return a
}

// shut reports whether wakes are refused.
func (a admission) shut() bool { return a.draining || a.closed }
