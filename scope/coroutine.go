package scope

import (
	"iter"

	"github.com/rivus/tether/internal/goroutine"
)

// coroutine is a goroutine that hands over instead of running beside. It runs
// one fiber's body after the other, since making one costs several times what
// switching to it does.
type coroutine struct {
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
	fiber *Fiber
	// where is the stack of the fiber while it is parked, on the deterministic runtime.
	where []uintptr
	// at is its place among the machine's.
	at int
	// dying: a Goexit runs through it. It is not resumed any more.
	dying bool
}

// maxIdle bounds the coroutines that are kept for fibers to come.
const maxIdle = 1024

func self() uintptr { return goroutine.Self() }

func (m *machine) acquire() *coroutine {
	if n := len(m.idle); n > 0 {
		co := m.idle[n-1]
		m.idle[n-1] = nil
		m.idle = m.idle[:n-1]
		return co
	}
	co := &coroutine{at: len(m.coroutines)}
	m.coroutines = append(m.coroutines, co)
	co.next, co.stop = iter.Pull(func(yield func(struct{}) bool) { m.serve(co, yield) })
	return co
}

// serve is a coroutine's life.
func (m *machine) serve(co *coroutine, yield func(struct{}) bool) {
	co.yield = yield
	here := self()
	finished := false
	// iter.Pull would pass a Goexit on to whoever resumed this coroutine, so a dying
	// one hands over once more and is stopped from elsewhere.
	defer func() {
		if !finished && !m.abandoned {
			co.dying = true
			m.release(co)
			yield(struct{}{})
		}
	}()
	for {
		m.running.Store(here)
		co.fiber.runBody()
		m.release(co)
		if len(m.idle) >= maxIdle {
			m.forget(co)
			finished = true
			return
		}
		m.idle = append(m.idle, co)
		if !yield(struct{}{}) {
			finished = true
			return
		}
	}
}

// release parts co from its fiber, which has ended.
func (m *machine) release(co *coroutine) {
	co.fiber.host.co = nil
	co.fiber = nil
	m.live--
}

// forget takes co out of the machine's.
func (m *machine) forget(co *coroutine) {
	last := len(m.coroutines) - 1
	moved := m.coroutines[last]
	m.coroutines[co.at] = moved
	moved.at = co.at
	m.coroutines[last] = nil
	m.coroutines = m.coroutines[:last]
}

// bury ends a dying coroutine, in which nothing is left to run. It does so on a goroutine
// of its own, since who stops a coroutine that a Goexit runs through ends by it, too.
func (m *machine) bury(co *coroutine) {
	m.forget(co)
	go co.stop()
}

// dismiss ends the idle coroutines.
func (m *machine) dismiss() {
	for i, co := range m.idle {
		m.idle[i] = nil
		m.forget(co)
		co.stop()
	}
	m.idle = m.idle[:0]
}

// abandon ends every coroutine: parked fibers unwind by a panic that no frame holds up,
// so that the Go defers of user code run.
func (m *machine) abandon() {
	m.abandoned, m.halted = true, true
	for _, f := range m.alive() {
		stopAside(f.host.co)
	}
	m.dismiss()
	m.coroutines, m.live = nil, 0
}

// stopAside stops co on a goroutine of its own, which the panic of abandoned{} ends, or a
// Goexit in a defer.
func stopAside(co *coroutine) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				if _, ok := Recovered(r).(abandoned); !ok {
					panic(r)
				}
			}
		}()
		co.stop()
	}()
	<-done
}
