package lease_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
)

// F47: what cannot get better by itself ends a release at once, and is told of.
func TestF47_ReleaseOfWhatCannotGetBetter(t *testing.T) {
	sqlite := func(dir string) lease.Repository {
		return lease.NewSQLiteRepository(platform.OS(), filepath.Join(dir, "x.db"))
	}
	files := func(dir string) lease.Repository { return lease.NewFileRepository(platform.OS(), dir) }
	write := func(content string) func(*effect.Do, string, lease.Repository) {
		return func(do *effect.Do, dir string, _ lease.Repository) {
			do.Check(os.WriteFile(filepath.Join(dir, "task%3A42.lease.json"), []byte(content), 0o644))
		}
	}
	remove := func(do *effect.Do, dir string, _ lease.Repository) { do.Check(os.RemoveAll(dir)) }
	sql := func(text string) func(*effect.Do, string, lease.Repository) {
		return func(_ *effect.Do, dir string, _ lease.Repository) { execute(t, filepath.Join(dir, "x.db"), text) }
	}
	for name, c := range map[string]struct {
		open   func(dir string) lease.Repository
		damage func(do *effect.Do, dir string, r lease.Repository)
	}{
		"files, no JSON":         {files, write("x")},
		"files, a newer version": {files, write(`{"schemaVersion":2,"record":{}}`)},
		"files, no folder":       {files, remove},
		"files, a file for folder": {files, func(do *effect.Do, dir string, _ lease.Repository) {
			do.Check(os.RemoveAll(dir))
			do.Check(os.WriteFile(dir, nil, 0o644))
		}},
		"SQLite, a broken holder": {sqlite, sql("UPDATE lease_record SET holder = '{'")},
		"SQLite, no folder":       {sqlite, remove},
		"SQLite, a folder there": {sqlite, func(do *effect.Do, dir string, _ lease.Repository) {
			do.Check(os.RemoveAll(dir))
			do.Check(os.MkdirAll(filepath.Join(dir, "x.db"), 0o755))
		}},
		"SQLite, closed": {sqlite, func(do *effect.Do, _ string, r lease.Repository) { do.Check(r.(*lease.SQLite).Close()) }},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "folder")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			r := c.open(dir)
			if db, ok := r.(*lease.SQLite); ok {
				defer db.Close()
			}
			w := newWorld(r)
			simulate(t, func(do *effect.Do) {
				do.Await(in(w.manager().Acquire(key).Tap(func(*lease.Lease) effect.Effect[unit] {
					return effect.GenUnit(func(do *effect.Do) { c.damage(do, dir, r) })
				})))
				if took := now(do); took > 0 {
					t.Errorf("the scope closed after %v", took)
				}
				abandoned, ok := w.events[len(w.events)-1].(lease.ReleaseAbandoned)
				if !ok || abandoned.Err == nil {
					t.Errorf("the last event is %#v", w.events[len(w.events)-1])
				}
			})
		})
	}
}

// F47: nor does the scope wait of an acquisition that failed without knowing whether it
// was written. Its manager still knows what it left, should the store get better.
func TestF47_OrphanOfWhatCannotGetBetter(t *testing.T) {
	r := newScripted()
	r.onSave = func(n int) plan {
		if n == 1 {
			return failAfter(ioFailure())
		}
		return pass
	}
	r.onLoad = func(n int) plan {
		if n > 1 && n < 5 {
			return failBefore(reasonFailure(lease.RepositoryInvalidRecord))
		}
		return pass
	}
	w := newWorld(r)
	simulate(t, func(do *effect.Do) {
		m := w.manager()
		as[*lease.RepositoryFailure](failure(do, in(m.Acquire(key))))
		if took := now(do); took > 0 {
			t.Errorf("the scope closed after %v", took)
		}
		expect(t, "loads", r.loads, 3) // the acquisition's two, and one of the release
		r.onLoad = nil
		expect(t, "generation", do.Await(in(m.Acquire(key))).Token().Generation, int64(2))
	})
}
