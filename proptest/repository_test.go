package proptest_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/proptest"
	"github.com/samber/mo"
)

// directory is a temporary one, in memory where the machine has such a place.
func directory(t proptest.TB) string {
	parent := "/dev/shm"
	if _, err := os.Stat(parent); err != nil {
		parent = ""
	}
	dir, err := os.MkdirTemp(parent, "tether-proptest-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestMemoryRepository(t *testing.T) {
	proptest.Repository(t, func(proptest.TB) func() lease.Repository {
		r := lease.NewMemoryRepository()
		return func() lease.Repository { return r }
	})
}

func TestSQLiteRepository(t *testing.T) {
	proptest.Repository(t, func(t proptest.TB) func() lease.Repository {
		path := filepath.Join(directory(t), "leases.db")
		return func() lease.Repository { return lease.NewSQLiteRepository(platform.OS(), path) }
	})
}

func TestFileRepository(t *testing.T) {
	proptest.Repository(t, func(t proptest.TB) func() lease.Repository {
		dir := directory(t)
		return func() lease.Repository { return lease.NewFileRepository(platform.OS(), dir) }
	})
}

func TestFileRepositoryWithoutSQLite(t *testing.T) {
	proptest.Repository(t, func(t proptest.TB) func() lease.Repository {
		dir := directory(t)
		return func() lease.Repository { return lease.NewFileRepository(platform.OS(), dir, lease.WithoutSQLite()) }
	})
}

// unguarded compares without a transaction: between its look and its write
// another write is lost.
type unguarded struct {
	lease.Repository // for the fences
	mu               sync.Mutex
	records          map[string]lease.Record
}

func (u *unguarded) look(key string) mo.Option[lease.Record] {
	u.mu.Lock()
	defer u.mu.Unlock()
	r, ok := u.records[key]
	return mo.TupleToOption(r, ok)
}

func (u *unguarded) Load(key string) effect.Effect[mo.Option[lease.Record]] {
	return effect.Sync(func() mo.Option[lease.Record] { return u.look(key) })
}

func (u *unguarded) Save(key string, next lease.Record, expected mo.Option[int64]) effect.Effect[effect.Unit] {
	return u.Load(key).FlatMap(func(stored mo.Option[lease.Record]) effect.Effect[effect.Unit] {
		revision := mo.None[int64]()
		if r, ok := stored.Get(); ok {
			revision = mo.Some(r.Revision)
		}
		if revision != expected {
			return effect.Fail[effect.Unit](&lease.RevisionConflict{Key: key, ExpectedRevision: expected, StoredRevision: revision})
		}
		return effect.SyncUnit(func() {
			u.mu.Lock()
			defer u.mu.Unlock()
			u.records[key] = next
		})
	})
}

func TestWrongRepositoryWithoutTransaction(t *testing.T) {
	report := failing(t, func(t proptest.TB) {
		proptest.Repository(t, func(proptest.TB) func() lease.Repository {
			r := &unguarded{Repository: lease.NewMemoryRepository(), records: map[string]lease.Record{}}
			return func() lease.Repository { return r }
		})
	})
	mentions(t, report, "R1 Save is atomic", "no order of these calls explains", ": written")
}

// deleting deletes what is released.
type deleting struct {
	unguarded
}

func (d *deleting) Save(key string, next lease.Record, expected mo.Option[int64]) effect.Effect[effect.Unit] {
	return effect.Try(func() (effect.Unit, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		revision := mo.None[int64]()
		if r, ok := d.records[key]; ok {
			revision = mo.Some(r.Revision)
		}
		if revision != expected {
			return effect.Unit{}, &lease.RevisionConflict{Key: key, ExpectedRevision: expected, StoredRevision: revision}
		}
		if d.records[key] = next; next.IsTombstone() {
			delete(d.records, key)
		}
		return effect.Unit{}, nil
	})
}

func TestWrongRepositoryThatDeletes(t *testing.T) {
	report := failing(t, func(t proptest.TB) {
		proptest.Repository(t, func(proptest.TB) func() lease.Repository {
			r := &deleting{unguarded{Repository: lease.NewMemoryRepository(), records: map[string]lease.Record{}}}
			return func() lease.Repository { return r }
		})
	})
	mentions(t, report, "a tombstone", "finds no record: the next generation would start over")
}

// oneFence has one fence for all keys.
type oneFence struct{ lease.Repository }

func (o oneFence) Fence(string) effect.Effect[effect.Unit] { return o.Repository.Fence("all") }

func TestWrongRepositoryWithOneFence(t *testing.T) {
	report := failing(t, func(t proptest.TB) {
		proptest.Repository(t, func(proptest.TB) func() lease.Repository {
			r := oneFence{lease.NewMemoryRepository()}
			return func() lease.Repository { return r }
		})
	})
	mentions(t, report, "R1 Fence is of one key", "a fence must be of one key")
}

// noFence keeps nobody out.
type noFence struct{ lease.Repository }

func (noFence) Fence(string) effect.Effect[effect.Unit] { return effect.Void() }

func TestWrongRepositoryWithoutFence(t *testing.T) {
	report := failing(t, func(t proptest.TB) {
		proptest.Repository(t, func(proptest.TB) func() lease.Repository {
			r := noFence{lease.NewMemoryRepository()}
			return func() lease.Repository { return r }
		})
	})
	mentions(t, report, "R1 Fence excludes", "two hold the fence of one key")
}
