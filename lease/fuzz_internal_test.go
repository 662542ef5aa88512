package lease

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

// What a decoder accepts it writes again, and reads back the same: nothing is
// rounded, cut or reordered on the way through a file.

func FuzzRecordFile(f *testing.F) {
	f.Add([]byte(`{"schemaVersion":1,"record":{"key":"k","generation":3,"revision":9,"holder":{"host":"h","bootId":"b","pid":2,"startTime":6,"ttlMs":60000},"holderId":"n","renewedAt":1735689600000}}`))
	f.Add([]byte(`{"schemaVersion":1,"record":{"key":"k","generation":9007199254740991,"revision":1,"holder":null,"holderId":null,"renewedAt":0.5}}`))
	f.Add([]byte(`{"schemaVersion":2,"record":null}`))
	f.Add([]byte(`[[[[[[[[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, reason, err := parseRecordFile(data)
		if err != nil {
			if reason != RepositoryInvalidRecord && reason != RepositoryUnsupportedSchema {
				t.Fatalf("the reason is %q: %v", reason, err)
			}
			return
		}
		again, err := recordFile(r)
		if err != nil {
			t.Fatalf("accepted but not writable: %v", err)
		}
		back, _, err := parseRecordFile(again)
		if err != nil || back != r {
			t.Fatalf("%s: %+v became %+v, %v", again, r, back, err)
		}
	})
}

func FuzzHolder(f *testing.F) {
	f.Add([]byte(`{"host":"h","bootId":"b","pid":2,"startTime":6,"pidNs":"4026531836","ttlMs":60000}`))
	f.Add([]byte(`{"host":"h","bootId":"b","pid":4194304,"startTime":9007199254740991}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var h Holder
		if json.Unmarshal(data, &h) != nil {
			return
		}
		again, err := json.Marshal(h)
		if err != nil {
			t.Fatalf("accepted but not writable: %v", err)
		}
		var back Holder
		if err := json.Unmarshal(again, &back); err != nil || back != h {
			t.Fatalf("%s: %+v became %+v, %v", again, h, back, err)
		}
	})
}

// No key leaves its folder, is hidden, is too long for a file system, or shares
// its file with another key.
func FuzzFileName(f *testing.F) {
	for _, key := range []string{"", "task:42", "../../etc/passwd", ".", "CON", "a\x00b", "\xff\xfe", strings.Repeat("ä", 100), strings.Repeat("k", 200)} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		name := fileName(key)
		if len(name) > maxName {
			t.Fatalf("%d characters", len(name))
		}
		for i := range len(name) {
			if c := name[i]; !plain(c) && c != '%' && c != '~' {
				t.Fatalf("%q has %q", name, c)
			}
		}
		if strings.Contains(name, "~") {
			return // a hash, which no key that fits can spell
		}
		if back, err := url.PathUnescape(name); err != nil || back != key {
			t.Fatalf("%q stands for %q, %v", name, back, err)
		}
	})
}
