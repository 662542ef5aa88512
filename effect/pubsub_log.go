package effect

// pubsubLog is the messages that some subscriber has still to read. A message
// leaves when its last reader has read it; since readers read in order, that is
// always the oldest.
type pubsubLog[A any] struct {
	capacity int
	entries  ring[pubsubEntry[A]]
	// first is the number of the oldest entry; numbers grow by one.
	first       int
	subscribers int
	replay      *replayBuffer[A]
}

type pubsubEntry[A any] struct {
	value A
	// readers have still to read it.
	readers int
	// replay is its number in the replay buffer.
	replay int
}

// next is the number of the next entry.
func (l *pubsubLog[A]) next[_ onUse]() int { return l.first + l.entries.len() }

func (l *pubsubLog[A]) full[_ onUse]() bool { return l.entries.len() >= l.capacity }

// publish answers false when the log is full. A message that nobody subscribes
// to is only kept for replay.
func (l *pubsubLog[A]) publish[_ onUse](v A) bool {
	if l.full() {
		return false
	}
	number := l.replay.offer(v)
	if l.subscribers > 0 {
		l.entries.push(pubsubEntry[A]{value: v, readers: l.subscribers, replay: number})
	}
	return true
}

// publishAll answers what did not fit.
func (l *pubsubLog[A]) publishAll[_ onUse](list []A) (rest []A) {
	for i, v := range list {
		if !l.publish(v) {
			return list[i:]
		}
	}
	return nil
}

// slide drops the oldest message; who has not read it still gets it if it was
// promised to them as a replay.
func (l *pubsubLog[A]) slide[_ onUse]() {
	if l.entries.len() > 0 {
		e := l.entries.pop()
		l.first++
		l.replay.slide(e.value, e.replay)
	}
}

// pubsubReader is a subscriber's place in the log.
type pubsubReader struct {
	at   int
	gone bool
}

func (l *pubsubLog[A]) subscribe[_ onUse]() pubsubReader {
	l.subscribers++
	return pubsubReader{at: l.next()}
}

// unread is the number of entries that r has still to read.
func (l *pubsubLog[A]) unread[_ onUse](r *pubsubReader) int {
	if r.gone {
		return 0
	}
	return l.next() - max(r.at, l.first)
}

// read reads the next entry, which there must be, and answers its number.
func (l *pubsubLog[A]) read[_ onUse](r *pubsubReader) (v A, number int) {
	r.at = max(r.at, l.first)
	e := l.entries.slot(r.at - l.first)
	v, number = e.value, r.at
	r.at++
	if e.readers--; e.readers == 0 {
		l.entries.drop()
		l.first++
	}
	return v, number
}

func (l *pubsubLog[A]) unsubscribe[_ onUse](r *pubsubReader) {
	if r.gone {
		return
	}
	for l.unread(r) > 0 {
		l.read(r)
	}
	r.gone = true
	l.subscribers--
}
