package scope

import "sync"

// mailbox takes letters in one at a time, for state that the ends of several
// fibers change. On a serial runtime it does so at once, inside one another, as
// TypeScript does; on the parallel one whoever finds it free takes in what the
// others leave. No lock is held meanwhile.
type mailbox struct {
	serial bool
	mu     sync.Mutex
	busy   bool
	queue  []letter
	// on is the fiber that has ended and whose goroutine takes letters in, or nil
	// when a fiber takes them in that has not. Who takes them in owns it.
	on *Fiber
}

// letter is something to do for the mailbox's owner.
type letter interface{ open() }

// note is a letter of a function.
type note func()

func (n note) open() { n() }

// take takes in l, now or by whom it finds at work. by is the fiber whose end the
// letter tells of, when the caller is on its goroutine, or nil.
func (m *mailbox) take(by *Fiber, l letter) {
	if m.serial {
		l.open()
		return
	}
	m.mu.Lock()
	if m.busy {
		m.queue = append(m.queue, l)
		m.mu.Unlock()
		return
	}
	m.busy = true
	m.mu.Unlock()
	m.on = by
	m.drain(l)
}

func (m *mailbox) drain(l letter) {
	returned := false
	// A Goexit in a letter takes this goroutine away, not the letters behind it.
	defer func() {
		if !returned {
			m.drain(m.next())
		}
	}()
	for l != nil {
		l.open()
		l = m.next()
	}
	returned = true
}

// next is the letter to take in, or nil when the mailbox is free again.
func (m *mailbox) next() letter {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queue) == 0 {
		m.busy, m.queue, m.on = false, nil, nil
		return nil
	}
	l := m.queue[0]
	m.queue = m.queue[1:]
	return l
}
