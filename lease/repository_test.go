package lease_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// repositories are the ways to open one store, as other processes would.
var repositories = map[string]func(t *testing.T) (open func() lease.Repository){
	"memory": func(*testing.T) func() lease.Repository {
		r := lease.NewMemoryRepository()
		return func() lease.Repository { return r }
	},
	"sqlite": func(t *testing.T) func() lease.Repository {
		path := filepath.Join(t.TempDir(), "leases.db")
		return func() lease.Repository {
			r := lease.NewSQLiteRepository(platform.OS(), path)
			t.Cleanup(func() {
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			})
			return r
		}
	},
	"files": func(t *testing.T) func() lease.Repository {
		dir := t.TempDir()
		return func() lease.Repository { return lease.NewFileRepository(platform.OS(), dir) }
	},
	"files without SQLite": func(t *testing.T) func() lease.Repository {
		dir := t.TempDir()
		return func() lease.Repository { return lease.NewFileRepository(platform.OS(), dir, lease.WithoutSQLite()) }
	},
}

func onEach(t *testing.T, test func(t *testing.T, open func() lease.Repository)) {
	for name, store := range repositories {
		t.Run(name, func(t *testing.T) { test(t, store(t)) })
	}
}

// perform runs body on the parallel runtime.
func perform(t *testing.T, body func(do *effect.Do)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := effect.Run(ctx, effect.Scoped(effect.GenUnit(body))); err != nil {
		t.Fatal(err)
	}
}

func TestR1_LoadAndSave(t *testing.T) {
	keys := []string{
		key, "../x", "/", "a", "A", ".", "..", "nul\x00", "é😀", strings.Repeat("long", 1024), "!'()*.~", " ", "%",
	}
	onEach(t, func(t *testing.T, open func() lease.Repository) {
		a, b := open(), open()
		perform(t, func(do *effect.Do) {
			for _, key := range keys {
				if do.Await(a.Load(key)).IsPresent() {
					t.Fatalf("%.20q is there already", key)
				}
				first := record(1, 1, holderOf(9), "x")
				first.Key, first.RenewedAt = key, 1_700_000_000_000
				do.Await(a.Save(key, first, mo.None[int64]()))
				conflict := as[*lease.RevisionConflict](failure(do, b.Save(key, first, mo.None[int64]())))
				expect(t, "conflict", *conflict, lease.RevisionConflict{Key: key, StoredRevision: mo.Some(int64(1))})
				next := first
				next.Generation, next.Revision = 1<<53-1, 1<<53-1
				conflict = as[*lease.RevisionConflict](failure(do, b.Save(key, next, mo.Some(int64(7)))))
				expect(t, "conflict", *conflict, lease.RevisionConflict{
					Key: key, ExpectedRevision: mo.Some(int64(7)), StoredRevision: mo.Some(int64(1)),
				})
				do.Await(b.Save(key, next, mo.Some(int64(1))))
				expect(t, "record", do.Await(a.Load(key)), mo.Some(next))
				tombstone := lease.Record{Key: key, Generation: 1<<53 - 2, Revision: 1<<53 - 1}
				do.Await(a.Save(key, tombstone, mo.Some(int64(1<<53-1))))
				expect(t, "tombstone", do.Await(b.Load(key)), mo.Some(tombstone))
			}
			missing := as[*lease.RevisionConflict](failure(do, a.Save("new", lease.Record{Key: "new", Generation: 1, Revision: 2}, mo.Some(int64(1)))))
			expect(t, "missing", *missing, lease.RevisionConflict{Key: "new", ExpectedRevision: mo.Some(int64(1))})
			bad := as[*lease.RepositoryFailure](failure(do, a.Save("new", lease.Record{Key: "other", Generation: 1, Revision: 1}, mo.None[int64]())))
			expect(t, "reason", bad.Reason, lease.RepositoryInvalidRecord)
		})
	})
}

