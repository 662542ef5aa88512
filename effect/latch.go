package effect

import (
	"sync"

	"github.com/rivus/tether/internal/list"
	"github.com/rivus/tether/scope"
)

// Latch is a gate: while it is closed, fibers wait at it.
type Latch struct {
	mu   sync.Mutex
	open bool
	// waiters wait for the gate; scheduled ones have been let through and wait
	// for their turn to run.
	waiters, scheduled list.List[scope.Token]
	flushing           bool
}

// MakeLatch makes a latch (TypeScript: Latch.make).
func MakeLatch(open bool) Effect[*Latch] { return Sync(func() *Latch { return NewLatch(open) }) }

// NewLatch makes a latch outside any effect.
func NewLatch(open bool) *Latch { return &Latch{open: open} }

// Open opens the latch and tells whether it was closed.
func (l *Latch) Open() Effect[bool] {
	return Effect[bool]{step: func(f *scope.Fiber) (bool, *scope.Cause, Effect[bool]) {
		l.mu.Lock()
		if l.open {
			l.mu.Unlock()
			return false, nil, Effect[bool]{}
		}
		l.open = true
		l.letThrough(f)
		return true, nil, Effect[bool]{}
	}}
}

// OpenNow opens the latch outside any effect and tells whether it was closed
// (TypeScript: openUnsafe). Those that wait are woken inside this call, those
// that Release had let through first. On the parallel runtime any goroutine may
// call it, on the deterministic one only code that runs on it.
func (l *Latch) OpenNow() bool {
	l.mu.Lock()
	if l.open {
		l.mu.Unlock()
		return false
	}
	l.open, l.flushing = true, false
	// Both lists are emptied before the first fiber runs: it may close the latch
	// and others may wait at it again, whom this call must not let through.
	scheduled, waiters := l.scheduled.Drain(), l.waiters.Drain()
	l.mu.Unlock()
	for _, first := range [2]*list.Node[scope.Token]{scheduled, waiters} {
		for n := first; n != nil; n = n.Next() {
			n.Value.Wake()
		}
	}
	return true
}

// CloseNow closes the latch outside any effect and tells whether it was open
// (TypeScript: closeUnsafe). Any goroutine may call it.
func (l *Latch) CloseNow() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.open
	l.open = false
	return was
}

// Release lets the fibers through that wait now, and leaves the latch closed. It
// answers false when the latch is open.
func (l *Latch) Release() Effect[bool] {
	return Effect[bool]{step: func(f *scope.Fiber) (bool, *scope.Cause, Effect[bool]) {
		l.mu.Lock()
		if l.open {
			l.mu.Unlock()
			return false, nil, Effect[bool]{}
		}
		l.letThrough(f)
		return true, nil, Effect[bool]{}
	}}
}

// letThrough schedules the waiters; it is entered with mu held and gives it
// back.
func (l *Latch) letThrough(f *scope.Fiber) {
	first := !l.flushing && l.waiters.Len() > 0
	for n := l.waiters.Shift(); n != nil; n = l.waiters.Shift() {
		l.scheduled.Push(n)
	}
	l.flushing = l.flushing || first
	l.mu.Unlock()
	if first {
		scope.Dispatch(f, l.flush)
	}
}

func (l *Latch) flush() {
	l.mu.Lock()
	l.flushing = false
	waiters := l.scheduled.Drain()
	l.mu.Unlock()
	for n := waiters; n != nil; n = n.Next() {
		n.Value.Wake()
	}
}

// Close closes the latch and tells whether it was open.
func (l *Latch) Close() Effect[bool] { return Sync(l.CloseNow) }

// IsOpen tells whether the latch is open. Any goroutine may call it.
func (l *Latch) IsOpen() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

// Await waits until the latch lets it through.
func (l *Latch) Await() Effect[Unit] {
	return Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
		l.mu.Lock()
		if l.open {
			l.mu.Unlock()
			return Unit{}, nil, Effect[Unit]{}
		}
		node := &list.Node[scope.Token]{Value: f.Arm()}
		l.waiters.Push(node)
		l.mu.Unlock()
		p := f.Block(node.Value, waitLatch)
		if p.Cause == nil && !p.Slept {
			return Unit{}, nil, Effect[Unit]{}
		}
		return Unit{}, f.Settle(p.Cause, func() *scope.Cause {
			l.mu.Lock()
			defer l.mu.Unlock()
			if !l.waiters.Remove(node) {
				l.scheduled.Remove(node)
			}
			return nil
		}), Effect[Unit]{}
	}}
}

var waitLatch = &scope.Waiting{What: "a Latch"}

// WhenOpen runs e once the latch lets it through.
func (l *Latch) WhenOpen[A any](e Effect[A]) Effect[A] { return l.Await().AndThen(e) }
