package lease_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
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
		waiter := do.Await(effect.ForkChild(in(r.Fence(odd)), effect.StartImmediately()))
		if _, ended := waiter.Exited(); ended {
			t.Error("the fence was taken while the lock was held")
		}
		lock.Release()
		do.Await(waiter.Join())
	})
}

// L14, R4: a relative path is that of the folder where the repository was made, for
// records and fences alike, wherever the process goes later.
func TestR4_RelativePathAfterAChdir(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	t.Chdir(dir)
	r := lease.NewSQLiteRepository(platform.OS(), "leases.db")
	defer r.Close()
	other := lease.NewSQLiteRepository(platform.OS(), filepath.Join(dir, "leases.db"))
	defer other.Close()
	t.Chdir(elsewhere)
	perform(t, func(do *effect.Do) {
		s := scope.New(scope.Sequential)
		do.Await(r.Fence(key).ProvideScope(s))
		waiter := do.Await(effect.ForkChild(in(other.Fence(key)), effect.StartImmediately()))
		if _, ended := waiter.Exited(); ended {
			t.Error("two hold the fence of one key")
		}
		do.Await(effect.CloseScope(s, scope.ExitSucceed(0)))
		do.Await(waiter.Join())
	})
}

// L13: only what runs under the fence must not take it again. A fiber that outlived
// the work may.
func TestL13_RunFencedAfterTheWork(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	simulate(t, func(do *effect.Do) {
		l := do.Await(w.manager().Acquire(key))
		nothing := func(lease.FencingToken) effect.Effect[unit] { return effect.Void() }
		var late *effect.Fiber[unit]
		do.Await(l.RunFenced(func(lease.FencingToken) effect.Effect[unit] {
			return effect.ForkDetach(effect.Sleep(1).AndThen(l.RunFenced(nothing))).
				Map(func(f *effect.Fiber[unit]) unit { late = f; return unit{} })
		}))
		do.Await(late.Join())
	})
}

// L13, F22: the re-read under the fence sees that the database was replaced, however
// soon after.
func TestL13_F22_ReplacedBeforeFencedWork(t *testing.T) {
	path := filepath.Join(t.TempDir(), "leases.db")
	r := lease.NewSQLiteRepository(platform.OS(), path)
	defer r.Close()
	m, err := lease.NewManager(platform.OS(), r, config)
	if err != nil {
		t.Fatal(err)
	}
	perform(t, func(do *effect.Do) {
		l := do.Await(m.Acquire(key))
		for _, suffix := range []string{"", "-wal", "-shm"} {
			_ = os.Remove(path + suffix)
		}
		exit := do.Await(effect.Exit(l.RunFenced(func(lease.FencingToken) effect.Effect[unit] {
			t.Error("the work ran")
			return effect.Void()
		})))
		if exit.IsSuccess() {
			t.Error("RunFenced succeeded")
		}
	})
}

// slowBatch takes its time for every write.
type slowBatch struct {
	lease.Repository
	delay time.Duration
}

func (s slowBatch) Save(key string, next lease.Record, expected mo.Option[int64]) effect.Effect[unit] {
	return effect.Sleep(s.delay).AndThen(s.Repository.Save(key, next, expected))
}

func (s slowBatch) SaveAll(writes []lease.Write) effect.Effect[[]error] {
	return effect.Sleep(s.delay).AndThen(s.Repository.(lease.BatchSaver).SaveAll(writes))
}

// L11: a lease is closed while its heartbeat carries the renewal of another one,
// which is none of that one's business.
func TestL11_CloseOfTheCarrierCostsNobodyAHeartbeat(t *testing.T) {
	for range 20 { // whose heartbeat carries depends on the holderIds
		w := newWorld(slowBatch{lease.NewMemoryRepository(), 200 * time.Millisecond})
		w.config = lease.Config{TTL: 2 * time.Second, Heartbeat: time.Second}
		simulate(t, func(do *effect.Do) {
			m := w.manager()
			closing := scope.New(scope.Sequential)
			other := do.Await(effect.ForkChild(m.Acquire("a").ProvideScope(closing)))
			l := do.Await(m.Acquire(key))
			do.Await(other.Join())
			do.Await(effect.Sleep(850 * time.Millisecond))
			do.Await(effect.CloseScope(closing, scope.ExitSucceed(0)))
			do.Await(effect.Sleep(20 * time.Second).StopOn(l.Lost()))
		})
	}
}
