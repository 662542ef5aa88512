package lease_test

import (
	"path/filepath"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
	"github.com/rivus/tether/scope"
)

// L10, F3: the reply of the release is lost, a successor takes the key before it is
// tried again, and the successor's record stays, as does its lease.
func TestL10_F3_ReleaseTriedAgainAfterASuccessor(t *testing.T) {
	r := newScripted()
	w := newWorld(r)
	simulate(t, func(do *effect.Do) {
		own := scope.New(scope.Sequential)
		first := do.Await(w.manager().Acquire(key).ProvideScope(own))
		next := do.Await(effect.Scope())
		var second *lease.Lease
		acquire := w.managerOf(newProcess(2)).Acquire(key).ProvideScope(next).
			Map(func(l *lease.Lease) unit { second = l; return unit{} })
		saves := r.saves
		r.onSave = func(n int) plan {
			if n == saves+1 { // the tombstone
				return plan{after: acquire.AndThen(effect.Fail[unit](ioFailure()))}
			}
			return pass
		}
		do.Await(effect.CloseScope(own, scope.ExitSucceed(0)))
		if second == nil {
			t.Fatal("the release wrote nothing")
		}
		expect(t, "generation", second.Token().Generation, first.Token().Generation+1)
		stored := w.stored(do)
		expect(t, "holder", stored.Holder.OrEmpty().PID, int64(2))
		// And it goes on: it is not lost at any heartbeat.
		do.Await(effect.Sleep(3 * heartbeat).StopOn(second.Lost()))
	})
}

// R4: the fence of a key in a database is the process lock beside it, at
// PATH.NAME.fence, so that other programs can look at it and hold it.
func TestR4_FenceIsAProcessLockBesideTheDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "leases.db")
	r := lease.NewSQLiteRepository(platform.OS(), path)
	defer r.Close()
	const odd = "a/b ~"
	fence := path + ".a%2Fb%20%7E.fence"
	perform(t, func(do *effect.Do) {
		held := func() bool {
			busy, err := processlock.IsHeld(t.Context(), platform.OS(), fence)
			do.Check(err)
			return busy
		}
		expect(t, "held before", held(), false)
		do.Await(in(r.Fence(odd).Tap(func(unit) effect.Effect[unit] {
			return effect.SyncUnit(func() { expect(t, "held", held(), true) })
		})))
		expect(t, "held after", held(), false)
		// Whoever holds that lock holds the fence.
		lock, err := processlock.Acquire(t.Context(), platform.OS(), fence).Get()
		do.Check(err)
		waiter := do.Await(effect.ForkChild(in(r.Fence(odd)), effect.StartImmediately))
		if _, ended := waiter.Exited(); ended {
			t.Error("the fence was taken while the lock was held")
		}
		lock.Release()
		do.Await(waiter.Join())
	})
}
