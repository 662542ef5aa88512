package lease_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/samber/mo"
)

func TestR3_SQLiteFile(t *testing.T) {
	const table = "lease_record (key TEXT PRIMARY KEY, generation INTEGER NOT NULL, revision INTEGER NOT NULL, " +
		"holder TEXT, holder_id TEXT, renewed_at INTEGER NOT NULL) STRICT"
	for name, c := range map[string]struct {
		sql    string
		reason lease.RepositoryReason // "": it can be read
	}{
		"empty":          {"", ""},
		"from elsewhere": {"CREATE TABLE IF NOT EXISTS " + table + "; PRAGMA user_version = 1", ""},
		"of the other package": {"PRAGMA journal_mode=WAL; CREATE TABLE " + table + `; PRAGMA user_version = 1; INSERT INTO lease_record
			VALUES ('task:42', 9007199254740991, 9007199254740991, '{"host":"h","bootId":"b","pid":7,"startTime":9007199254740991,"more":{}}', 'x', 5)`, ""},
		"newer":                {"CREATE TABLE " + table + "; PRAGMA user_version = 2", lease.RepositoryUnsupportedSchema},
		"of another program":   {"CREATE TABLE users (a)", lease.RepositoryUnsupportedSchema},
		"another table":        {"CREATE TABLE lease_record (key TEXT); PRAGMA user_version = 1", lease.RepositoryUnsupportedSchema},
		"a broken holder":      {"CREATE TABLE " + table + "; PRAGMA user_version = 1; INSERT INTO lease_record VALUES ('task:42', 1, 1, '{', 'x', 5)", lease.RepositoryInvalidRecord},
		"half a holder":        {"CREATE TABLE " + table + "; PRAGMA user_version = 1; INSERT INTO lease_record VALUES ('task:42', 1, 1, NULL, 'x', 5)", lease.RepositoryInvalidRecord},
		"generation 0":         {"CREATE TABLE " + table + "; PRAGMA user_version = 1; INSERT INTO lease_record VALUES ('task:42', 0, 1, NULL, NULL, 5)", lease.RepositoryInvalidRecord},
		"F17 generation 2^53":  {"CREATE TABLE " + table + "; PRAGMA user_version = 1; INSERT INTO lease_record VALUES ('task:42', 9007199254740992, 9007199254740992, NULL, NULL, 5)", lease.RepositoryInvalidRecord},
		"F18 a holder of 4 MB": {"CREATE TABLE " + table + "; PRAGMA user_version = 1; INSERT INTO lease_record VALUES ('task:42', 1, 1, hex(zeroblob(2000000)), 'x', 5)", lease.RepositoryInvalidRecord},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			dump := func() string {
				return query(t, path, "SELECT group_concat(sql) FROM sqlite_schema") + query(t, path, "PRAGMA user_version")
			}
			if c.sql != "" {
				execute(t, path, c.sql)
			}
			before := dump()
			r := lease.NewSQLiteRepository(platform.OS(), path)
			defer r.Close()
			perform(t, func(do *effect.Do) {
				exit := do.Await(effect.Exit(r.Load(key)))
				if c.reason != "" {
					expect(t, "reason", as[*lease.RepositoryFailure](exit.Err()).Reason, c.reason)
					if after := dump(); after != before {
						t.Errorf("it was changed: %s, before %s", after, before)
					}
					return
				}
				if exit.IsFailure() {
					t.Fatal(exit)
				}
				do.Await(r.Save("new", lease.Record{Key: "new", Generation: 1, Revision: 1}, mo.None[int64]()))
			})
			if c.reason == "" {
				if got := dump(); got != "CREATE TABLE "+table+"1" {
					t.Errorf("schema: %s", got)
				}
			}
		})
	}
}

// F18, F24: what is no database, or not usable, is a typed failure in bounded time,
// and is left as it is.
func TestR2_F18_F24_OddPaths(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "nowhere"), link); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path   string
		reason lease.RepositoryReason
	}{
		"no database":       {write("text", strings.Repeat("no database ", 1000)), lease.RepositoryIO},
		"a directory":       {dir, lease.RepositoryIO},
		"missing directory": {filepath.Join(dir, "missing", "x.db"), lease.RepositoryIO},
		"a dangling link":   {link, lease.RepositoryIO},
		"too long":          {filepath.Join(dir, strings.Repeat("x", 5000)), lease.RepositoryUnavailable},
		"NUL":               {filepath.Join(dir, "a\x00b"), lease.RepositoryIO},
	} {
		t.Run(name, func(t *testing.T) {
			r := lease.NewSQLiteRepository(platform.OS(), c.path)
			defer r.Close()
			perform(t, func(do *effect.Do) {
				f := as[*lease.RepositoryFailure](failure(do, r.Load(key)))
				expect(t, "reason", f.Reason, c.reason)
				expect(t, "key", f.Key, key)
			})
		})
	}
	if data, err := os.ReadFile(filepath.Join(dir, "text")); err != nil || !strings.HasPrefix(string(data), "no database") {
		t.Error("the file was changed")
	}
}

