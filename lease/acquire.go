package lease

import (
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// AcquireOption changes how Acquire goes about it.
type AcquireOption func(*acquireSettings)

type acquireSettings struct{ wait bool }

// Wait makes Acquire keep trying while somebody else holds the lease or the
// repository is busy, every Config.Retry and when news of a release comes.
func Wait() AcquireOption { return func(s *acquireSettings) { s.wait = true } }

// maxRaces is how often an acquisition, or a release, that lost to another write
// tries again.
const maxRaces = 8

// Acquire takes the lease of key for the scope at hand: closing that scope
// releases it. Without a scope, or with an empty key, it is a defect.
//
// It fails with *Held while another holder is alive or was seen renewing within
// a TTL, and with *RepositoryFailure (busy: the repository is locked, or eight
// others were faster). With Wait only the failures of the repository other than
// busy are left; waiters of one manager get the lease in the order in which they
// came.
//
// An interruption ends it between tries, during a read as soon as the repository
// lets go, and during the write at once, even while the repository hangs. What is
// not known of that write then is not left behind: it is the scope's to release,
// as a lease is. A write that lands after even that gave up costs others a TTL.
func (m *Manager) Acquire(key string, options ...AcquireOption) effect.Effect[*Lease] {
	var s acquireSettings
	for _, o := range options {
		o(&s)
	}
	switch {
	case key == "":
		return effect.Die[*Lease](errEmptyKey)
	case s.wait:
		return m.acquireWaiting(key)
	default:
		return m.acquire(key)
	}
}

// acquire is one try.
func (m *Manager) acquire(key string) effect.Effect[*Lease] {
	return effect.UninterruptibleMask(func(restore effect.Restore) effect.Effect[*Lease] {
		return effect.Direct(func(f *scope.Fiber) (*Lease, *scope.Cause) {
			at, c := effect.RunOn(f, effect.Scope())
			if c != nil {
				return nil, c
			}
			a := acquisition{m: m, key: key, restore: restore}
			l, c := a.run(f)
			if c != nil {
				if a.sent {
					m.abandon(f, at, FencingToken{key, a.generation}, a.id, a.saving)
				}
				return nil, c
			}
			if c := a.begin(f, at, l); c != nil {
				return nil, c
			}
			return l, nil
		})
	})
}

// acquisition is one try under way.
type acquisition struct {
	m       *Manager
	key     string
	restore effect.Restore
	holder  Holder
	id      string
	// sent: a write may be stored of which it is not known whether it is.
	sent       bool
	generation int64        // of the last write
	saving     *scope.Fiber // the last write's; its end may be outstanding
	event      Acquired     // of the lease that is taken
}

func (a *acquisition) run(f *scope.Fiber) (*Lease, *scope.Cause) {
	var unknown error // what the write failed with whose outcome is to be read
	for range maxRaces + 1 {
		asked := f.Clock().Monotonic()
		stored, c := effect.RunOn(f, a.restore.Run(a.m.load(a.key)))
		if c != nil {
			return nil, c
		}
		answered := f.Clock().Monotonic()
		// A write that failed has arrived all the same. It may not be durable, which
		// no read can tell: only a write that is confirmed counts, so there is another.
		arrived := a.sent && stored.OrEmpty().HolderID == mo.Some(a.id)
		if !arrived {
			a.sent = false
			if unknown != nil {
				return nil, scope.CauseFail(unknown)
			}
			if c := a.mayTake(f, stored, asked, answered); c != nil {
				return nil, c
			}
		}
		l, c, err := a.write(f, stored, arrived)
		if l != nil || c != nil {
			return l, c
		}
		unknown = err
		if _, conflict := errors.AsType[*RevisionConflict](err); conflict {
			unknown = nil
		}
	}
	if unknown != nil {
		return nil, scope.CauseFail(unknown)
	}
	return nil, scope.CauseFail(&RepositoryFailure{
		Key: a.key, Reason: RepositoryBusy,
		Message: "others were faster " + number(maxRaces) + " times; try again",
	})
}

// mayTake fails with *Held when stored may not be written over, and notes in the
// event why it may.
func (a *acquisition) mayTake(f *scope.Fiber, stored mo.Option[Record], asked, answered time.Duration) *scope.Cause {
	liveness, c := a.judge(stored)
	if c != nil {
		return c
	}
	why, take := a.m.look(f.Clock(), a.key, stored, liveness, asked, answered)
	if !take {
		r := stored.OrEmpty()
		return scope.CauseFail(&Held{
			Key: a.key, Generation: r.Generation, Holder: r.Holder.OrEmpty(), HolderID: r.HolderID.OrEmpty(),
		})
	}
	a.event.Previous, a.event.Takeover = stored, why
	return nil
}

// judge looks for the holder's process, if there is a holder. Who I am is needed
// for the own record, too, so it is read first, once. It runs on the fiber: a look
// takes some microseconds, and beside the fibers it would make their order depend
// on the machine.
func (a *acquisition) judge(stored mo.Option[Record]) (platform.Liveness, *scope.Cause) {
	process := a.m.platform.Process
	if a.id == "" {
		self, err := process.Self()
		if err != nil {
			return platform.Unknown, scope.CauseFail(&RepositoryFailure{
				Key: a.key, Reason: RepositoryUnavailable, Cause: err,
				Message: "a lease names its holder, and this process has no identity: " + err.Error(),
			})
		}
		a.holder = Holder{Identity: self, TTL: a.m.config.TTL}
		a.id = a.m.newID()
	}
	h, ok := stored.OrEmpty().Holder.Get()
	if !ok {
		return platform.Unknown, nil
	}
	return platform.Judge(a.holder.Identity, h.Identity, process.Identify), nil
}

// write tries to put the own acquisition over stored, which it is already if it has
// arrived. err is why that failed when it is to be read back whether it did.
func (a *acquisition) write(f *scope.Fiber, stored mo.Option[Record], arrived bool) (l *Lease, c *scope.Cause, err error) {
	next, err := acquired(a.key, stored, a.holder, a.id, wall(f.Clock()))
	if arrived {
		next, err = stored.OrEmpty().renewed(wall(f.Clock()))
	}
	if err != nil {
		return nil, scope.CauseFail(&RepositoryFailure{
			Key: a.key, Reason: RepositoryInvalidRecord, Cause: err,
			Message: "the key has come to its end: " + err.Error(),
		}), nil
	}
	expected := mo.None[int64]()
	if r, ok := stored.Get(); ok {
		expected = mo.Some(r.Revision)
	}
	a.generation = next.Generation
	start := f.Clock().Monotonic()
	a.sent = true
	if c = a.send(f, next, expected); c == nil {
		a.sent = false
		a.event.Token = next.Token()
		return newLease(a.m, f.Clock(), next, a.id, start), nil, nil
	}
	err, only := c.Failure()
	if !only || c.HasDies() || c.HasInterrupts() {
		return nil, c, nil
	}
	if definite(err) {
		a.sent = arrived
		return nil, c, nil
	}
	return nil, nil, err
}

// send writes on a fiber of its own: who is interrupted need not wait for a
// repository that hangs, whatever it is masked against. The cause is the write's, or
// the interruption of f, after which the write may still be under way.
func (a *acquisition) send(f *scope.Fiber, next Record, expected mo.Option[int64]) *scope.Cause {
	a.saving = f.Fork(func(f *scope.Fiber) *scope.Cause {
		_, c := effect.RunOn(f, a.m.save(a.key, next, expected))
		return c
	}, scope.ForkConfig{Daemon: true})
	if _, c := effect.RunOn(f, a.restore.Run(effect.Direct(func(f *scope.Fiber) (effect.Unit, *scope.Cause) {
		return effect.Unit{}, f.Await(a.saving)
	}))); c != nil {
		a.saving.Interrupt(f.ID())
		return c
	}
	c, _ := a.saving.Exited()
	return c
}

// definite tells whether a Save that failed so has written nothing. A conflict
// may be one with the own write, of a repository that repeats what it sends.
func definite(err error) bool {
	e, ok := errors.AsType[*RepositoryFailure](err)
	return ok && (e.Reason == RepositoryUnsupportedSchema || e.Reason == RepositoryUnavailable)
}

// begin tells of the lease and ties it to its scope, in this order, since in a scope
// that is closed it is released at once. An observer that ends the goroutine does not
// keep its release away.
func (a *acquisition) begin(f *scope.Fiber, at *scope.Scope, l *Lease) (c *scope.Cause) {
	defer func() { c = l.start(f, at) }()
	a.m.tell(a.event)
	return nil
}
