package lanes

// lane is what the rules know of one key. It is a value; its methods are the
// transitions, which look at nothing else.
//
//	        wake, no slot            admit
//	idle -----------------> queued --------> running
//	 |  <-----------------    ^                | |
//	 |     halt (unreported)  '---- end, pending |
//	 |  <----------------------------------- end |
//	 '-------------- wake, free slot ----------> '
type lane struct {
	state State
	// pending: a wake came since the activation got its slot, so one more
	// follows. Only a running lane has it.
	pending bool
	// stop is the reason of the first stop. Only a running lane has one.
	stop StopReason
}

// wake is the lane after a wake, and what became of the wake. slot tells that a
// slot is free, room that the queue takes one more.
func (l lane) wake(slot, room bool) (lane, Outcome) {
	switch {
	case l.state == StateQueued:
		return l, Coalesced
	case l.state == StateRunning:
		l.pending = true
		return l, Coalesced
	case slot:
		return lane{state: StateRunning}, Started
	case room:
		return lane{state: StateQueued}, Queued
	default:
		return l, refused
	}
}

// owed tells whether an activation is to come.
func (l lane) owed() bool { return l.pending || l.state == StateQueued }

// admit is the queued lane once it gets a slot.
func (l lane) admit() lane { return lane{state: StateRunning} }

// end is the running lane once its activation is over.
func (l lane) end() lane {
	if l.pending {
		return lane{state: StateQueued}
	}
	return lane{}
}

// halt is the lane after a Cancel or Close: dropped tells that it was owed an
// activation, first that the running one was not stopped before.
func (l lane) halt(reason StopReason) (next lane, dropped, first bool) {
	switch l.state {
	case StateQueued:
		return lane{}, true, false
	case StateRunning:
		dropped, l.pending = l.pending, false
		l, first = l.stopFor(reason)
		return l, dropped, first
	default:
		return l, false, false
	}
}

// expire is the running lane when its turn's time is over. What it is owed
// stays.
func (l lane) expire() (next lane, first bool) { return l.stopFor(StopTimeout) }

func (l lane) stopFor(reason StopReason) (lane, bool) {
	if l.state != StateRunning || l.stop != notStopped {
		return l, false
	}
	l.stop = reason
	return l, true
}
