package lease

import (
	"hash/fnv"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// beat is the heartbeat's fiber. It ends when there is nothing left to renew, or
// by the interruption of the release.
func (l *Lease) beat(f *scope.Fiber) *scope.Cause {
	// The heartbeat counts from when the trust does.
	l.mu.Lock()
	last := l.deadline - l.m.config.TTL
	l.mu.Unlock()
	jitter := newJitter(l.id)
	for {
		pause := last + jitter.shorten(l.m.config.Heartbeat) - f.Clock().Monotonic()
		if _, c := effect.RunOn(f, effect.Sleep(pause)); c != nil {
			return c
		}
		last = f.Clock().Monotonic()
		if l.isOver() {
			return nil
		}
		if c := l.renew(f, last); c != nil {
			return c
		}
		if l.isOver() {
			return nil
		}
	}
}

func (l *Lease) isOver() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// renew tries once. The cause is an interruption; a failure is told to the
// observer, and the next heartbeat tries again.
func (l *Lease) renew(f *scope.Fiber, start time.Duration) *scope.Cause {
	before := l.attempt(start)
	next, err := before.renewed(wall(f.Clock()))
	if err != nil {
		l.m.tell(RenewalFailed{l.token, err})
		return nil
	}
	_, c := effect.RunOn(f, l.m.save(l.token.Key, next, mo.Some(before.Revision)))
	if c == nil {
		l.confirm(start, next, f.Clock().Monotonic())
		return nil
	}
	if c.HasInterrupts() {
		return c
	}
	// A conflict may be one with an own write, and a failed one may have arrived.
	failure := c.Err()
	stored, c := effect.RunOn(f, l.m.load(l.token.Key))
	if c != nil {
		if c.HasInterrupts() {
			return c
		}
		l.m.tell(RenewalFailed{l.token, failure})
		return nil
	}
	s := standingOf(l.token, l.id, stored)
	r, ours := s.record.Get()
	switch {
	case !ours:
		l.lose(s.reason)
	case r.Revision == before.Revision:
		l.m.tell(RenewalFailed{l.token, failure})
	default:
		l.confirm(l.earliest(start), r, f.Clock().Monotonic())
	}
	return nil
}

// attempt notes that a renewal begins, and gives the record that it is to renew.
func (l *Lease) attempt(start time.Duration) Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.unconfirmed.IsAbsent() {
		l.unconfirmed = mo.Some(start)
	}
	return l.record
}

func (l *Lease) earliest(start time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unconfirmed.OrElse(start)
}

// confirm notes that r is ours and stored, by an attempt that began at start. An
// answer that comes after the trust has ended does not bring it back, even when
// the timer is late: what was ours for a moment longer than we knew is lost.
func (l *Lease) confirm(start time.Duration, r Record, now time.Duration) {
	l.mu.Lock()
	l.record = r
	l.unconfirmed = mo.None[time.Duration]()
	over, late := l.over, now >= l.deadline
	if !over && !late {
		l.deadline = max(l.deadline, later(start, l.m.config.TTL))
	}
	l.mu.Unlock()
	switch {
	case over:
	case late:
		l.lose(LostExpired)
	default:
		l.m.tell(Renewed{Token: l.token, Revision: r.Revision, Took: now - start})
	}
}

// jitter takes up to a tenth off a pause. It depends on the id of the
// acquisition alone, so that a run with known ids repeats.
type jitter struct{ state uint64 }

func newJitter(id string) *jitter {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	return &jitter{h.Sum64()}
}

func (j *jitter) shorten(d time.Duration) time.Duration {
	j.state = j.state*6364136223846793005 + 1442695040888963407
	part := time.Duration(j.state >> 54) // ten bits
	return d - d/10/1024*part
}
