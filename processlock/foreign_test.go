//go:build linux

package processlock_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
)

// contents are the files of a directory, with what is in them.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(data)
	}
	return all
}

// untouched wants every attempt on path and every check of it to be refused, with the
// reason and the way out, and no byte in its directory changed.
func untouched(t *testing.T, path string, want platform.Reason, options ...processlock.Option) {
	t.Helper()
	before := contents(t, filepath.Dir(path))
	for _, more := range [][]processlock.Option{nil, {processlock.Wait()}} {
		fails(t, path, want, append(more, options...)...)
	}
	held, err := processlock.IsHeld(context.Background(), platform.OS(), path, options...)
	if held || reasonOf(err) != want {
		t.Fatal("IsHeld: ", held, err)
	}
	if !strings.Contains(err.Error(), "left as it is") && !strings.Contains(err.Error(), "left as it was") {
		t.Error("no way out: ", err)
	}
	after := contents(t, filepath.Dir(path))
	for name := range before {
		if after[name] != before[name] {
			t.Errorf("%s was changed: %d bytes, were %d", name, len(after[name]), len(before[name]))
		}
		delete(after, name)
	}
	for name := range after {
		t.Error("left: ", name)
	}
}

// database makes one at path. keep is what it is kept open for meanwhile.
func database(t testing.TB, path, sql string) platform.SQLiteConn {
	t.Helper()
	conn, err := platform.OS().SQLite.Open(path, platform.OpenOrCreate)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Exec(sql); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

const someRows = "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)"

// F45: somebody's database is no lock, whatever its journal and whatever a crash left
// of it. It is not even opened: SQLite would check it, and put it right.
func TestF45_SomebodysDatabase(t *testing.T) {
	for name, sql := range map[string]string{
		"with a WAL":           "PRAGMA journal_mode=WAL; " + someRows,
		"with a rollback":      someRows,
		"with a kept journal":  "PRAGMA journal_mode=PERSIST; " + someRows,
		"that is in use":       "PRAGMA journal_mode=WAL; " + someRows + "; BEGIN; INSERT INTO t VALUES (4)",
		"with nothing but one": "PRAGMA user_version=7",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "l")
			conn := database(t, path, sql)
			// As a crash leaves it, with its WAL and its journal: as a copy. The one that
			// is in use may not be opened by this test.
			crashed := filepath.Join(t.TempDir(), "l")
			if name != "that is in use" {
				for file, content := range contents(t, dir) {
					write(t, filepath.Join(filepath.Dir(crashed), file), content)
				}
				if err := conn.Close(); err != nil {
					t.Fatal(err)
				}
				untouched(t, path, platform.ReasonNotLock)
				untouched(t, crashed, platform.ReasonNotLock)
				return
			}
			fails(t, path, platform.ReasonNotLock)
			if err := conn.Exec("COMMIT"); err != nil {
				t.Fatal("its owner is disturbed: ", err)
			}
		})
	}
}

// F45, F49: what lies beside a free lock under the names of SQLite's own files is
// nobody's journal: SQLite would remove it.
func TestF49_FilesBesideALock(t *testing.T) {
	for _, suffix := range []string{"-journal", "-wal"} {
		path := filepath.Join(t.TempDir(), "l")
		write(t, path+suffix, "my notes")
		fails(t, path, platform.ReasonNotLock)
		write(t, path, "")
		untouched(t, path, platform.ReasonNotLock)
		if err := errors.Join(os.Remove(path + suffix)); err != nil {
			t.Fatal(err)
		}
		mustRelease(t, acquire(t, path))
	}
}
