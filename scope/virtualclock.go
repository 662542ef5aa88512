package scope

import "time"

// VirtualClock is the clock of a deterministic run. It moves only when nothing
// is ready, to the earliest timer; timers of one time fire in the order they
// were set. Its methods may be called only by code that runs on the runtime.
type VirtualClock struct {
	start  time.Time
	now    time.Duration
	offset time.Duration
	timers timers
}

func newVirtualClock(start time.Time) *VirtualClock {
	if start.IsZero() {
		start = time.UnixMilli(0).UTC()
	}
	return &VirtualClock{start: start}
}

// Now implements Clock.
func (c *VirtualClock) Now() time.Time { return c.start.Add(c.now + c.offset) }

// Monotonic implements Clock.
func (c *VirtualClock) Monotonic() time.Duration { return c.now }

// JumpWall moves the wall clock, and nothing else, by d.
func (c *VirtualClock) JumpWall(d time.Duration) { c.offset += d }

// Skip moves the clock by d and fires nothing: what was due meanwhile fires late,
// at the new time, as in a process that was stopped. A d that is not positive
// does nothing, one that is too long leads to the end of time.
func (c *VirtualClock) Skip(d time.Duration) { c.now = due(c.now, d) }

// AfterFunc implements Clock.
func (c *VirtualClock) AfterFunc(d time.Duration, f func()) Timer {
	t := &virtualTimer{clock: c, timer: timer{at: due(c.now, d), fn: f}}
	c.timers.number(&t.timer)
	c.timers.add(&t.timer)
	return t
}

// Timers is the number of timers that are set.
func (c *VirtualClock) Timers() int { return c.timers.len() }

func (c *VirtualClock) fireNext() bool {
	if c.timers.len() == 0 {
		return false
	}
	t := c.timers.first()
	c.timers.remove(t)
	c.now = max(c.now, t.at)
	t.fn()
	return true
}

type virtualTimer struct {
	timer
	clock *VirtualClock
}

// Stop implements Timer.
func (t *virtualTimer) Stop() bool { return t.clock.timers.remove(&t.timer) }