func TestR5_RecordFiles(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		reason  lease.RepositoryReason
	}{
		"good":                    {`{"schemaVersion":1,"record":{"key":"task:42","generation":3,"revision":4,"holder":null,"holderId":null,"renewedAt":5}}`, ""},
		"newer":                   {`{"schemaVersion":2,"record":{}}`, lease.RepositoryUnsupportedSchema},
		"F54 no version":          {`{"record":{"key":"task:42","generation":3,"revision":4,"holder":null,"holderId":null,"renewedAt":5}}`, lease.RepositoryUnsupportedSchema},
		"F54 version null":        {`{"schemaVersion":null,"record":{"key":"task:42","generation":3,"revision":4,"holder":null,"holderId":null,"renewedAt":5}}`, lease.RepositoryUnsupportedSchema},
		"F54 version as text":     {`{"schemaVersion":"1","record":{"key":"task:42","generation":3,"revision":4,"holder":null,"holderId":null,"renewedAt":5}}`, lease.RepositoryUnsupportedSchema},
		"F54 version 1.5":         {`{"schemaVersion":1.5,"record":{"key":"task:42","generation":3,"revision":4,"holder":null,"holderId":null,"renewedAt":5}}`, lease.RepositoryUnsupportedSchema},
		"F54 version in an array": {`{"schemaVersion":[1],"record":{"key":"task:42","generation":3,"revision":4,"holder":null,"holderId":null,"renewedAt":5}}`, lease.RepositoryUnsupportedSchema},
		"F54 version 1.0":         {`{"schemaVersion":1.0,"record":{"key":"task:42","generation":3,"revision":4,"holder":null,"holderId":null,"renewedAt":5}}`, ""},
		"empty":                   {"", lease.RepositoryInvalidRecord},
		"no record":               {`{"schemaVersion":1}`, lease.RepositoryInvalidRecord},
		"R6 other case":           {`{"schemaVersion":1,"record":{"key":"TASK:42","generation":3,"revision":4,"holder":null,"holderId":null,"renewedAt":5}}`, lease.RepositoryInvalidRecord},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "task%3A42.lease.json")
			if err := os.WriteFile(path, []byte(c.content), 0o644); err != nil {
				t.Fatal(err)
			}
			r := lease.NewFileRepository(platform.OS(), dir)
			perform(t, func(do *effect.Do) {
				exit := do.Await(effect.Exit(r.Load(key)))
				if c.reason == "" {
					v, _ := exit.Value()
					expect(t, "record", v, mo.Some(lease.Record{Key: key, Generation: 3, Revision: 4, RenewedAt: 5}))
					return
				}
				expect(t, "reason", as[*lease.RepositoryFailure](exit.Err()).Reason, c.reason)
				expect(t, "reason of a save", as[*lease.RepositoryFailure](failure(do, r.Save(key, record(1, 1, holderOf(9), "x"), mo.None[int64]()))).Reason, c.reason)
			})
			if data, err := os.ReadFile(path); err != nil || string(data) != c.content {
				t.Errorf("the file is %q now, %v", data, err)
			}
		})
	}
}

// R3: a locked database is tried for half a second, on the runtime's clock, and
// other fibers go on.
func TestR3_Busy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	r := lease.NewSQLiteRepository(platform.OS(), path)
	defer r.Close()
	perform(t, func(do *effect.Do) { do.Await(r.Load(key)) })
	other, err := platform.OS().SQLite.Open(path, platform.OpenExisting)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	retries := 0
	simulate(t, func(do *effect.Do) {
		save := r.Save(key, record(1, 1, holderOf(9), "x"), mo.None[int64]()).
			ProvideService(lease.ObserverService, func(e lease.Event) {
				if _, ok := e.(lease.BusyRetry); ok {
					retries++
				}
			})
		f := as[*lease.RepositoryFailure](failure(do, save))
		expect(t, "reason", f.Reason, lease.RepositoryBusy)
		if at := now(do); at < 500*time.Millisecond || at > 600*time.Millisecond {
			t.Errorf("busy after %v", at)
		}
		if retries < 10 {
			t.Errorf("%d retries", retries)
		}
		// An interruption ends it, and the repository goes on working.
		if do.Await(effect.TimeoutOption(save, 100*time.Millisecond)).IsPresent() {
			t.Error("saved while locked")
		}
		do.Await(effect.ForkChild(effect.Sleep(200 * time.Millisecond).AndThen(effect.Try(func() (unit, error) {
			return unit{}, other.Exec("ROLLBACK")
		}))))
		do.Await(save)
	})
}

