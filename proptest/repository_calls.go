package proptest

import (
	"fmt"
	"strings"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/samber/mo"
	"pgregory.net/rapid"
)

// sequence plays calls one after another, on two handles of one place, against a
// map.
func (s *repositorySuite) sequence() {
	s.Helper()
	open := s.place()
	handles := []lease.Repository{s.opened(open), s.opened(open)}
	run := 0
	rapid.Check(s.TB, func(t *rapid.T) {
		run++
		stored := map[string]lease.Record{}
		// Keys of its own for each case: making a place may be slow.
		keys := []string{fmt.Sprintf("case %d/a", run), fmt.Sprintf("case %d/b", run)}
		// Drawn by hand and short: each call may cost a sync of the disk.
		for range rapid.IntRange(1, 10).Draw(t, "calls") {
			which := rapid.IntRange(0, 1).Draw(t, "key")
			handle := rapid.IntRange(0, 1).Draw(t, "handle")
			var err error
			if rapid.IntRange(0, 2).Draw(t, "load, save, save") == 0 {
				err = loadOnce(handles[handle], keys[which], stored)
			} else {
				err = saveOnce(t, handles[handle], keys[which], stored)
			}
			if err != nil {
				t.Fatalf("%v", err)
			}
		}
		for _, key := range keys {
			for _, r := range handles {
				if err := loadOnce(r, key, stored); err != nil {
					t.Fatalf("%v", err)
				}
			}
		}
	})
}

func optionalRecord(stored map[string]lease.Record, key string) mo.Option[lease.Record] {
	r, ok := stored[key]
	return mo.TupleToOption(r, ok)
}

func loadOnce(r lease.Repository, key string, stored map[string]lease.Record) error {
	return perform(func(do *effect.Do) {
		got, err := do.Await(effect.Exit(r.Load(key))).Get()
		if err != nil {
			if bad := checkFailure(key, err); bad != nil {
				do.Fail(bad)
			}
			do.Fail(violated("R1: a Load that nobody was in the way of failed: %v", err))
		}
		do.Check(checkLoaded(optionalRecord(stored, key), got))
	})
}

func saveOnce(t *rapid.T, r lease.Repository, key string, stored map[string]lease.Record) error {
	before := optionalRecord(stored, key)
	old := before.OrEmpty()
	var next lease.Record
	switch what := rapid.IntRange(0, 2).Draw(t, "acquire, renew, release"); {
	case what == 0, what == 1 && old.IsTombstone(): // there is nothing to renew
		next = heldRecord(key, old.Generation+1, old.Revision+1, fmt.Sprint("id", old.Revision+1))
	case what == 1:
		next = heldRecord(key, old.Generation, old.Revision+1, old.HolderID.MustGet())
	default:
		next = tombstone(lease.Record{Key: key, Generation: max(old.Generation, 1), Revision: old.Revision, RenewedAt: 5})
	}
	expected := revisionOf(before)
	switch rapid.IntRange(0, 5).Draw(t, "over what is stored (0-2), none, an older, a newer") {
	case 3:
		expected = mo.None[int64]()
	case 4:
		expected = mo.Some(max(old.Revision-1, 1))
	case 5:
		expected = mo.Some(old.Revision + 1)
	}
	return perform(func(do *effect.Do) {
		err := failureOf(do, r.Save(key, next, expected))
		do.Check(checkSaved(key, before, expected, err))
		if err == nil {
			stored[key] = next
		}
	})
}

// keys saves under odd keys and finds each record as it was.
func (s *repositorySuite) keys() {
	s.Helper()
	open := s.place()
	a, b := s.opened(open), s.opened(open)
	keys := []string{
		"task:42", "TASK:42", "../x", "/", ".", "..", "nul\x00", "é😀", strings.Repeat("long", 1024), "!'()*.~", " ", "%", "%41", "A",
	}
	s.perform(func(do *effect.Do) {
		for i, key := range keys {
			r := heldRecord(key, int64(i+1), platform.MaxSafeInteger, "x")
			mustEnd(do, fmt.Sprintf("R1: a Save of the key %.20q", key), a.Save(key, r, mo.None[int64]()))
		}
		for i, key := range keys {
			got := mustEnd(do, fmt.Sprintf("R1: a Load of the key %.20q", key), b.Load(key))
			if want := heldRecord(key, int64(i+1), platform.MaxSafeInteger, "x"); got != mo.Some(want) {
				do.Fail(violated("R1: the key %.20q was saved with %s, and Load gives %s", key, show(mo.Some(want)), show(got)))
			}
		}
	})
}

// reopening closes a repository and opens the place anew.
func (s *repositorySuite) reopening() {
	s.Helper()
	open := s.place()
	stored := map[string]lease.Record{}
	for round := range int64(3) {
		r := open()
		s.perform(func(do *effect.Do) {
			for _, key := range []string{"a", "b", "c"} {
				got := mustEnd(do, "R1: a Load after reopening", r.Load(key))
				do.Check(checkLoaded(optionalRecord(stored, key), got))
				next := heldRecord(key, round+1, 2*round+1, "x")
				if key == "b" {
					next = tombstone(heldRecord(key, round+1, 2*round, "x"))
				}
				mustEnd(do, "R1: a Save after reopening", r.Save(key, next, revisionOf(got)))
				stored[key] = next
			}
			mustEnd(do, "R1: a Fence after reopening", effect.Scoped(r.Fence("a")))
		})
		if err := closeRepository(r); err != nil {
			s.Fatalf("closing the repository failed: %v", err)
		}
	}
}

