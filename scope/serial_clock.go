package scope

import (
	"sync"
	"time"
)

// serialClock is the clock of a serial runtime: its timers' functions run there.
type serialClock struct {
	s    *Serial
	base Clock
}

// BaseClock is the clock that c tells the time of: another one for a serial runtime's,
// and c itself for every other. The times of two clocks with one base may be compared,
// and timers of the base fire beside the runtime, also while a fiber holds it up.
func BaseClock(c Clock) Clock {
	if s, ok := c.(*serialClock); ok {
		return s.base
	}
	return c
}

// Now implements Clock.
func (c *serialClock) Now() time.Time { return c.base.Now() }

// Monotonic implements Clock.
func (c *serialClock) Monotonic() time.Duration { return c.base.Monotonic() }

// AfterFunc implements Clock. Of several that are due those fire first that were due
// first, and of one time those that were set first.
func (c *serialClock) AfterFunc(d time.Duration, f func()) Timer {
	s := c.s
	t := &serialTimer{s: s, timer: timer{at: due(c.base.Monotonic(), d), index: -1, fn: f}}
	if s.outside() {
		s.post(call(t.add))
	} else {
		t.add()
	}
	return t
}

type serialTimer struct {
	timer
	s *Serial
}

func (t *serialTimer) add() {
	if !t.settled.Load() {
		t.s.timers.number(&t.timer)
		t.s.timers.add(&t.timer)
	}
}

// Stop implements Timer.
func (t *serialTimer) Stop() bool {
	if !t.settle() {
		return false
	}
	if t.s.outside() {
		t.s.post(call(func() { t.s.timers.remove(&t.timer) }))
	} else {
		t.s.timers.remove(&t.timer)
	}
	return true
}

// alarm wakes a runtime that sleeps when its next timer is due. It is not taken back
// when that timer is: most are stopped, and what rings too early costs little.
type alarm struct {
	mu      sync.Mutex
	timer   Timer
	at      time.Duration
	pending bool
}

func (a *alarm) set(s *Serial, at time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pending && a.at <= at {
		return
	}
	if a.pending {
		a.timer.Stop()
	}
	a.at, a.pending = at, true
	d := at - s.clock.base.Monotonic()
	if again, ok := a.timer.(interface{ Reset(d time.Duration) bool }); ok {
		again.Reset(d)
		return
	}
	a.timer = s.clock.base.AfterFunc(d, func() {
		a.mu.Lock()
		a.pending = false
		a.mu.Unlock()
		s.ring()
	})
}

func (a *alarm) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pending {
		a.timer.Stop()
		a.pending = false
	}
}