// A database that is replaced while it is open is noticed by the next call.
func TestR3_F22_ReplacedDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	r := lease.NewSQLiteRepository(platform.OS(), path)
	defer r.Close()
	perform(t, func(do *effect.Do) {
		do.Await(r.Save(key, record(1, 1, holderOf(9), "x"), mo.None[int64]()))
		for _, suffix := range []string{"", "-wal", "-shm"} {
			_ = os.Remove(path + suffix)
		}
		conflict := as[*lease.RevisionConflict](failure(do, r.Save(key, record(1, 2, holderOf(9), "x"), mo.Some(int64(1)))))
		expect(t, "stored", conflict.StoredRevision, mo.None[int64]())
	})
}

// R8: a location on a network file system is refused by name, or allowed.
func TestR8_NetworkStorage(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		dir := t.TempDir()
		p := *platform.OS()
		p.FS = network{p.FS}
		var options []lease.RepositoryOption
		if allowed {
			options = append(options, lease.AllowNetworkStorage())
		}
		s := lease.NewSQLiteRepository(&p, filepath.Join(dir, "x.db"), options...)
		defer s.Close()
		for name, r := range map[string]lease.Repository{"sqlite": s, "files": lease.NewFileRepository(&p, dir, options...)} {
			perform(t, func(do *effect.Do) {
				for _, e := range []effect.Effect[unit]{
					r.Load(key).AsUnit(), r.Save(key, record(1, 1, holderOf(9), "x"), mo.None[int64]()), in(r.Fence(key)),
				} {
					err := failure(do, e)
					if allowed {
						expect(t, name, err, nil)
						continue
					}
					f := as[*lease.RepositoryFailure](err)
					expect(t, name, f.Reason, lease.RepositoryUnavailable)
					if !strings.Contains(f.Message, "nfs") {
						t.Error(f.Message)
					}
				}
			})
		}
	}
}

// R8: a container may have the one database from a network, in a folder of its own.
func TestR8_NetworkFileInALocalFolder(t *testing.T) {
	dir, err := platform.OS().FS.ResolveDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := *platform.OS()
	p.FS = mountedFile{p.FS, filepath.Join(dir, "x.db")}
	s := lease.NewSQLiteRepository(&p, filepath.Join(dir, "x.db"))
	defer s.Close()
	perform(t, func(do *effect.Do) {
		f := as[*lease.RepositoryFailure](failure(do, s.Load(key).AsUnit()))
		if f == nil || f.Reason != lease.RepositoryUnavailable || !strings.Contains(f.Message, "nfs") {
			t.Error(f)
		}
	})
}

// mountedFile says that the file at its path is on the network, and nothing else.
type mountedFile struct {
	platform.FS
	path string
}

func (m mountedFile) FileSystemType(path string) (platform.FileSystemType, error) {
	if path == m.path {
		return platform.FileSystemType{Name: "nfs", Network: true}, nil
	}
	return m.FS.FileSystemType(path)
}

type network struct{ platform.FS }

func (network) FileSystemType(string) (platform.FileSystemType, error) {
	return platform.FileSystemType{Name: "nfs", Network: true}, nil
}

func execute(t *testing.T, path, sql string) {
	t.Helper()
	conn, err := platform.OS().SQLite.Open(path, platform.OpenOrCreate)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(conn.Exec(sql), conn.Close()); err != nil {
		t.Fatal(err)
	}
}

func query(t *testing.T, path, sql string) (text string) {
	t.Helper()
	conn, err := platform.OS().SQLite.Open(path, platform.OpenOrCreate)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	stmt, err := conn.Prepare(sql)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stmt.Step(); err != nil {
		t.Fatal(err)
	}
	return stmt.ColumnText(0)
}
