package effect

// lineup is an intrusive list in order of arrival. Joining it, and leaving from
// the middle, are O(1). Unlike a plain list it can be walked while it changes,
// as a JavaScript Set can: a walk meets what joins behind it and passes over
// what left. Who is woken in the course of a walk relies on that.
type lineup[T any] struct {
	head, tail *seat[T]
	n          int
	last       uint64
}

// seat is somebody's place in a lineup. Its zero value, with an owner, is in
// none.
type seat[T any] struct {
	owner      T
	prev, next *seat[T]
	// number grows along the lineup; 0 means that the seat is in none.
	number uint64
}

func (p *seat[T]) listed[_ onUse]() bool { return p.number != 0 }

func (l *lineup[T]) len[_ onUse]() int { return l.n }

func (l *lineup[T]) join[_ onUse](p *seat[T]) {
	l.last++
	p.number, p.prev, p.next = l.last, l.tail, nil
	if l.tail == nil {
		l.head = p
	} else {
		l.tail.next = p
	}
	l.tail = p
	l.n++
}

// leave answers false when p was not in the lineup.
func (l *lineup[T]) leave[_ onUse](p *seat[T]) bool {
	if !p.listed() {
		return false
	}
	if p.prev == nil {
		l.head = p.next
	} else {
		p.prev.next = p.next
	}
	if p.next == nil {
		l.tail = p.prev
	} else {
		p.next.prev = p.prev
	}
	p.prev, p.next, p.number = nil, nil, 0
	l.n--
	return true
}

// drain empties the lineup and answers who was in it, in order.
func (l *lineup[T]) drain[_ onUse]() []T {
	out := make([]T, 0, l.n)
	for p := l.head; p != nil; p = l.head {
		out = append(out, p.owner)
		l.leave(p)
	}
	return out
}

// walk is a walk along a lineup, which may change between two steps.
type walk[T any] struct {
	// passed is the number of the seat met last.
	passed uint64
	// here is that seat and behind the one before it: from either, while it is
	// still where it was, the walk goes on without searching.
	here, behind             *seat[T]
	hereNumber, behindNumber uint64
}

// next is the first seat behind those met before, or nil.
func (w *walk[T]) next[_ onUse](l *lineup[T]) *seat[T] {
	p := l.head
	switch {
	case w.here != nil && w.here.number == w.hereNumber:
		p = w.here.next
	case w.behind != nil && w.behind.number == w.behindNumber:
		p = w.behind.next
	}
	for p != nil && p.number <= w.passed {
		p = p.next
	}
	if p == nil {
		return nil
	}
	w.passed = p.number
	w.here, w.hereNumber = p, p.number
	w.behind = p.prev
	if w.behind != nil {
		w.behindNumber = w.behind.number
	}
	return p
}
