package scope

import (
	"math"
	"sync/atomic"
	"time"
)

// timers are calls to come, in the order of their times; those of one time in the
// order they were set. It is a heap.
type timers struct {
	heap []*timer
	seq  uint64
}

// timer is a call to come. It is in no heap when its index is negative.
type timer struct {
	at    time.Duration
	seq   uint64
	index int
	fn    func()
	// settled: it was fired or stopped. A serial runtime's may be stopped by any
	// goroutine.
	settled atomic.Bool
}

// settle answers false when t was fired or stopped before.
func (t *timer) settle() bool { return t.settled.CompareAndSwap(false, true) }

// due is the time that is d after now. A d that is not positive is now; one that is too
// long for a duration must not become the next one to fire.
func due(now, d time.Duration) time.Duration {
	at := now + max(d, 0)
	if at < now {
		return math.MaxInt64
	}
	return at
}

// number gives t its place among those of one time.
func (h *timers) number(t *timer) {
	h.seq++
	t.seq = h.seq
}

func (h *timers) len() int { return len(h.heap) }

// first is the one to fire next; there must be one.
func (h *timers) first() *timer { return h.heap[0] }

func (h *timers) before(a, b *timer) bool {
	return a.at < b.at || (a.at == b.at && a.seq < b.seq)
}

func (h *timers) add(t *timer) {
	t.index = len(h.heap)
	h.heap = append(h.heap, t)
	h.up(t)
}

// remove answers false when t is not in the heap.
func (h *timers) remove(t *timer) bool {
	i := t.index
	if i < 0 {
		return false
	}
	last := h.heap[len(h.heap)-1]
	h.heap[len(h.heap)-1] = nil
	h.heap = h.heap[:len(h.heap)-1]
	t.index = -1
	if t != last {
		h.put(last, i)
		h.up(last)
		h.down(last)
	}
	return true
}

func (h *timers) put(t *timer, i int) { h.heap[i], t.index = t, i }

func (h *timers) up(t *timer) {
	for t.index > 0 {
		parent := h.heap[(t.index-1)/2]
		if !h.before(t, parent) {
			return
		}
		i := parent.index
		h.put(parent, t.index)
		h.put(t, i)
	}
}

func (h *timers) down(t *timer) {
	for {
		i := 2*t.index + 1
		if i >= len(h.heap) {
			return
		}
		if i+1 < len(h.heap) && h.before(h.heap[i+1], h.heap[i]) {
			i++
		}
		child := h.heap[i]
		if !h.before(child, t) {
			return
		}
		h.put(child, t.index)
		h.put(t, i)
	}
}
