package lease

import (
	"slices"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// maxBatch bounds for how long one transaction keeps everybody else waiting: some
// milliseconds.
const maxBatch = 256

// hold adds a lease to those that may be renewed together.
func (m *Manager) hold(l *Lease) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.batch != nil {
		m.held.Push(&l.node)
	}
}

func (m *Manager) drop(l *Lease) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held.Remove(&l.node)
}

func (m *Manager) triedLast(l *Lease) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return l.tried
}

// renew renews l, which is due, and with it in one write, where the repository can,
// those that have waited for as long as jitter may make a heartbeat. So leases that
// once met stay together. The cause is an interruption of l's heartbeat: for the
// others that is a renewal of unknown outcome, like any that failed.
func (m *Manager) renew(f *scope.Fiber, l *Lease) *scope.Cause {
	start := f.Clock().Monotonic()
	due := m.gather(l, start)
	if len(due) == 1 {
		return l.renewAlone(f, start)
	}
	renewals := make([]renewal, 0, len(due))
	writes := make([]Write, 0, len(due))
	at := wall(f.Clock())
	for _, other := range due {
		if other.isOver() {
			continue
		}
		if other != l {
			other.awaitDue() // its own heartbeat need not wake for this
		}
		if r, ok := other.attempt(start, at); ok {
			renewals = append(renewals, r)
			writes = append(writes, Write{Next: r.next, Expected: mo.Some(r.before.Revision)})
		}
	}
	if len(writes) == 0 {
		return nil
	}
	errs, c := effect.RunOn(f, effect.Suspend(func() effect.Effect[[]error] { return m.batch.SaveAll(writes) }))
	if c.HasInterrupts() {
		// l is released. The others must not pay for that with a whole heartbeat.
		m.hasten(l, renewals)
		return c
	}
	if c == nil && len(errs) != len(writes) {
		c = scope.CauseFail(errAnswers)
	}
	now := f.Clock().Monotonic()
	var failed []renewal
	var why []error
	for i, r := range renewals {
		err := c.Err()
		if c == nil {
			err = errs[i]
		}
		if err == nil {
			r.lease.confirm(start, r.next, now)
			continue
		}
		failed, why = append(failed, r), append(why, named(r.lease.token.Key, err))
	}
	// Reading may take its time, so the good news came first.
	for i, r := range failed {
		if c := r.readBack(f, start, why[i]); c != nil {
			m.hasten(l, failed[i:]) // as above
			return c
		}
	}
	return nil
}

var errAnswers = errors.New("lease: SaveAll must answer for each of the writes")

// named is the failure of a batch as one of the key's.
func named(key string, err error) error {
	if e, ok := errors.AsType[*RepositoryFailure](err); ok && e.Key == "" {
		e := *e
		e.Key = key
		return &e
	}
	return err
}

// hasten makes the leases that l's heartbeat carried due at once. They come first among
// those that are held, where whoever is renewed next finds them, so that they stay
// together.
func (m *Manager) hasten(l *Lease, renewals []renewal) {
	m.mu.Lock()
	for _, r := range slices.Backward(renewals) {
		if r.lease == l || !r.lease.node.Listed() { // it has ended
			continue
		}
		r.lease.tried -= m.config.Heartbeat
		m.held.Remove(&r.lease.node)
		m.held.PushFront(&r.lease.node)
	}
	m.mu.Unlock()
	for _, r := range renewals {
		if r.lease != l {
			r.lease.awaitDue()
		}
	}
}

// gather notes that l and those that go with it are tried now, and gives them.
func (m *Manager) gather(l *Lease, now time.Duration) []*Lease {
	m.mu.Lock()
	defer m.mu.Unlock()
	l.tried = now
	due := []*Lease{l}
	if m.batch == nil {
		return due
	}
	m.requeue(l)
	soonest := m.config.Heartbeat - m.config.Heartbeat/10
	for node := m.held.Front(); node != nil && len(due) < maxBatch; {
		other := node.Value
		if other.tried > now-soonest {
			break
		}
		node = node.Next()
		if same(other.clock, l.clock) {
			other.tried = now
			m.requeue(other)
			due = append(due, other)
		}
	}
	return due
}

func (m *Manager) requeue(l *Lease) {
	m.held.Remove(&l.node)
	m.held.Push(&l.node)
}
