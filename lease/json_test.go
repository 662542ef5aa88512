package lease_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/samber/mo"
	"pgregory.net/rapid"
)

const maxSafe = platform.MaxSafeInteger

func drawHolder(t *rapid.T) lease.Holder {
	text := rapid.StringN(1, 20, 60)
	return lease.Holder{
		Identity: platform.Identity{
			Host: text.Draw(t, "host"), BootID: text.Draw(t, "boot"),
			PID: rapid.Int64Range(1, maxSafe).Draw(t, "pid"), StartTime: rapid.Int64Range(0, maxSafe).Draw(t, "start"),
			PIDNs: rapid.Uint64Range(0, maxSafe).Draw(t, "pidNs"), TimeNs: rapid.Uint64Range(0, maxSafe).Draw(t, "timeNs"),
		},
		TTL: time.Duration(rapid.Int64Range(0, 1<<43).Draw(t, "ttl")) * time.Millisecond / 1e3 * 1e3,
	}
}

func drawRecord(t *rapid.T) lease.Record {
	r := lease.Record{
		Key:        rapid.StringN(1, 40, 120).Draw(t, "key"),
		Generation: rapid.Int64Range(1, maxSafe).Draw(t, "generation"),
		RenewedAt:  rapid.Float64().Draw(t, "renewedAt"),
	}
	r.Revision = rapid.Int64Range(r.Generation, maxSafe).Draw(t, "revision")
	if rapid.Bool().Draw(t, "held") {
		h := drawHolder(t)
		h.TTL = h.TTL.Truncate(time.Millisecond)
		r.Holder, r.HolderID = mo.Some(h), mo.Some(rapid.String().Draw(t, "id"))
	}
	return r
}

func TestL1_RecordJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRecord(t)
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var back lease.Record
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if back != r {
			t.Fatalf("%s came back as %+v, want %+v", data, back, r)
		}
	})
}

// F17, F18, and that what the TypeScript package writes is read.
func TestF18_RecordJSON(t *testing.T) {
	const holder = `{"host":"h","bootId":"b","pid":7,"startTime":9}`
	record := func(generation, holder, id, renewedAt string) string {
		return `{"key":"k","generation":` + generation + `,"revision":9007199254740991,"holder":` + holder +
			`,"holderId":` + id + `,"renewedAt":` + renewedAt + `}`
	}
	for name, c := range map[string]struct {
		in string
		ok bool
	}{
		"plain":                  {record("1", holder, `"x"`, "5"), true},
		"tombstone":              {record("9007199254740991", "null", "null", "5"), true},
		"fraction of renewedAt":  {record("1", "null", "null", "5.25"), true},
		"unknown field":          {strings.Replace(record("1", "null", "null", "5"), `{`, `{"later":[1],`, 1), true},
		"unknown in holder":      {record("1", strings.Replace(holder, `{`, `{"arch":{"x":[]},`, 1), `"x"`, "5"), true},
		"F17 generation 2^53":    {record("9007199254740992", "null", "null", "5"), false},
		"generation 1.0":         {record("1.0", "null", "null", "5"), false},
		"generation as text":     {record(`"1"`, "null", "null", "5"), false},
		"renewedAt null":         {record("1", "null", "null", "null"), false},
		"renewedAt too large":    {record("1", "null", "null", "1e999"), false},
		"holder without id":      {record("1", holder, "null", "5"), false},
		"F17 start 2^53+1":       {record("1", strings.Replace(holder, "9", "9007199254740993", 1), `"x"`, "5"), false},
		"ttlMs 0":                {record("1", strings.Replace(holder, `{`, `{"ttlMs":0,`, 1), `"x"`, "5"), false},
		"other case of a name":   {strings.Replace(record("1", "null", "null", "5"), "generation", "Generation", 1), false},
		"empty":                  {"", false},
		"cut off":                {record("1", "null", "null", "5")[:30], false},
		"NUL bytes":              {"\x00\x00\x00", false},
		"null":                   {"null", false},
		"array":                  {"[]", false},
		"deeply nested":          {`{"key":` + strings.Repeat("[", 200_000), false},
		"holder deeply nested":   {record("1", strings.Repeat(`{"a":`, 5000)+"1"+strings.Repeat("}", 5000), `"x"`, "5"), false},
		"holder of 100,000 byte": {record("1", strings.Replace(holder, `"h"`, `"`+strings.Repeat("h", 100_000)+`"`, 1), `"x"`, "5"), false},
	} {
		t.Run(name, func(t *testing.T) {
			var r lease.Record
			err := r.UnmarshalJSON([]byte(c.in))
			if (err == nil) != c.ok {
				t.Fatalf("err = %v, want ok: %v", err, c.ok)
			}
			if err != nil && r != (lease.Record{}) {
				t.Fatal("a refused record was kept in part")
			}
		})
	}
}

