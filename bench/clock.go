package main

import (
	"sync"
	"time"

	"github.com/rivus/tether/scope"
)

// shiftedClock is the live clock, which can be put forward: heartbeats come when the
// benchmark wants them.
type shiftedClock struct {
	live *scope.LiveClock

	mu     sync.Mutex
	shift  time.Duration
	timers map[*shiftedTimer]struct{}
}

type shiftedTimer struct {
	clock *shiftedClock
	at    time.Duration
	fn    func()
	real  *time.Timer
}

func newShiftedClock() *shiftedClock {
	return &shiftedClock{live: scope.NewLiveClock(), timers: make(map[*shiftedTimer]struct{})}
}

// Now implements scope.Clock; the wall clock is not put forward.
func (c *shiftedClock) Now() time.Time { return c.live.Now() }

// Monotonic implements scope.Clock.
func (c *shiftedClock) Monotonic() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.live.Monotonic() + c.shift
}

// AfterFunc implements scope.Clock.
func (c *shiftedClock) AfterFunc(d time.Duration, fn func()) scope.Timer {
	t := &shiftedTimer{clock: c, fn: fn}
	c.mu.Lock()
	defer c.mu.Unlock()
	t.at = c.live.Monotonic() + c.shift + d
	t.real = time.AfterFunc(d, func() {
		if t.take() {
			fn()
		}
	})
	c.timers[t] = struct{}{}
	return t
}

func (t *shiftedTimer) take() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	_, waits := t.clock.timers[t]
	delete(t.clock.timers, t)
	return waits
}

// Stop implements scope.Timer.
func (t *shiftedTimer) Stop() bool {
	waits := t.take()
	t.real.Stop()
	return waits
}

// set is how many timers are set.
func (c *shiftedClock) set() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.timers)
}

// next moves the time to the earliest timer and calls it.
func (c *shiftedClock) next() {
	c.mu.Lock()
	var first *shiftedTimer
	for t := range c.timers {
		if first == nil || t.at < first.at {
			first = t
		}
	}
	now := c.live.Monotonic() + c.shift
	c.shift += max(0, first.at-now)
	c.mu.Unlock()
	if first.Stop() {
		first.fn()
	}
}
