package scope

import "sync"

// mailbox runs functions one at a time, for state that the ends of several
// fibers change. On a serial runtime it calls them at once, inside one another,
// as TypeScript does; on the parallel one whoever finds it free runs what the
// others leave. No lock is held while one runs.
type mailbox struct {
	serial bool
	mu     sync.Mutex
	busy   bool
	queue  []func()
}

func (m *mailbox) do(fn func()) {
	if m.serial {
		fn()
		return
	}
	m.mu.Lock()
	m.queue = append(m.queue, fn)
	if m.busy {
		m.mu.Unlock()
		return
	}
	m.busy = true
	for len(m.queue) > 0 {
		next := m.queue[0]
		m.queue = m.queue[1:]
		m.mu.Unlock()
		next()
		m.mu.Lock()
	}
	m.busy, m.queue = false, nil
	m.mu.Unlock()
}
