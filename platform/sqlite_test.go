package platform_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivus/tether/platform"
)

func open(t testing.TB, path string) platform.SQLiteConn {
	t.Helper()
	conn, err := platform.OS().SQLite.Open(path, platform.OpenOrCreate)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func run(t testing.TB, conn platform.SQLiteConn, sql string) {
	t.Helper()
	if err := conn.Exec(sql); err != nil {
		t.Fatal(err)
	}
}

func prepare(t testing.TB, conn platform.SQLiteConn, sql string) platform.SQLiteStmt {
	t.Helper()
	stmt, err := conn.Prepare(sql)
	if err != nil {
		t.Fatal(err)
	}
	return stmt
}

func TestSQLiteStatements(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x ?#%20'\".db") // no URI
	conn := open(t, path)
	run(t, conn, "PRAGMA journal_mode=WAL; CREATE TABLE t(a TEXT PRIMARY KEY, b INTEGER) STRICT")
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	insert := prepare(t, conn, "INSERT INTO t VALUES(?, ?)")
	long := strings.Repeat("é", 10_000)
	for i, key := range []string{"k\x00é", "", long, "\xff\xfe"} {
		if err := insert.BindText(1, key); err != nil {
			t.Fatal(err)
		}
		if err := insert.BindInt64(2, int64(i)-1<<62); err != nil {
			t.Fatal(err)
		}
		if row, err := insert.Step(); row || err != nil || conn.Changes() != 1 {
			t.Fatal(row, err)
		}
		if err := insert.Reset(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := insert.Step(); platform.ReasonOf(err) != platform.ReasonConstraint {
		t.Fatal(err)
	}
	_ = insert.Reset()
	query := prepare(t, conn, "SELECT a, b, NULL FROM t WHERE a = ?")
	for i, key := range []string{"k\x00é", "", long, "\xff\xfe"} {
		var buffer []byte
		allocs := testing.AllocsPerRun(10, func() {
			if query.BindText(1, key) != nil {
				t.Fatal("bind")
			}
			if row, err := query.Step(); !row || err != nil {
				t.Fatal(row, err)
			}
			if query.ColumnInt64(1) != int64(i)-1<<62 || !query.ColumnIsNull(2) || !query.ColumnIsInteger(1) || query.ColumnIsInteger(0) {
				t.Fatal("columns")
			}
			buffer = query.AppendColumnText(buffer[:0], 0)
			if string(buffer) != key || query.Reset() != nil {
				t.Fatalf("%q", buffer)
			}
		})
		if allocs != 0 {
			t.Errorf("%v allocations", allocs)
		}
	}
	if err := query.BindText(2, "x"); err == nil {
		t.Fatal("a parameter that is not there was bound")
	}
	for range 2 {
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := query.Step(); platform.ReasonOf(err) != platform.ReasonInvalid {
		t.Fatal(err)
	}
	if conn.Exec("SELECT 1") == nil || query.Close() != nil || query.ColumnText(0) != "" {
		t.Fatal("used after Close")
	}
}

func TestSQLiteBusyIsTypedAndAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	a, b := open(t, path), open(t, path)
	run(t, a, "PRAGMA journal_mode=WAL; CREATE TABLE t(a)")
	run(t, a, "BEGIN IMMEDIATE; INSERT INTO t VALUES(1)")
	begin := prepare(t, b, "BEGIN IMMEDIATE")
	_, err := begin.Step()
	if !platform.IsBusy(err) || b.InTransaction() || !a.InTransaction() {
		t.Fatal(err)
	}
	data, jsonErr := json.Marshal(err)
	if jsonErr != nil || !strings.Contains(string(data), `{"_tag":"PlatformFailure","op":"step"`) || !strings.Contains(string(data), `"code":5`) {
		t.Fatal(string(data), jsonErr)
	}
	_ = begin.Reset()
	run(t, a, "ROLLBACK")
	if _, err := begin.Step(); err != nil || !b.InTransaction() {
		t.Fatal(err)
	}
	// Closing with a transaction and statements open frees the locks.
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	run(t, a, "BEGIN IMMEDIATE; COMMIT")
}

func TestSQLiteOpen(t *testing.T) {
	dir := t.TempDir()
	sqlite := platform.OS().SQLite
	if _, err := sqlite.Open(filepath.Join(dir, "none"), platform.OpenExisting); !platform.IsNotFound(err) {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(":memory:", platform.OpenExisting); !platform.IsNotFound(err) {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "target"), filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	if _, err := sqlite.Open(filepath.Join(dir, "link"), platform.OpenOrCreate); platform.ReasonOf(err) != platform.ReasonSymlink {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, filepath.Join(dir, "here")); err != nil {
		t.Fatal(err)
	}
	run(t, open(t, filepath.Join(dir, "here", "x.db")), "CREATE TABLE t(a)")
	if _, err := os.Stat(filepath.Join(dir, "x.db")); err != nil {
		t.Fatal(err)
	}
}

// K6, K9: what an exclusive lock does about readers and others.
func TestTryLock(t *testing.T) {
	dir, err := platform.OS().FS.ResolveDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "l'?")
	sqlite := platform.OS().SQLite
	if err := sqlite.Probe(path); !platform.IsNotFound(err) {
		t.Fatal("a probe created it: ", err)
	}
	if _, err := sqlite.TryLock(path); !platform.IsNotFound(err) {
		t.Fatal("a lock created it: ", err)
	}
	for range 2 {
		if err := sqlite.Create(path, ""); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := sqlite.TryLock(path)
	if err != nil || !lock.Taken() {
		t.Fatal(err)
	}
	if err := sqlite.Probe(path); !platform.IsBusy(err) {
		t.Fatal(err)
	}
	if _, err := sqlite.TryLock(path); !platform.IsBusy(err) {
		t.Fatal(err)
	}
	if moved, err := lock.Moved(); moved || err != nil {
		t.Fatal(moved, err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Fatal("something was written", err)
	}
	for range 2 {
		if err := lock.Unlock(); err != nil {
			t.Fatal(err)
		}
	}
	if ok, err := lock.Take(); ok || err != nil || lock.Taken() {
		t.Fatal("taken after Unlock", err)
	}
	if err := sqlite.Probe(path); err != nil {
		t.Fatal(err)
	}

	// A reader is in the way: the lock keeps its place before all others.
	reader := open(t, path)
	run(t, reader, "BEGIN; SELECT * FROM sqlite_master")
	ahead, err := sqlite.TryLock(path)
	if err != nil || ahead.Taken() {
		t.Fatal(err)
	}
	if ok, err := ahead.Take(); ok || err != nil {
		t.Fatal("taken over a reader", err)
	}
	if err := sqlite.Probe(path); !platform.IsBusy(err) {
		t.Fatal("a new reader passed: ", err)
	}
	if _, err := sqlite.TryLock(path); !platform.IsBusy(err) {
		t.Fatal("another passed: ", err)
	}
	run(t, reader, "COMMIT")
	if ok, err := ahead.Take(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := ahead.Unlock(); err != nil {
		t.Fatal(err)
	}
	// Unlock gives back what was only half taken, too.
	run(t, reader, "BEGIN; SELECT * FROM sqlite_master")
	half, err := sqlite.TryLock(path)
	if err != nil || half.Taken() {
		t.Fatal(err)
	}
	if err := half.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Probe(path); err != nil {
		t.Fatal(err)
	}
}
