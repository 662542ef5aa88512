package lease_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/samber/mo"
)

// F50: what a record says is shown, not done: it moves no cursor and makes no line.
func TestF50_NamesInRecords(t *testing.T) {
	shown := func(where string, err error) {
		t.Helper()
		if err == nil {
			t.Fatal(where, ": no failure")
		}
		text := err.Error()
		if strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) || len(text) > 5000 {
			t.Errorf("%s: %.300q", where, text)
		}
	}
	const odd = "\x1b[2J\nFATAL \u009b31m \u202e"
	for _, key := range []string{"key", "key " + odd} {
		dir := filepath.Join(t.TempDir(), "a\x1b[2J\nb")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		s := lease.NewSQLiteRepository(platform.OS(), filepath.Join(dir, "x.db"))
		defer s.Close()
		for store, r := range map[string]lease.Repository{"sqlite": s, "files": lease.NewFileRepository(platform.OS(), dir)} {
			perform(t, func(do *effect.Do) {
				h := holderOf(9)
				h.Host = odd
				next := record(1, 1, h, odd)
				next.Key = key
				do.Await(r.Save(key, next, mo.None[int64]()))
				m, err := lease.NewManager(platform.OS(), r, config)
				if err != nil {
					t.Fatal(err)
				}
				err = failure(do, effect.Scoped(m.Acquire(key)))
				shown(store, err)
				if held := as[*lease.Held](err); held == nil || held.Holder.Host != odd {
					t.Errorf("%s: %v", store, err)
				}
				shown(store+", a conflict", failure(do, r.Save(key, next, mo.None[int64]())))
			})
		}
		// What is there is no record.
		for _, content := range []string{odd, `{"schemaVersion":1,"record":{"key":"other \u001b[2J"}}`} {
			var file string
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if strings.HasSuffix(e.Name(), ".json") {
					file = filepath.Join(dir, e.Name())
				}
			}
			if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
			perform(t, func(do *effect.Do) {
				shown("no record", failure(do, lease.NewFileRepository(platform.OS(), dir).Load(key).AsUnit()))
			})
		}
		// The database is broken, and SQLite names what it found.
		if err := errors.Join(s.Close(), os.Rename(filepath.Join(dir, "x.db"), filepath.Join(dir, "y.db"))); err != nil {
			t.Fatal(err)
		}
		execute(t, filepath.Join(dir, "z.db"), `PRAGMA writable_schema=1; CREATE TABLE t (a);
			UPDATE sqlite_schema SET name = 'x`+odd+`', sql = 'CREATE TABLE `+odd+`'`)
		z := lease.NewSQLiteRepository(platform.OS(), filepath.Join(dir, "z.db"))
		defer z.Close()
		perform(t, func(do *effect.Do) { shown("a database", failure(do, z.Load(key).AsUnit())) })
	}
}
