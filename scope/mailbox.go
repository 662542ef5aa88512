package scope

import "sync"

// mailbox takes letters in one at a time, for state that the ends of several
// fibers change beside one another: whoever finds it free takes in what the
// others leave. No lock is held meanwhile.
type mailbox struct {
	// owner starts the fibers that letters answer with.
	owner *Fiber
	mu    sync.Mutex
	busy  bool
	queue []letter
}

// letter is something to do for the mailbox's owner. Opening it may answer with a
// fiber that has been prepared, to be started when the letter is done with.
type letter interface{ open() *Fiber }

// note is a letter of a function.
type note func() *Fiber

func (n note) open() *Fiber { return n() }

// take takes in l, now or by whom it finds at work. by is the fiber whose end the
// letter tells of, when the caller is on its goroutine, or nil.
func (m *mailbox) take(by *Fiber, l letter) {
	m.mu.Lock()
	if m.busy {
		m.queue = append(m.queue, l)
		m.mu.Unlock()
		return
	}
	m.busy = true
	m.mu.Unlock()
	m.drain(by, l)
}

func (m *mailbox) drain(by *Fiber, l letter) {
	returned := false
	// A Goexit in a letter takes this goroutine away, not the letters behind it.
	defer func() {
		if !returned {
			m.drain(nil, m.next())
		}
	}()
	for l != nil {
		last := l.open()
		l = m.next()
		if last == nil {
			continue
		}
		// Only what nothing else is done after here may have by's goroutine: a letter
		// may run for long, or wait for the fiber.
		if l == nil && by != nil {
			by.Start(last, ForkConfig{})
		} else {
			// Not in the owner's name: it may be ending, on a goroutine of its own.
			m.owner.rt.startLater(nil, last)
		}
	}
	returned = true
}

// next is the letter to take in, or nil when the mailbox is free again.
func (m *mailbox) next() letter {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queue) == 0 {
		m.busy, m.queue = false, nil
		return nil
	}
	l := m.queue[0]
	m.queue = m.queue[1:]
	return l
}
