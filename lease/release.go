package lease

import (
	"log/slog"
	"sync"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// close is the finalizer in the scope that acquired the lease.
func (l *Lease) close(f *scope.Fiber, _ scope.Exit[any]) *scope.Cause {
	l.announce(LostReleased)
	// The lease is renewed on while its work ends, which may take its time.
	l.awaitWorks(f)
	l.mu.Lock()
	// Nothing depends on the trust any more. A record that is somebody else's is
	// not even read again.
	gone := l.over && l.lost.Reason == LostTakenOver
	timer := l.timer
	l.mu.Unlock()
	timer.Stop()
	// Here, so that whatever becomes of the retirement nothing renews any more.
	l.heartbeat.Interrupt(f.ID())
	var failure lastFailure
	retirement := f.Fork(func(f *scope.Fiber) *scope.Cause {
		if c := f.InterruptAwait(l.heartbeat); c != nil {
			return c
		}
		if gone {
			return nil
		}
		wrote, c := l.m.retire(f, l.token.Key, func(r Record) bool {
			return r.Generation == l.token.Generation && r.HolderID == mo.Some(l.id)
		}, &failure)
		if wrote {
			l.m.tell(Released{l.token})
		}
		return c
	}, scope.ForkConfig{Immediate: true, Daemon: true})
	done := awaitFor(f, retirement, l.m.config.Heartbeat)
	l.m.poke(l.token.Key)
	if err, final := failure.get(); !done || final {
		// An observer may end the goroutine, so it comes last.
		defer l.m.abandoned(ReleaseAbandoned{l.token, err})
		retirement.Interrupt(f.ID())
	}
	return nil
}

// awaitWorks waits for the fenced work of this handle, but for what the closing
// fiber is itself part of.
func (l *Lease) awaitWorks(f *scope.Fiber) {
	inside := fencedIn(f.Env())
	for {
		l.mu.Lock()
		var next *fencedRun
		for _, run := range l.works.Values() {
			if !inside.within(run) {
				next = run
				break
			}
		}
		l.mu.Unlock()
		if next == nil {
			return
		}
		effect.RunOn(f, next.ended.Await())
	}
}

// lastFailure is what a release failed with last; who gives it up reads it while it
// goes on.
type lastFailure struct {
	mu    sync.Mutex
	err   error
	final bool // there is no use in trying again
}

func (l *lastFailure) set(err error, final bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err, l.final = err, final
}

func (l *lastFailure) get() (err error, final bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err, l.final
}

// retire writes a tombstone over the acquisition that own recognizes, and over
// nothing else. It ends when that is done, or there is nothing to do, or the
// repository fails in a way that no time mends; while it fails in another it tries
// again until it is interrupted. Its caller does not wait for ever.
func (m *Manager) retire(f *scope.Fiber, key string, own func(Record) bool, failure *lastFailure) (wrote bool, _ *scope.Cause) {
	pause := max(m.config.Heartbeat/16, time.Millisecond)
	for races := 0; races <= maxRaces; {
		done, c := m.retireOnce(f, key, own)
		if c == nil {
			return done, nil
		}
		if c.HasInterrupts() {
			return false, c
		}
		err := c.Err()
		if _, conflict := errors.AsType[*RevisionConflict](err); conflict {
			races++
			continue
		}
		final := lasting(err)
		failure.set(err, final)
		if final {
			return false, nil
		}
		if _, c := effect.RunOn(f, effect.Sleep(pause)); c != nil {
			return false, c
		}
		pause *= 2
	}
	return false, nil
}

func (m *Manager) retireOnce(f *scope.Fiber, key string, own func(Record) bool) (wrote bool, _ *scope.Cause) {
	stored, c := effect.RunOn(f, m.load(key))
	if c != nil {
		return false, c
	}
	r, ok := stored.Get()
	if !ok || !own(r) {
		return false, nil
	}
	next, err := r.released(wall(f.Clock()))
	if err != nil {
		return false, nil // at the end of its numbers: left to its TTL
	}
	_, c = effect.RunOn(f, m.save(key, next, mo.Some(r.Revision)))
	return c == nil, c
}

// abandon takes care of an acquisition that failed without knowing whether it
// was written: it must lock nobody out. Until the repository has answered this
// manager takes it over at once, a fiber tries to release it, and the scope that
// wanted it waits a Heartbeat at most for that. Nothing is read before saving, the
// write itself, has ended: it could land after the read.
func (m *Manager) abandon(f *scope.Fiber, at *scope.Scope, token FencingToken, id string, saving *scope.Fiber) {
	key := token.Key
	m.mu.Lock()
	if m.orphans[key] == nil {
		m.orphans[key] = make(map[string]struct{})
	}
	m.orphans[key][id] = struct{}{}
	m.mu.Unlock()
	var failure lastFailure
	retirement := f.Fork(func(f *scope.Fiber) *scope.Cause {
		forget := func() { m.forget(key, id) }
		defer func() { forget() }()
		if c := f.Await(saving); c != nil {
			return c
		}
		clock := f.Clock()
		timer := clock.AfterFunc(m.config.TTL, func() { f.Interrupt(0) })
		_, c := m.retire(f, key, func(r Record) bool { return r.HolderID == mo.Some(id) }, &failure)
		timer.Stop()
		if _, final := failure.get(); final {
			// Should somebody mend the store, this manager is not to be kept out by itself.
			forget = func() { clock.AfterFunc(m.config.TTL, func() { m.forget(key, id) }) }
		}
		return c
	}, scope.ForkConfig{Daemon: true})
	at.Add(f, func(f *scope.Fiber, _ scope.Exit[any]) *scope.Cause {
		done := awaitFor(f, retirement, m.config.Heartbeat)
		if err, final := failure.get(); !done || final {
			defer m.abandoned(ReleaseAbandoned{token, err})
			retirement.Interrupt(f.ID())
		}
		return nil
	})
}

func (m *Manager) forget(key, id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if delete(m.orphans[key], id); len(m.orphans[key]) == 0 {
		delete(m.orphans, key)
	}
}

// abandoned tells of a release that gave up; somebody must hear of it.
func (m *Manager) abandoned(e ReleaseAbandoned) {
	if m.config.Observer == nil {
		SlogObserver(slog.Default()).tell(e)
		return
	}
	m.tell(e)
}

// awaitFor waits for target's end, for d at most, and tells whether it came. The
// fiber is masked.
func awaitFor(f, target *scope.Fiber, d time.Duration) bool {
	if _, done := target.Exited(); done {
		return true
	}
	t := f.Arm()
	timer := f.Clock().AfterFunc(d, func() { t.Wake() })
	o := scope.NewObserver(func(*scope.Fiber) { t.Wake() })
	if !target.Observe(o) {
		t.Wake()
	}
	f.BlockFirmly(t, &scope.Waiting{What: "a lease's release", Fiber: target})
	timer.Stop()
	target.Unobserve(o)
	_, done := target.Exited()
	return done
}