// managers takes and releases leases through managers on two handles.
func (s *repositorySuite) managers() {
	s.Helper()
	open := s.place()
	a, b := s.opened(open), s.opened(open)
	config := lease.Config{TTL: time.Minute, Heartbeat: 15 * time.Second}
	manager := func(do *effect.Do, r lease.Repository, pid int64) *lease.Manager {
		self := testHolder.Identity
		self.PID = pid
		return do.Try(lease.NewManager(&platform.Platform{Process: alone{self}}, r, config))
	}
	s.simulate(func(do *effect.Do) {
		for round := range int64(3) {
			first, second := manager(do, a, 1), manager(do, b, 2)
			do.Await(effect.Scoped(effect.GenUnit(func(do *effect.Do) {
				l := mustEnd(do, "Acquire of a free lease", first.Acquire("key"))
				if got := l.Token().Generation; got != round+1 {
					do.Fail(violated("L2: acquisition %d has generation %d", round+1, got))
				}
				if _, held := errors.AsType[*lease.Held](failureOf(do, second.Acquire("key"))); !held {
					do.Fail(violated("L5: a lease that is held was not refused with *lease.Held"))
				}
				// Two heartbeats, so that renewals are saved, too.
				mustEnd(do, "RunFenced", l.RunFenced(func(lease.FencingToken) effect.Effect[effect.Unit] { return effect.Sleep(35 * time.Second) }))
				if stored := mustEnd(do, "Load", b.Load("key")).OrEmpty(); stored.IsTombstone() || stored.Generation != round+1 {
					do.Fail(violated("L10: during the hold stored is %s", show(mo.Some(stored))))
				}
			})))
			stored := mustEnd(do, "Load", b.Load("key"))
			if r := stored.OrEmpty(); stored.IsAbsent() || !r.IsTombstone() || r.Generation != round+1 {
				do.Fail(violated("L3: after the release %d stored is %s, and not a tombstone of generation %d", round+1, show(stored), round+1))
			}
		}
	})
}

// alone is a process on a machine of its own.
type alone struct{ self platform.Identity }

func (p alone) PID() int64 { return p.self.PID }

func (p alone) Self() (platform.Identity, error) { return p.self, nil }

func (p alone) Identify(int64) (platform.Identity, bool, error) { return p.self, true, nil }

// news watches a key for releases, where the repository can.
func (s *repositorySuite) news() {
	s.Helper()
	open := s.place()
	r := s.opened(open)
	w, ok := r.(lease.ReleaseWatcher)
	if !ok {
		return
	}
	s.simulate(func(do *effect.Do) {
		calls := 0
		first := heldRecord("key", 1, 1, "x")
		do.Await(effect.Scoped(effect.GenUnit(func(do *effect.Do) {
			mustEnd(do, "WatchReleases", w.WatchReleases("key", func() { calls++ }))
			mustEnd(do, "Save", r.Save("key", first, mo.None[int64]()))
			mustEnd(do, "Save of a tombstone", r.Save("key", tombstone(first), mo.Some(int64(1))))
		})))
		heard := calls
		mustEnd(do, "Save", r.Save("key", tombstone(tombstone(first)), mo.Some(int64(2))))
		if calls != heard {
			do.Fail(violated("ReleaseWatcher: news came after the scope of the watch had closed"))
		}
	})
}

// batches saves several records in one call, where the repository can, among them
// some over what is not stored.
func (s *repositorySuite) batches() {
	s.Helper()
	open := s.place()
	r, other := s.opened(open), s.opened(open)
	saver, ok := r.(lease.BatchSaver)
	if !ok {
		return
	}
	run := 0
	rapid.Check(s.TB, func(t *rapid.T) {
		run++
		stored := map[string]lease.Record{}
		for range rapid.IntRange(1, 3).Draw(t, "calls") {
			right := rapid.SliceOfN(rapid.Bool(), 1, 4).Draw(t, "which are saved over what is stored")
			var writes []lease.Write
			for i, right := range right {
				key := fmt.Sprintf("batch %d/%d", run, i)
				before := optionalRecord(stored, key)
				old := before.OrEmpty()
				w := lease.Write{Next: heldRecord(key, max(old.Generation, 1), old.Revision+1, "x"), Expected: revisionOf(before)}
				if !right {
					w.Expected = mo.Some(old.Revision + 7)
				}
				writes = append(writes, w)
			}
			err := perform(func(do *effect.Do) {
				errs := mustEnd(do, "R1: a SaveAll that nobody was in the way of", saver.SaveAll(writes))
				if len(errs) != len(writes) {
					do.Fail(violated("R1: SaveAll of %d writes gives %d answers", len(writes), len(errs)))
				}
				for i, w := range writes {
					key := w.Next.Key
					do.Check(checkSaved(key, optionalRecord(stored, key), w.Expected, errs[i]))
					if errs[i] == nil {
						stored[key] = w.Next
					}
				}
			})
			for _, w := range writes {
				if err == nil {
					err = loadOnce(other, w.Next.Key, stored)
				}
			}
			if err != nil {
				t.Fatalf("%v", err)
			}
		}
	})
}
