package lease

import (
	"reflect"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/internal/list"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// RunFenced runs what work makes of the token while it holds the key's fence:
// no other fenced work of the key runs anywhere meanwhile, and work that began
// earlier, of a holder that lost the lease, has ended, finalizers included.
//
// It fails with *Lost when the lease is lost, before or while it waits or works:
// the work is then interrupted and awaited, and may have done some of what it
// does. It fails with *FenceRejected when the record is another acquisition's,
// and with *RepositoryFailure when it cannot be read or is no record; then work
// never runs. Calling it on a key from inside fenced work of the same key,
// children included, is a defect.
//
// The fence is held until the work's fiber has ended: uninterruptible and
// Blocking code keep it. A goroutine of TryPromise that is left behind does not.
func (l *Lease) RunFenced[A any](work func(FencingToken) effect.Effect[A]) effect.Effect[A] {
	return effect.AcquireUseRelease(
		effect.Direct(l.enter),
		func(run *fencedRun) effect.Effect[A] {
			// The loss is listened to before the work begins, so that it decides
			// even when the work brings it about and never waits.
			lost := l.Lost().Map(func(effect.Nothing) (never A) { return never })
			// The work has the scope of its caller at hand; the fence is in one of
			// its own, which closes when both racers have ended.
			return effect.ScopedWith(func(s *scope.Scope) effect.Effect[A] {
				return lost.RaceFirst(l.m.fence(l.token.Key).ProvideScope(s).
					AndThen(effect.Direct(l.admit)).
					AndThen(effect.Suspend(func() effect.Effect[A] { return work(l.token) }).UpdateEnv(run.in)))
			})
		},
		func(run *fencedRun, _ scope.Exit[A]) effect.Effect[effect.Unit] {
			return effect.SyncUnit(func() { l.leave(run) })
		})
}

// fencedRun is one call of RunFenced. The work carries it among its services, so
// that what runs inside knows.
type fencedRun struct {
	lease *Lease
	outer *fencedRun // the call that this one is inside of, if any
	ended *effect.Deferred[effect.Unit]
	node  *list.Node[*fencedRun]
}

var inside = effect.NewReference("lease.inside", func() *fencedRun { return nil })

// fencedIn is the innermost fenced work that env is of, or nil. A program that plain
// fenced work runs has it in its context.
func fencedIn(env *scope.Env) *fencedRun {
	if run := inside.Value(env); run != nil {
		return run
	}
	return fencedOf(env.Context())
}

// in is env for the work of r: effects find r among their services, and plain Go code
// that they call in its context.
func (r *fencedRun) in(env *scope.Env) *scope.Env {
	return inside.In(env.WithContext(r.context(env.Context())), r)
}

// within tells whether r is run or inside of it.
func (r *fencedRun) within(run *fencedRun) bool {
	for at := r; at != nil; at = at.outer {
		if at == run {
			return true
		}
	}
	return false
}

// holds tells whether the fence of m's key is held around here. A fiber that
// outlived the work it was started in carries that work, but not its fence.
func (r *fencedRun) holds(m *Manager, key string) bool {
	for at := r; at != nil; at = at.outer {
		if at.ended.Completed() {
			continue
		}
		if at.lease.token.Key == key && (at.lease.m == m || same(at.lease.m.repository, m.repository)) {
			return true
		}
	}
	return false
}

// placed is a repository whose fences are at a place that others can open, too.
type placed interface{ place() string }

// same tells whether a and b are one repository, or two of one place. a == b panics
// for types that have no ==; those are not the same.
func same(a, b any) bool {
	if a, ok := a.(placed); ok {
		if b, ok := b.(placed); ok {
			return a.place() == b.place()
		}
	}
	return reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// enter refuses what must not begin and counts what does.
func (l *Lease) enter(f *scope.Fiber) (*fencedRun, *scope.Cause) {
	outer := fencedIn(f.Env())
	if outer.holds(l.m, l.token.Key) {
		return nil, scope.CauseDie(waitsForItself("RunFenced", l.token.Key))
	}
	if lost := l.check(); lost != nil {
		return nil, scope.CauseFail(lost)
	}
	run := &fencedRun{lease: l, outer: outer, ended: effect.NewDeferred[effect.Unit]()}
	run.node = &list.Node[*fencedRun]{Value: run}
	l.mu.Lock()
	defer l.mu.Unlock()
	// A scope that began to close since does not know of this run.
	if l.lost != nil {
		return nil, scope.CauseFail(l.lost)
	}
	l.works.Push(run.node)
	return run, nil
}

func (l *Lease) leave(run *fencedRun) {
	l.mu.Lock()
	l.works.Remove(run.node)
	l.mu.Unlock()
	run.ended.CompleteNow(effect.Void())
}

// admit is the check under the fence: is the record still this acquisition's, and
// is the lease still to be relied on now that it is known?
func (l *Lease) admit(f *scope.Fiber) (effect.Unit, *scope.Cause) {
	// Before the read: a renewal may be confirmed meanwhile.
	known := l.revision()
	stored, c := effect.RunOn(f, l.m.load(l.token.Key))
	if c != nil {
		return effect.Unit{}, c
	}
	s := standingOf(l.token, l.id, stored)
	found, ours := s.record.Get()
	if !ours {
		current := mo.None[int64]()
		if r, ok := stored.Get(); ok {
			current = mo.Some(r.Generation)
		}
		// The refusal first: the race with the loss must not be lost to it.
		return effect.Unit{}, scope.CauseFail(&FenceRejected{
			Key: l.token.Key, Generation: l.token.Generation, Current: current,
		})
	}
	if found.Revision < known { // the store was set back
		l.lose(LostMissing)
	}
	if lost := l.check(); lost != nil {
		return effect.Unit{}, scope.CauseFail(lost)
	}
	return effect.Unit{}, nil
}

// revision is the latest that is known to be ours.
func (l *Lease) revision() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.record.Revision
}

// fence is Fence inside the evaluation.
func (m *Manager) fence(key string) effect.Effect[effect.Unit] {
	return effect.Suspend(func() effect.Effect[effect.Unit] { return m.repository.Fence(key) })
}
