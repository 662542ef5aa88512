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
	l.m.hold(l)
	defer l.m.drop(l)
	jitter := newJitter(l.id)
	for {
		if c := l.awaitBeat(f, jitter.shorten(l.m.config.Heartbeat)); c != nil {
			return c
		}
		if l.isOver() {
			return nil
		}
		if c := l.m.renew(f, l); c != nil {
			return c
		}
		if l.isOver() {
			return nil
		}
	}
}

var waitBeat = &scope.Waiting{What: "the next heartbeat of a lease"}

// awaitBeat waits until pause has passed since the last try to renew, whoever made
// it: another lease's heartbeat may renew this one with its own, any number of times,
// without waking this fiber. The heartbeat counts from when the trust does.
func (l *Lease) awaitBeat(f *scope.Fiber, pause time.Duration) *scope.Cause {
	t := f.Arm()
	l.mu.Lock()
	l.pause, l.wake = pause, t
	l.mu.Unlock()
	l.awaitDue()
	p := f.Block(t, waitBeat)
	l.mu.Lock()
	l.wake = scope.Token{}
	timer := l.due
	l.mu.Unlock()
	if timer != nil {
		timer.Stop()
	}
	return f.Settle(p.Cause, nil)
}

// awaitDue wakes the waiting heartbeat when it is due, or sets the timer. It is the
// timer's call, and that of who has renewed the lease with others.
func (l *Lease) awaitDue() {
	due := l.m.triedLast(l)
	l.mu.Lock()
	t := l.wake
	if t == (scope.Token{}) {
		l.mu.Unlock()
		return
	}
	if l.due != nil {
		l.due.Stop()
	}
	if left := later(due, l.pause) - l.clock.Monotonic(); left > 0 && !l.over {
		l.due = l.clock.AfterFunc(left, l.awaitDue)
		l.mu.Unlock()
		return
	}
	l.mu.Unlock()
	t.Wake()
}

func (l *Lease) isOver() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// renewal is one try to renew one lease.
type renewal struct {
	lease        *Lease
	before, next Record
}

// renewAlone tries once. The cause is an interruption; a failure is told to the
// observer, and the next heartbeat tries again.
func (l *Lease) renewAlone(f *scope.Fiber, start time.Duration) *scope.Cause {
	r, ok := l.attempt(start, wall(f.Clock()))
	if !ok {
		return nil
	}
	_, c := effect.RunOn(f, l.m.save(l.token.Key, r.next, mo.Some(r.before.Revision)))
	if c == nil {
		l.confirm(start, r.next, f.Clock().Monotonic())
		return nil
	}
	if c.HasInterrupts() {
		return c
	}
	return r.readBack(f, start, c.Err())
}

// readBack finds out what became of a renewal that failed: a conflict may be one
// with an own write, and a failed one may have arrived.
func (r renewal) readBack(f *scope.Fiber, start time.Duration, failure error) *scope.Cause {
	l := r.lease
	stored, c := effect.RunOn(f, l.m.load(l.token.Key))
	if c != nil {
		if c.HasInterrupts() {
			return c
		}
		l.m.tell(RenewalFailed{l.token, failure})
		return nil
	}
	s := standingOf(l.token, l.id, stored)
	found, ours := s.record.Get()
	switch {
	case !ours:
		l.lose(s.reason)
	case found.Revision < r.before.Revision:
		// The store was set back, and what else it forgot nobody knows.
		l.lose(LostMissing)
	case found.Revision == r.before.Revision:
		l.m.tell(RenewalFailed{l.token, failure})
	default:
		l.confirm(l.earliest(start), found, f.Clock().Monotonic())
	}
	return nil
}

// attempt notes that a renewal begins. ok is false when the record cannot be
// renewed any more.
func (l *Lease) attempt(start time.Duration, renewedAt float64) (r renewal, ok bool) {
	l.mu.Lock()
	if !l.anyUnconfirmed {
		l.unconfirmed, l.anyUnconfirmed = start, true
	}
	before := l.record
	l.mu.Unlock()
	next, err := before.renewed(renewedAt)
	if err != nil {
		l.m.tell(RenewalFailed{l.token, err})
		return r, false
	}
	return renewal{lease: l, before: before, next: next}, true
}

func (l *Lease) earliest(start time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.anyUnconfirmed {
		return l.unconfirmed
	}
	return start
}

// confirm notes that r is ours and stored, by an attempt that began at start. An
// answer that comes after the trust has ended does not bring it back, even when
// the timer is late: what was ours for a moment longer than we knew is lost.
func (l *Lease) confirm(start time.Duration, r Record, now time.Duration) {
	l.mu.Lock()
	// Two tries may be under way, when one hangs: what is known never goes back.
	if r.Revision >= l.record.Revision {
		l.record = r
		l.anyUnconfirmed = false
	}
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
