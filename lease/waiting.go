package lease

import (
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
)

// waitlist is everybody in one manager who waits for one key. The first polls for
// all. The manager's mutex guards it.
type waitlist struct {
	turn  *effect.Semaphore
	users int
	// next is when the next poll is due; news makes it due at once.
	next time.Duration
	news bool
	// head is the wait of the first, while it waits for the next poll, else the zero
	// Token.
	head scope.Token
	// watch holds the watch for releases; nil: nobody has had to wait yet.
	watch *scope.Scope
}

// acquireWaiting is acquire until it succeeds.
func (m *Manager) acquireWaiting(key string) effect.Effect[*Lease] {
	return effect.AcquireUseRelease(
		effect.Sync(func() *waitlist { return m.join(key) }),
		func(l *waitlist) effect.Effect[*Lease] { return l.turn.WithPermits(1, m.poll(key, l)) },
		func(l *waitlist, _ scope.Exit[*Lease]) effect.Effect[effect.Unit] {
			return effect.Suspend(func() effect.Effect[effect.Unit] {
				if watch := m.leaveWaitlist(key, l); watch != nil {
					return effect.CloseScope(watch, scope.ExitSucceed(0))
				}
				return effect.Void()
			})
		})
}

func (m *Manager) join(key string) *waitlist {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.waitlists[key]
	if l == nil {
		l = &waitlist{turn: effect.NewSemaphore(1)}
		m.waitlists[key] = l
	}
	l.users++
	return l
}

// leaveWaitlist gives the watch that its caller must close, or nil.
func (m *Manager) leaveWaitlist(key string, l *waitlist) *scope.Scope {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.users--; l.users > 0 {
		return nil
	}
	delete(m.waitlists, key)
	return l.watch
}

// poll tries whenever a poll is due. The caller has the waitlist's turn.
func (m *Manager) poll(key string, l *waitlist) effect.Effect[*Lease] {
	return effect.Gen(func(do *effect.Do) *Lease {
		for {
			do.Await(effect.Direct(func(f *scope.Fiber) (effect.Unit, *scope.Cause) {
				return effect.Unit{}, m.awaitPoll(f, l)
			}))
			lease, err := do.Await(effect.Result(m.acquire(key))).Get()
			if err == nil {
				return lease
			}
			if !worthWaiting(err) {
				do.Fail(err)
			}
			do.Await(m.watch(key, l))
		}
	})
}

// watch asks for news of releases, once for the waitlist. Only who really waits does.
// It makes the next poll due at once: a release between the look before and the
// watch was news to nobody.
func (m *Manager) watch(key string, l *waitlist) effect.Effect[effect.Unit] {
	w, ok := m.repository.(ReleaseWatcher)
	if !ok || l.watch != nil { // written with the turn alone
		return effect.Void()
	}
	return effect.Suspend(func() effect.Effect[effect.Unit] {
		s := scope.New(scope.Sequential)
		m.mu.Lock()
		l.watch = s
		m.mu.Unlock()
		return w.WatchReleases(key, func() { m.poke(key) }).ProvideScope(s)
		// News are a hint: without them there is the next poll.
	}).Ignore().AndThen(effect.SyncUnit(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		l.news = true
	})).Uninterruptible()
}

// worthWaiting tells whether time may cure the failure.
func worthWaiting(err error) bool {
	if _, held := errors.AsType[*Held](err); held {
		return true
	}
	e, ok := errors.AsType[*RepositoryFailure](err)
	return ok && e.Reason == RepositoryBusy
}

var waitPoll = &scope.Waiting{What: "the next try for a lease"}

// awaitPoll waits until a poll is due and sets when the next one is.
func (m *Manager) awaitPoll(f *scope.Fiber, l *waitlist) *scope.Cause {
	clock := f.Clock()
	m.mu.Lock()
	m.useClock(clock)
	if wait := l.next - clock.Monotonic(); wait > 0 && !l.news {
		t := f.Arm()
		l.head = t
		m.mu.Unlock()
		timer := clock.AfterFunc(wait, func() { t.Wake() })
		p := f.Block(t, waitPoll)
		timer.Stop()
		c := f.Settle(p.Cause, nil)
		m.mu.Lock()
		l.head = scope.Token{}
		if c != nil {
			m.mu.Unlock()
			return c
		}
	}
	// Before the poll, so that news during it is not lost.
	l.news = false
	l.next = later(clock.Monotonic(), m.config.Retry)
	m.mu.Unlock()
	return nil
}

// poke makes the next poll of the key due at once.
func (m *Manager) poke(key string) {
	m.mu.Lock()
	l := m.waitlists[key]
	if l == nil {
		m.mu.Unlock()
		return
	}
	l.news = true
	head := l.head
	l.head = scope.Token{}
	m.mu.Unlock()
	if head != (scope.Token{}) {
		head.Wake()
	}
}
