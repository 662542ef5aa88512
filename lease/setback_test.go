package lease_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/samber/mo"
)

// F44: the store is removed, and another's acquisition has by chance the revision of
// the own one that is gone. A renewal of that does not write over it, whether it comes
// first or another key's did.
func TestF44_TheSameRevisionOfAnotherStore(t *testing.T) {
	for name, open := range map[string]func(dir string) lease.Repository{
		"sqlite": stores["sqlite"], "files": stores["files"],
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			r := open(dir)
			if c, ok := r.(*lease.SQLite); ok {
				defer c.Close()
			}
			perform(t, func(do *effect.Do) {
				for _, k := range []string{"a", "b", "c"} {
					do.Await(r.Save(k, recordOf(k, 1, 1, "mine"), mo.None[int64]()))
				}
				files, err := filepath.Glob(filepath.Join(dir, "*"))
				do.Check(err)
				for _, file := range files {
					do.Check(os.Remove(file))
				}
				others := open(dir)
				for _, k := range []string{"a", "b", "c"} {
					do.Await(others.Save(k, recordOf(k, 1, 1, "theirs"), mo.None[int64]()))
				}
				if c, ok := others.(*lease.SQLite); ok {
					do.Check(c.Close())
				}
				for _, k := range []string{"a", "b"} {
					as[*lease.RevisionConflict](failure(do, r.Save(k, recordOf(k, 1, 2, "mine"), mo.Some(int64(1)))))
				}
				if b, ok := r.(lease.BatchSaver); ok {
					errs := do.Await(b.SaveAll([]lease.Write{{Next: recordOf("c", 1, 2, "mine"), Expected: mo.Some(int64(1))}}))
					as[*lease.RevisionConflict](errs[0])
				}
				for _, k := range []string{"a", "b", "c"} {
					expect(t, k, do.Await(r.Load(k)), mo.Some(recordOf(k, 1, 1, "theirs")))
				}
			})
		})
	}
}

// F44: an acquisition that was judged by what a removed database said is not written
// into the one in its place.
func TestF44_JudgedByAnotherDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	r, others := lease.NewSQLiteRepository(platform.OS(), path), lease.NewSQLiteRepository(platform.OS(), path)
	defer r.Close()
	defer others.Close()
	perform(t, func(do *effect.Do) {
		do.Await(r.Save(key, recordOf(key, 1, 1, "dead"), mo.None[int64]()))
		for _, suffix := range []string{"", "-wal", "-shm"} {
			do.Check(os.Remove(path + suffix))
		}
		do.Await(others.Save(key, recordOf(key, 1, 1, "alive"), mo.None[int64]()))
		as[*lease.RevisionConflict](failure(do, r.Save(key, recordOf(key, 2, 2, "mine"), mo.Some(int64(1)))))
		expect(t, "record", do.Await(r.Load(key)), mo.Some(recordOf(key, 1, 1, "alive")))
	})
}

func recordOf(key string, generation, revision int64, id string) lease.Record {
	r := record(generation, revision, holderOf(9), id)
	r.Key = key
	return r
}

// replaced is a store in whose place another one may be put.
type replaced struct{ lease.Repository }

// F52: the store is put back to what it was some renewals ago. Nothing was written, so
// there is no renewal to hear of: the lease is lost, and its fenced work is refused. The
// record is still its own, and released.
func TestF52_StoreSetBack(t *testing.T) {
	for name, fenced := range map[string]bool{"found by a renewal": false, "found by fenced work": true} {
		t.Run(name, func(t *testing.T) {
			r := &replaced{lease.NewMemoryRepository()}
			w := newWorld(r)
			simulate(t, func(do *effect.Do) {
				do.Await(in(effect.GenUnit(func(do *effect.Do) {
					l := do.Await(w.manager().Acquire(key))
					before := w.stored(do)
					do.Await(effect.Sleep(3*heartbeat + 1))
					r.Repository = lease.NewMemoryRepository()
					do.Await(put(r, before))
					w.events = nil
					if fenced {
						lost := as[*lease.Lost](failure(do, l.RunFenced(func(lease.FencingToken) effect.Effect[unit] {
							t.Error("it works")
							return effect.Void()
						})))
						expect(t, "reason", lost.Reason, lease.LostMissing)
					} else {
						do.Await(effect.Sleep(heartbeat))
						expect(t, "reason", as[*lease.Lost](failure(do, l.Lost())).Reason, lease.LostMissing)
					}
				})))
				for _, e := range w.events {
					if _, renewed := e.(lease.Renewed); renewed {
						t.Errorf("it hears %T%+v", e, e)
					}
				}
				expect(t, "tombstone", w.stored(do).IsTombstone(), true)
			})
		})
	}
}
