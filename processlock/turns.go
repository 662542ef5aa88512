package processlock

import "sync"

// turns is the lines of everybody in this process who wants a lock, one line a
// place. The head of a line is the one who has the turn: it attempts, waits for
// other processes, and holds. Everything costs O(1), the leaving of a waiter in
// the middle included; a line that is empty costs nothing.
type turns struct {
	mu sync.Mutex
	// lines has no empty line: the last who leaves removes it.
	lines map[place]*line
}

var inProcess = turns{lines: make(map[place]*line)}

type line struct {
	place      place
	head, tail *turn
	held       *Lock // what the head has taken, for reports; nil while it attempts
}

// turn is one place in a line.
type turn struct {
	mechanism  Mechanism
	line       *line // nil when it has left
	prev, next *turn
	onTurn     func() // set by wait, called once
}

// join goes to the end of the line of at. Without wait it joins only an empty
// line; else joined is nil, and ahead is the one who has the turn.
func (t *turns) join(at place, mechanism Mechanism, wait bool) (joined *turn, ahead front) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lines[at]
	if l == nil {
		l = &line{place: at}
		t.lines[at] = l
	} else if !wait {
		return nil, l.front()
	}
	own := &turn{mechanism: mechanism, line: l, prev: l.tail}
	if l.tail == nil {
		l.head = own
	} else {
		l.tail.next = own
	}
	l.tail = own
	return own, front{}
}

// wait calls f once, when own is the head: at once if it is already. Not at all
// when it leaves before. It must be called at most once.
func (t *turns) wait(own *turn, f func()) {
	t.mu.Lock()
	if own.line != nil && own.line.head != own {
		own.onTurn, f = f, nil
	} else if own.line == nil {
		f = nil
	}
	t.mu.Unlock()
	if f != nil {
		f()
	}
}

// has tells whether own is the head of its line.
func (t *turns) has(own *turn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return own.line != nil && own.line.head == own
}

// took records what the head has taken.
func (t *turns) took(own *turn, lock *Lock) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own.line.held = lock
}

// leave takes own out of its line, wherever it stands; when it was the head the
// turn passes to the next. Leaving twice does nothing.
func (t *turns) leave(own *turn) {
	t.mu.Lock()
	l := own.line
	if l == nil {
		t.mu.Unlock()
		return
	}
	own.line = nil
	var next func()
	if own.prev == nil {
		l.head, l.held = own.next, nil
		if l.head != nil {
			next, l.head.onTurn = l.head.onTurn, nil
		}
	} else {
		own.prev.next = own.next
	}
	if own.next == nil {
		l.tail = own.prev
	} else {
		own.next.prev = own.prev
	}
	own.prev, own.next, own.onTurn = nil, nil, nil
	if l.head == nil {
		delete(t.lines, l.place)
	}
	t.mu.Unlock()
	if next != nil {
		next() // outside of the mutex: it may come back here
	}
}

// front is who has the turn of a line.
type front struct {
	taken     bool // somebody has it
	mechanism Mechanism
	held      *Lock // nil while it only attempts
}

func (l *line) front() front { return front{true, l.head.mechanism, l.held} }

// front is who has the turn at the place.
func (t *turns) front(at place) front {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.lines[at]; l != nil {
		return l.front()
	}
	return front{}
}
