package scope

import (
	"container/heap"
	"math"
	"time"
)

// VirtualClock is the clock of a deterministic run. It moves only when nothing
// is ready, to the earliest timer; timers of one time fire in the order they
// were set. Its methods may be called only by code that runs on the runtime.
type VirtualClock struct {
	start  time.Time
	now    time.Duration
	offset time.Duration
	seq    uint64
	timers timerHeap
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
// does nothing.
func (c *VirtualClock) Skip(d time.Duration) { c.now += max(d, 0) }

// AfterFunc implements Clock.
func (c *VirtualClock) AfterFunc(d time.Duration, f func()) Timer {
	c.seq++
	at := c.now + max(d, 0)
	if at < c.now {
		// Too long for a duration; it must not become the next one to fire.
		at = math.MaxInt64
	}
	t := &virtualTimer{clock: c, at: at, seq: c.seq, fn: f}
	heap.Push(&c.timers, t)
	return t
}

// Timers is the number of timers that are set.
func (c *VirtualClock) Timers() int { return len(c.timers) }

func (c *VirtualClock) fireNext() bool {
	if len(c.timers) == 0 {
		return false
	}
	t := heap.Pop(&c.timers).(*virtualTimer)
	c.now = max(c.now, t.at)
	t.fn()
	return true
}

type virtualTimer struct {
	clock *VirtualClock
	at    time.Duration
	seq   uint64
	fn    func()
	index int
}

// Stop implements Timer.
func (t *virtualTimer) Stop() bool {
	if t.index < 0 {
		return false
	}
	heap.Remove(&t.clock.timers, t.index)
	return true
}

type timerHeap []*virtualTimer

func (h timerHeap) Len() int { return len(h) }
func (h timerHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || (h[i].at == h[j].at && h[i].seq < h[j].seq)
}

func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *timerHeap) Push(x any) {
	t := x.(*virtualTimer)
	t.index = len(*h)
	*h = append(*h, t)
}

func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	t.index = -1
	*h = old[:len(old)-1]
	return t
}
