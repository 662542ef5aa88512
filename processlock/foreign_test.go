//go:build linux

package processlock_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/internal/child"
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

// F49: a lock file is asked for at the path of a file that never was one. It is old,
// as what is somebody's mostly is.
func TestF49_SomebodysFile(t *testing.T) {
	for name, content := range map[string]string{
		"a script":                  "#!/bin/sh\nexec daemon\n",
		"a pidfile":                 "12345\n",
		"a newline":                 "\n",
		"a shell's braces":          "{ echo a; }\n",
		"an object":                 `{"a": 1}`,
		"settings that are cut off": `{"editor": {"tabs": fal`,
		"a list":                    "[]",
		"deeply nested":             strings.Repeat("[", 60_000),
		"deep objects":              strings.Repeat(`{"a":`, 10_000),
		"zeros, then something":     "\x00\x00\x00my notes",
		"a stamp, then something":   stampOf(t, deadPid(t), nil) + "\nmy notes",
		"a database":                "SQLite format 3\x00" + strings.Repeat("\x00", 4080),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "l")
			past := time.Now().Add(-time.Hour)
			write(t, path, content)
			if err := os.Chtimes(path, past, past); err != nil {
				t.Fatal(err)
			}
			untouched(t, path, platform.ReasonNotLock, processlock.WithoutSQLite())
			// As the guard of a dead holder's file.
			if err := os.Rename(path, path+".stale"); err != nil {
				t.Fatal(err)
			}
			write(t, path, stampOf(t, deadPid(t), nil))
			fails(t, path, platform.ReasonNotLock, processlock.WithoutSQLite())
			if data, err := os.ReadFile(path + ".stale"); err != nil || string(data) != content {
				t.Fatal("the guard was changed: ", err)
			}
		})
	}
}

// F49: a file that cannot be read is nobody's to remove.
func TestF49_UnreadableFile(t *testing.T) {
	child.NeedRoot(t)
	dir := child.Folder(t, 0, 0, 0o777)
	path := filepath.Join(dir, "l")
	write(t, path, "")
	past := time.Now().Add(-time.Hour)
	if err := errors.Join(os.Chtimes(path, past, past), os.Chmod(path, 0)); err != nil {
		t.Fatal(err)
	}
	ann := startAs(t, child.As(child.Ann, child.Ann))
	for _, do := range []string{"acquire", "isheld"} {
		for _, file := range []bool{false, true} {
			if r := ann.Do(command{Do: do, Path: path, File: file}); r.OK || r.Held || r.Reason != string(platform.ReasonPermission) {
				t.Fatalf("%s: %+v", do, r)
			}
		}
	}
	if names := entries(t, dir); names != "[l]" {
		t.Fatal(names)
	}
}

// F46: beside a free lock the holder file of a killed holder means nothing, whatever
// version wrote it. Beside a held one it names pid and host.
func TestF46_HolderFileOfAnotherVersion(t *testing.T) {
	for name, content := range map[string]string{
		"newer TypeScript": `{"host":"elsewhere","pid":4711,"acquiredAt":1893456000000,"nonce":"n"}`,
		"no nonce":         `{"host":"elsewhere","pid":4711}`,
		"other members":    `{"v":3,"pid":4711,"host":"elsewhere","bootId":7,"startTime":"x"}`,
		"time as text":     `{"host":"elsewhere","pid":4711,"acquiredAt":"2026-12-01T00:00:00Z"}`,
		"no host":          `{"pid":4711,"startedAt":1}`,
		"a pid as text":    `{"host":"elsewhere","pid":"4711"}`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "l")
			write(t, path+".holder", content)
			if isHeld(t, path) {
				t.Fatal("held")
			}
			mustRelease(t, acquire(t, path))
			if names := entries(t, filepath.Dir(path)); names != "[l]" {
				t.Fatal("left: ", names)
			}
			start(t, nil).must(command{Do: "acquire", Path: path})
			write(t, path+".holder", content)
			h := refused(t, path)
			if named, ok := h.Holder.Get(); ok != (name != "no host" && name != "a pid as text") || ok && (named.PID != 4711 || named.Host != "elsewhere") {
				t.Fatal(h)
			}
			if !h.Holder.IsPresent() {
				return
			}
			if !strings.Contains(h.Error(), "4711") || !strings.Contains(h.Error(), "elsewhere") {
				t.Fatal(h)
			}
			data, err := json.Marshal(h)
			if err != nil {
				t.Fatal(err)
			}
			var back struct{ Holder map[string]any }
			if err := json.Unmarshal(data, &back); err != nil || back.Holder["pid"] != 4711.0 || back.Holder["host"] != "elsewhere" {
				t.Fatalf("%s: %v", data, err)
			}
			if _, ok := back.Holder["bootId"]; ok {
				t.Fatalf("made up: %s", data)
			}
			var again processlock.Holder
			if err := json.Unmarshal(data[strings.Index(string(data), `{"host"`):len(data)-1], &again); err != nil || again != h.Holder.MustGet() {
				t.Fatal(again, err)
			}
		})
	}
}

// F50: what a stamp says is shown, not done: it moves no cursor and makes no line.
func TestF50_NamesInStamps(t *testing.T) {
	for _, host := range []string{"\x1b[2J\x1b[31mroot", "h\nFATAL: all is lost", "\u009b2J", "\u202egnp.exe", strings.Repeat("x", 20_000)} {
		mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
			path := filepath.Join(t.TempDir(), "odd\n\x1bname")
			stamp := stampOf(t, 42, func(m map[string]any) { m["host"] = host })
			if file {
				write(t, path, stamp)
			} else {
				start(t, nil).must(command{Do: "acquire", Path: path})
				write(t, path+".holder", stamp)
			}
			held := refused(t, path, options...)
			if held.Holder.OrEmpty().Host != host {
				t.Fatal("the stamp was not read: ", held)
			}
			for _, shown := range []string{held.Error(), held.Holder.OrEmpty().String()} {
				if strings.ContainsFunc(shown, func(r rune) bool { return !strconv.IsPrint(r) }) || len(shown) > 1000 {
					t.Errorf("%q", shown)
				}
			}
		})
	}
}