// F20, in one process: only success and conflict come out.
func TestR1_F20_CompareAndSwap(t *testing.T) {
	onEach(t, func(t *testing.T, open func() lease.Repository) {
		const workers, rounds = 6, 15
		var won atomic.Int64
		var wg sync.WaitGroup
		for i := range workers {
			r := open()
			wg.Go(func() {
				perform(t, func(do *effect.Do) {
					for range rounds {
						stored := do.Await(r.Load(key))
						expected, next := mo.None[int64](), record(1, 1, holderOf(9), fmt.Sprint(i))
						if old, ok := stored.Get(); ok {
							expected, next.Revision = mo.Some(old.Revision), old.Revision+1
						}
						if err := failure(do, r.Save(key, next, expected)); err == nil {
							won.Add(1)
						} else {
							as[*lease.RevisionConflict](err)
						}
					}
				})
			})
		}
		wg.Wait()
		perform(t, func(do *effect.Do) {
			expect(t, "revision", do.Await(open().Load(key)).OrEmpty().Revision, won.Load())
		})
	})
}

// Who waits is started at once and runs to its wait, as far as the runtime can tell:
// one that got in would have ended.
func TestR1_Fence(t *testing.T) {
	onEach(t, func(t *testing.T, open func() lease.Repository) {
		a, b := open(), open()
		perform(t, func(do *effect.Do) {
			s := scope.New(scope.Sequential)
			do.Await(a.Fence(key).ProvideScope(s))
			// The same key waits, and can be interrupted.
			waiter := do.Await(effect.ForkChild(in(b.Fence(key)), effect.StartImmediately()))
			expect(t, "waits", waiting(waiter), true)
			do.Await(waiter.Interrupt())
			var inside, most, entered atomic.Int64
			enter := effect.SyncUnit(func() {
				entered.Add(1)
				most.Store(max(most.Load(), inside.Add(1)))
			})
			leave := effect.SyncUnit(func() { inside.Add(-1) })
			work := enter.AndThen(effect.YieldNow()).AndThen(effect.YieldNow()).AndThen(leave)
			var waiters []*effect.Fiber[unit]
			for i := range 8 {
				w := do.Await(effect.ForkChild(in([]lease.Repository{a, b}[i%2].Fence(key).AndThen(work)), effect.StartImmediately()))
				expect(t, "waits", waiting(w), true)
				waiters = append(waiters, w)
			}
			// Other keys are not affected.
			do.Await(in(b.Fence("other")))
			expect(t, "inside", entered.Load(), int64(0))
			do.Await(effect.CloseScope(s, scope.ExitSucceed(0)))
			for _, w := range waiters {
				do.Await(w.Join())
			}
			expect(t, "entered", entered.Load(), int64(8))
			expect(t, "most inside", most.Load(), int64(1))
		})
	})
}

func waiting(fb *effect.Fiber[unit]) bool {
	_, ended := fb.Exited()
	return !ended
}

// The whole path on each repository, on both runtimes.
func TestWholePath(t *testing.T) {
	onEach(t, func(t *testing.T, open func() lease.Repository) {
		w := newWorld(open())
		body := func(do *effect.Do) {
			for range 2 {
				before := do.Await(w.repo.Load(key)).OrEmpty().Generation
				do.Await(in(effect.GenUnit(func(do *effect.Do) {
					l := do.Await(w.manager().Acquire(key))
					as[*lease.Held](failure(do, w.manager().Acquire(key)))
					token := do.Await(l.RunFenced(func(token lease.FencingToken) effect.Effect[lease.FencingToken] { return effect.Succeed(token) }))
					expect(t, "generation", token.Generation, before+1)
				})))
				expect(t, "tombstone", do.Await(w.repo.Load(key)).OrEmpty().IsTombstone(), true)
			}
		}
		perform(t, body)
		simulate(t, body)
	})
}

func TestR7_MemoryLayerIsShared(t *testing.T) {
	layer := lease.MemoryRepository()
	var mu sync.Mutex
	var seen []lease.Repository
	note := effect.LayerDiscard(lease.RepositoryService.Get().Map(func(r lease.Repository) unit {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r)
		return unit{}
	}))
	build := effect.Scoped(note.Provide(layer).Merge(note.Fresh().Provide(layer)).Build()).AsUnit()
	for range 2 {
		if _, err := effect.Run(context.Background(), build); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 4 || seen[0] != seen[1] || seen[2] != seen[3] || seen[0] == seen[2] {
		t.Errorf("%v", seen)
	}
}