func TestL5_HolderTTL(t *testing.T) {
	h := lease.Holder{Identity: platform.Identity{Host: "h", BootID: "b", PID: 1}, TTL: time.Second + 1}
	data, err := h.MarshalJSON()
	if want := `{"host":"h","bootId":"b","pid":1,"startTime":0,"ttlMs":1001}`; err != nil || string(data) != want {
		t.Fatalf("%s, %v; want %s", data, err, want)
	}
	var huge lease.Holder
	if err := huge.UnmarshalJSON([]byte(`{"host":"h","bootId":"b","pid":1,"startTime":0,"ttlMs":9007199254740991}`)); err != nil || huge.TTL < 1<<62 {
		t.Fatal(huge.TTL, err)
	}
}

// F54: what is not known is left out, as in TypeScript, and not null.
func TestF54_FailuresJSON(t *testing.T) {
	holder := lease.Holder{Identity: platform.Identity{Host: "h", BootID: "b", PID: 7, StartTime: 9}}
	for want, err := range map[string]error{
		`{"_tag":"LeaseHeld","key":"k","generation":3,"holder":{"host":"h","bootId":"b","pid":7,"startTime":9},"holderId":"x"}`: &lease.Held{Key: "k", Generation: 3, Holder: holder, HolderID: "x"},
		`{"_tag":"LeaseLost","key":"k","generation":3,"reason":"taken-over"}`:                                                   &lease.Lost{Key: "k", Generation: 3, Reason: lease.LostTakenOver},
		`{"_tag":"LeaseConfigInvalid","message":"m"}`:                                                                           &lease.ConfigInvalid{Message: "m"},
		`{"_tag":"LeaseRepositoryFailure","key":"k","reason":"invalid-record","message":"m"}`:                                   &lease.RepositoryFailure{Key: "k", Reason: lease.RepositoryInvalidRecord, Message: "m", Cause: errors.New("c")},
		`{"_tag":"RevisionConflict","key":"k","storedRevision":4}`:                                                              &lease.RevisionConflict{Key: "k", StoredRevision: mo.Some(int64(4))},
		`{"_tag":"RevisionConflict","key":"k","expectedRevision":0}`:                                                            &lease.RevisionConflict{Key: "k", ExpectedRevision: mo.Some(int64(0))},
		`{"_tag":"FenceRejected","key":"k","generation":3}`:                                                                     &lease.FenceRejected{Key: "k", Generation: 3},
		`{"_tag":"FenceRejected","key":"k","generation":3,"current":4}`:                                                         &lease.FenceRejected{Key: "k", Generation: 3, Current: mo.Some(int64(4))},
	} {
		got, failed := json.Marshal(err)
		if failed != nil {
			t.Fatal(failed)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Error(diff)
		}
	}
}

// F54: a record file is what JSON.stringify makes of it, to the byte.
func TestF54_RecordFileText(t *testing.T) {
	r := lease.Record{Key: "<é\u2028\u2029\x7f\b\x01>", Generation: 1, Revision: 1, RenewedAt: 1.5e-7}
	for at, text := range map[float64]string{5: "5", -0.25: "-0.25", 1.5e-7: "1.5e-7", 1e20: "100000000000000000000", 1e21: "1e+21"} {
		r.RenewedAt = at
		got, err := r.MarshalJSON()
		want := `{"key":"<é` + "\u2028\u2029\x7f" + `\b\u0001>","generation":1,"revision":1,"holder":null,"holderId":null,"renewedAt":` + text + "}"
		if err != nil || string(got) != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}

func TestL15_L16_CheckFence(t *testing.T) {
	token := func(key string, generation int64) lease.FencingToken {
		return lease.FencingToken{Key: key, Generation: generation}
	}
	for name, c := range map[string]struct {
		seen  mo.Option[lease.FencingToken]
		token lease.FencingToken
		ok    bool
	}{
		"nothing seen":       {mo.None[lease.FencingToken](), token("k", 1), true},
		"the same":           {mo.Some(token("k", 4)), token("k", 4), true},
		"a later one":        {mo.Some(token("k", 4)), token("k", 5), true},
		"an earlier one":     {mo.Some(token("k", 4)), token("k", 3), false},
		"of another key":     {mo.Some(token("k", 4)), token("j", 3), true},
		"at the upper limit": {mo.Some(token("k", maxSafe)), token("k", maxSafe-1), false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := lease.CheckFence(c.seen, c.token).Get()
			if c.ok {
				if err != nil || got != c.token {
					t.Fatal(got, err)
				}
				return
			}
			rejected, ok := errors.AsType[*lease.FenceRejected](err)
			if !ok || rejected.Generation != c.token.Generation || rejected.Current != mo.Some(c.seen.MustGet().Generation) {
				t.Fatal(err)
			}
		})
	}
}
