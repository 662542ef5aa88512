package lease

import (
	"path/filepath"
	"testing"

	"github.com/rivus/tether/platform"
	"github.com/samber/mo"
)

// R2: another process writes a key's first record while this one, which found
// none, looks whether there is one that it must not read. That is no invalid
// record.
func TestR2_FirstRecordAppearsDuringALoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "leases.db")
	open := func() *sqliteStore {
		st, err := openStore(platform.OS(), path, repositorySettings{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = st.conn.Close() })
		return st
	}
	reader, writer := open(), open()
	if r, err := reader.load("k"); err != nil || r.IsPresent() {
		t.Fatalf("%v %v", r, err)
	}
	next := Record{Key: "k", Generation: 1, Revision: 1}
	if err := writer.save("k", next, mo.None[int64]()); err != nil {
		t.Fatal(err)
	}
	if err := reader.checkMissing("k"); err != nil {
		t.Error(err)
	}
}
