package lanes

import "github.com/rivus/tether/internal/list"

// record is what the board keeps of a lane that is not idle: 32 bytes, 64 with
// the links and the allocator's rounding.
type record struct {
	key string
	// run is the activation of a running lane, nil otherwise.
	run  *activation
	lane lane
}

// entry is a record with its place in the queue or among the running ones.
type entry = list.Node[record]

// board is every lane in its place. It decides and does nothing: its caller
// holds the lock, starts what it admits and interrupts what it stops. Every
// method but close costs O(1), amortized.
type board struct {
	rules admission
	// lanes has exactly the lanes that are not idle, each of which is in the
	// list of its state.
	lanes map[string]*entry
	// queue is in the order of waiting, running in the order of admission.
	queue, running list.List[record]
	// peak is the largest size of lanes since the map was made: maps do not
	// shrink by themselves.
	peak int
}

func makeBoard(rules admission) board { return board{rules: rules, lanes: map[string]*entry{}} }

// wake takes in a wake. For Started, the caller must start the entry's
// activation. Refused means shut, if the rules say so, or else full.
func (b *board) wake(key string) (Outcome, *entry) {
	if b.rules.shut() {
		return refused, nil
	}
	e, known := b.lanes[key]
	if known {
		var outcome Outcome
		// It is not idle, so it stays where it is.
		e.Value.lane, outcome = e.Value.lane.wake(false, false)
		return outcome, e
	}
	next, outcome := lane{}.wake(b.rules.slot(), b.rules.room())
	if outcome == refused {
		return refused, nil
	}
	e = &entry{Value: record{key: key}}
	b.lanes[key] = e
	b.peak = max(b.peak, len(b.lanes))
	b.place(e, next)
	return outcome, e
}

// halt stops the lane for a Cancel; see lane.halt.
func (b *board) halt(e *entry, reason StopReason) (dropped, first bool) {
	next, dropped, first := e.Value.lane.halt(reason)
	b.place(e, next)
	return dropped, first
}

// expire stops a running lane since its time is over.
func (b *board) expire(e *entry) (first bool) {
	e.Value.lane, first = e.Value.lane.expire()
	return first
}

// end gives the slot of a running lane back. next is the lane that gets it, if
// one waits, and the caller must start it; it may be the same lane.
func (b *board) end(e *entry) (next *entry) {
	e.Value.run = nil
	// First back to the end of the queue, then the front goes: so a lane that
	// is owed more comes after those that waited meanwhile.
	b.place(e, e.Value.lane.end())
	next = b.queue.Front()
	if next == nil || !b.rules.slot() {
		return nil
	}
	b.place(next, next.Value.lane.admit())
	return next
}

// close refuses all later wakes and stops every lane. It calls drop for each
// lane that was owed an activation, in the order of Status, and first for each
// running one that was not stopped before. It costs O(lanes).
func (b *board) close(drop func(key string), first func(*activation)) {
	b.rules.closed = true
	for e := b.running.Front(); e != nil; e = e.Next() {
		dropped, isFirst := b.halt(e, StopClose)
		if dropped {
			drop(e.Value.key)
		}
		if isFirst {
			first(e.Value.run)
		}
	}
	for e := b.queue.Front(); e != nil; e = b.queue.Front() {
		drop(e.Value.key)
		b.halt(e, StopClose)
	}
}

// drain refuses all later wakes and leaves what is owed as it is.
func (b *board) drain() { b.rules.draining = true }

// drained reports whether a drain is over, and closes the board when it is. Its
// caller asks when it begins and when an activation has ended: the queue alone does
// not keep it, since no lane waits while none runs.
func (b *board) drained() bool {
	if !b.rules.draining || len(b.lanes) > 0 {
		return false
	}
	b.rules.closed = true
	return true
}

// place makes next the lane's state and moves it to where that belongs.
func (b *board) place(e *entry, next lane) {
	from := e.Value.lane.state
	e.Value.lane = next
	if from == next.state {
		return
	}
	b.rules = b.rules.moved(from, next.state)
	switch from {
	case StateQueued:
		b.queue.Remove(e)
	case StateRunning:
		b.running.Remove(e)
	}
	switch next.state {
	case StateQueued:
		b.queue.Push(e)
	case StateRunning:
		b.running.Push(e)
	case StateIdle:
		delete(b.lanes, e.Value.key)
		b.shrink()
	}
}

// shrink replaces a map that has become much too large. It pays for at most an
// eighth of the removals since the last time.
func (b *board) shrink() {
	const small = 256
	if b.peak < small || len(b.lanes) > b.peak/8 {
		return
	}
	lanes := make(map[string]*entry, len(b.lanes))
	for _, l := range [2]*list.List[record]{&b.running, &b.queue} {
		for e := l.Front(); e != nil; e = e.Next() {
			lanes[e.Value.key] = e
		}
	}
	b.lanes, b.peak = lanes, len(lanes)
}

// status is the board as users see it.
func (b *board) status() Status {
	out := Status{
		Running: b.rules.running, Queued: b.rules.queued, Closed: b.rules.shut(),
		Lanes: make([]LaneStatus, 0, len(b.lanes)),
	}
	for _, l := range [2]*list.List[record]{&b.running, &b.queue} {
		for e := l.Front(); e != nil; e = e.Next() {
			r := &e.Value
			out.Lanes = append(out.Lanes, LaneStatus{Key: r.key, State: r.lane.state, Pending: r.lane.owed()})
		}
	}
	return out
}
