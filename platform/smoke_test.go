package platform_test

import (
	"path/filepath"
	"testing"

	"github.com/rivus/tether/platform"
)

func TestSQLiteStatements(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	conn, err := platform.OS().SQLite.Open(path, platform.OpenOrCreate)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Exec("PRAGMA journal_mode=WAL; CREATE TABLE t(a TEXT PRIMARY KEY, b INTEGER) STRICT"); err != nil {
		t.Fatal(err)
	}
	insert, err := conn.Prepare("INSERT INTO t VALUES(?, ?)")
	if err != nil {
		t.Fatal(err)
	}
	if err := insert.BindText(1, "k\x00é"); err != nil {
		t.Fatal(err)
	}
	if err := insert.BindInt64(2, 7); err != nil {
		t.Fatal(err)
	}
	if row, err := insert.Step(); row || err != nil {
		t.Fatal(row, err)
	}
	if err := insert.Reset(); err != nil {
		t.Fatal(err)
	}
	if _, err := insert.Step(); platform.ReasonOf(err) != platform.ReasonConstraint {
		t.Fatal(err)
	}
	_ = insert.Reset()
	query, err := conn.Prepare("SELECT a, b, NULL FROM t WHERE a = ?")
	if err != nil {
		t.Fatal(err)
	}
	allocs := testing.AllocsPerRun(100, func() {
		if err := query.BindText(1, "k\x00é"); err != nil {
			t.Fatal(err)
		}
		if row, err := query.Step(); !row || err != nil || query.ColumnInt64(1) != 7 || !query.ColumnIsNull(2) {
			t.Fatal(row, err)
		}
		if err := query.Reset(); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Fatalf("%v allocations", allocs)
	}
	if row, err := query.Step(); !row || err != nil || query.ColumnText(0) != "k\x00é" {
		t.Fatal(row, err, query.ColumnText(0))
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestSelf(t *testing.T) {
	self, err := platform.OS().Process.Self()
	if err != nil {
		t.Fatal(err)
	}
	t.Log(self, self.BootID, self.StartTime, self.PIDNs, self.TimeNs)
	found, err := platform.OS().Process.Identify(self.PID)
	if err != nil || found.MustGet() != self {
		t.Fatal(found, err)
	}
}
