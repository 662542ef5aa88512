package lease

import (
	"sync"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/internal/list"
	"github.com/rivus/tether/scope"
)

// Lease is one acquisition, held until the scope that acquired it closes or it is
// lost. Its methods may be called from any fiber, and after its end.
type Lease struct {
	m *Manager
	// clock is one whose timers no fiber holds up.
	clock scope.Clock
	token FencingToken
	id    string
	// loss never succeeds; it is complete when lost is set.
	loss *effect.Deferred[effect.Nothing]

	// heartbeat renews; set once, before the handle is given out.
	heartbeat *scope.Fiber
	// tried is when the last renewal began, or the acquisition, and node is the place
	// in the manager's held; the manager's mutex guards both.
	tried time.Duration
	node  list.Node[*Lease]

	mu sync.Mutex
	// record is the latest that is known to be ours.
	record Record
	// unconfirmed is when the earliest renewal began of which it is not known
	// whether it was written, if anyUnconfirmed: a record that is found later may be
	// that one.
	unconfirmed    time.Duration
	anyUnconfirmed bool
	// wake is the heartbeat's wait until pause after the last try, the zero Token when
	// it does not wait, and due its timer.
	wake  scope.Token
	pause time.Duration
	due   scope.Timer
	// deadline is when the trust ends; timer looks at it then, and again if it has
	// moved meanwhile, so that a renewal costs no timer.
	deadline time.Duration
	timer    scope.Timer
	// lost is set once: what every waiter hears, and hear, if set, first.
	lost *Lost
	hear func(*Lost)
	// over: there is nothing left to renew. A scope that closes sets lost first,
	// and renews on until its fenced work has ended.
	over bool
	// works are the calls of RunFenced under way.
	works list.List[*fencedRun]
}

func newLease(m *Manager, clock scope.Clock, r Record, id string, start time.Duration) *Lease {
	l := &Lease{
		m: m, clock: scope.BaseClock(clock), token: r.Token(), id: id, record: r, tried: start,
		deadline: later(start, m.config.TTL), loss: effect.NewDeferred[effect.Nothing](),
	}
	l.node.Value = l
	return l
}

// Key is what is held.
func (l *Lease) Key() string { return l.token.Key }

// Token is the fencing token of this acquisition. Give it to every resource that
// the work writes to, and let that check it with [CheckFence].
func (l *Lease) Token() FencingToken { return l.token }

// Lost fails with *Lost when the lease is lost, and with the reason released
// when its scope closes. It never succeeds. Every waiter gets the same value.
func (l *Lease) Lost() effect.Effect[effect.Nothing] { return l.loss.Await() }

// start begins the heartbeat and ties the lease to its scope. The fiber is
// masked.
func (l *Lease) start(f *scope.Fiber, at *scope.Scope) *scope.Cause {
	// No fiber that computes for long may keep the lease from being renewed.
	l.heartbeat = f.ForkBeside(l.beat)
	l.mu.Lock()
	l.timer = l.clock.AfterFunc(l.deadline-l.clock.Monotonic(), l.checkTrust)
	l.mu.Unlock()
	// In a scope that is closed already this releases at once.
	return at.Add(f, l.close)
}

// checkTrust is the timer's call.
func (l *Lease) checkTrust() {
	l.mu.Lock()
	if l.over {
		l.mu.Unlock()
		return
	}
	if left := l.deadline - l.clock.Monotonic(); left > 0 {
		l.timer = l.clock.AfterFunc(left, l.checkTrust)
		l.mu.Unlock()
		return
	}
	l.mu.Unlock()
	l.lose(LostExpired)
}

// check is the loss, or nil while the lease may be relied on. It looks at the
// clock itself: the timer and the heartbeat may be late (a stopped process, a
// starved scheduler).
func (l *Lease) check() *Lost {
	l.mu.Lock()
	lost, over := l.lost, l.clock.Monotonic() >= l.deadline
	l.mu.Unlock()
	if lost == nil && over {
		return l.lose(LostExpired)
	}
	return lost
}

// lose ends the lease for a reason that is not its own release, and gives the
// loss that counts, which may be an earlier one.
func (l *Lease) lose(reason LostReason) *Lost {
	l.mu.Lock()
	l.over = true
	timer := l.timer
	l.mu.Unlock()
	if timer != nil {
		timer.Stop()
	}
	lost, first := l.announce(reason)
	if first {
		l.m.tell(WasLost{lost})
	}
	return lost
}

// announce sets the loss and tells every waiter, once.
func (l *Lease) announce(reason LostReason) (lost *Lost, first bool) {
	l.mu.Lock()
	if l.lost == nil {
		l.lost, first = &Lost{Key: l.token.Key, Generation: l.token.Generation, Reason: reason}, true
	}
	lost = l.lost
	hear := l.hear
	l.mu.Unlock()
	if first && hear != nil {
		hear(lost)
	}
	if first {
		l.loss.CompleteNow(effect.Fail[effect.Nothing](lost))
	}
	return lost, first
}

// onLoss has hear called once with the loss, before anybody else hears of it, or at
// once when it has come. hear is quick and starts no code of a user.
func (l *Lease) onLoss(hear func(*Lost)) {
	l.mu.Lock()
	lost := l.lost
	l.hear = hear
	l.mu.Unlock()
	if lost != nil {
		hear(lost)
	}
}
