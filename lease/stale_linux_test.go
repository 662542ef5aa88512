package lease_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/samber/mo"
)

// R5: the temporary files of killed processes go away with the first write of a
// repository, and those of living ones, or of nobody knows whom, stay.
func TestR5_StaleTemporaryFiles(t *testing.T) {
	dir := t.TempDir()
	self, err := platformOS().Process.Self()
	if err != nil {
		t.Fatal(err)
	}
	dead, elsewhere := self, self
	dead.StartTime--
	elsewhere.Host += "x"
	elsewhere.StartTime--
	held := func(h lease.Holder) string {
		data, err := json.Marshal(record(1, 2, h, "x"))
		if err != nil {
			t.Fatal(err)
		}
		return `{"schemaVersion":1,"record":` + string(data) + "}"
	}
	stamp := func(h lease.Holder) string {
		data, _ := json.Marshal(h)
		return strings.TrimSuffix(string(data), "}") + `,"acquiredAt":1,"nonce":"n"}`
	}
	const tombstone = `{"schemaVersion":1,"record":{"key":"k","generation":1,"revision":2,"holder":null,"holderId":null,"renewedAt":1}}`
	outside := filepath.Join(t.TempDir(), "outside")
	for name, c := range map[string]struct {
		content string
		old     bool
		stays   bool
	}{
		".tether-0000000000000000.tmp": {content: held(lease.Holder{Identity: dead})},
		".tether-0000000000000001.tmp": {content: held(lease.Holder{Identity: self}), old: true, stays: true},
		".tether-0000000000000002.tmp": {content: held(lease.Holder{Identity: elsewhere}), old: true, stays: true},
		".tether-0000000000000003.tmp": {content: stamp(lease.Holder{Identity: dead})},
		".tether-0000000000000004.tmp": {content: stamp(lease.Holder{Identity: self}), old: true, stays: true},
		".tether-0000000000000005.tmp": {content: "", stays: true},
		".tether-0000000000000006.tmp": {content: "", old: true},
		".tether-0000000000000007.tmp": {content: tombstone, stays: true},
		".tether-0000000000000008.tmp": {content: tombstone, old: true},
		".tether-0000000000000009.tm":  {content: held(lease.Holder{Identity: dead}), old: true, stays: true},
		".tether-oldnotes.tmp":         {content: "", old: true, stays: true},
		"tether-9.tmp":                 {content: held(lease.Holder{Identity: dead}), old: true, stays: true},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.content), 0o644); err != nil {
			t.Fatal(err)
		}
		if c.old {
			at := time.Now().Add(-25 * time.Hour)
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err)
			}
		}
		defer func() {
			if _, err := os.Stat(path); (err == nil) != c.stays {
				t.Errorf("%s: %v", name, err)
			}
		}()
	}
	if err := os.WriteFile(outside, []byte(held(lease.Holder{Identity: dead})), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, ".tether-000000000000000a.tmp")); err != nil {
		t.Fatal(err)
	}
	perform(t, func(do *effect.Do) {
		r := lease.NewFileRepository(platformOS(), dir)
		do.Await(r.Save(key, record(1, 1, holderOf(9), "x"), mo.None[int64]()))
	})
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}
