package proptest

import (
	"strings"
	"time"

	"github.com/rivus/tether/lease"
	"github.com/samber/mo"
)

// fencingModel is what has happened to one lease and to the resource under its
// fence. Each method is told of one event and gives the rule that it breaks, or
// "". Processes are only names here, and times are the world's.
type fencingModel struct {
	inside   map[*Process]bool // fenced works under way
	lastSeen mo.Option[lease.FencingToken]
	taken    map[int64]bool // the generations that were acquired
	beliefs  map[*Process]*belief
	// together is since when two have believed.
	together mo.Option[time.Duration]
	// landed is when the last write of each generation's holder landed.
	landed map[int64]time.Duration
}

// belief is a handle that its process has not heard to be lost.
type belief struct{ token lease.FencingToken }

func newFencingModel() fencingModel {
	return fencingModel{
		inside: map[*Process]bool{}, taken: map[int64]bool{}, beliefs: map[*Process]*belief{}, landed: map[int64]time.Duration{},
	}
}

func (m *fencingModel) ended(p *Process) {
	delete(m.inside, p)
	delete(m.beliefs, p)
}

func (m *fencingModel) entered(p *Process) string {
	m.inside[p] = true
	if len(m.inside) > 1 {
		return "L13, L14: two fenced works run at the same time"
	}
	return ""
}

func (m *fencingModel) left(p *Process) { delete(m.inside, p) }

// wrote is the resource's: it keeps the highest token with what it protects.
func (m *fencingModel) wrote(token lease.FencingToken) string {
	seen, err := lease.CheckFence(m.lastSeen, token).Get()
	if err != nil {
		return "L13, L15: a stale write came to the resource from fenced work"
	}
	m.lastSeen = mo.Some(seen)
	return ""
}

func (m *fencingModel) acquired(p *Process, b *belief) string {
	again := m.taken[b.token.Generation]
	m.taken[b.token.Generation] = true
	m.beliefs[p] = b
	if again {
		return "L2: two acquisitions have one generation"
	}
	return ""
}

func (m *fencingModel) believes(p *Process) bool { return m.beliefs[p] != nil }

// lost tells whether p had believed so.
func (m *fencingModel) lost(p *Process, b *belief) bool {
	believed := m.beliefs[p] == b
	if believed {
		delete(m.beliefs, p)
	}
	return believed
}

// saved holds a write against the rules of the record. The ids of the writer's
// acquisitions begin with prefix.
func (m *fencingModel) saved(prefix string, old, next lease.Record, now time.Duration) string {
	if !next.IsTombstone() {
		m.landed[next.Generation] = now
	}
	switch {
	case next.Revision != old.Revision+1:
		return "L2: a write did not grow the revision by one"
	case next.Generation == old.Generation && !next.IsTombstone() && next.HolderID != old.HolderID,
		next.Generation != old.Generation && next.Generation != old.Generation+1:
		return "L2: an acquisition did not grow the generation by one"
	case next.IsTombstone() && next.Generation != old.Generation:
		return "L3: a tombstone has another generation"
	case next.IsTombstone() && !strings.HasPrefix(old.HolderID.OrEmpty(), prefix):
		return "L10: a release wrote over a successor's record"
	default:
		return ""
	}
}

// believe is told how many believe that they own the lease; slack is how far
// their clocks may differ.
func (m *fencingModel) believe(believers int, slack, now time.Duration) string {
	switch since, two := m.together.Get(); {
	case believers < 2:
		m.together = mo.None[time.Duration]()
	case !two:
		m.together = mo.Some(now)
	case now-since > slack:
		return "L5, L11: two believe that they own the lease for longer than their clocks differ"
	}
	return ""
}

// heardInTime checks that the belief of p, whose clock runs at that rate, is not
// older than it may be.
func (m *fencingModel) heardInTime(p *Process, rate float64, now time.Duration) string {
	last, known := m.landed[m.beliefs[p].token.Generation]
	if known && time.Duration(float64(now-last)*rate) > fencingTTL+fencingQuantum {
		return "L11: a loss was not heard within a TTL of the last write"
	}
	return ""
}
