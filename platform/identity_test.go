package platform_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
)

func TestP1_IdentityJSON(t *testing.T) {
	i := platform.Identity{Host: `h"é<`, BootID: "b", PID: 7, StartTime: 9}
	for want, change := range map[string]func(){
		`{"host":"h\"é<","bootId":"b","pid":7,"startTime":9}`:                      func() {},
		`{"host":"h\"é<","bootId":"b","pid":7,"startTime":9,"pidNs":3,"timeNs":4}`: func() { i.PIDNs, i.TimeNs = 3, 4 },
	} {
		before := i
		change()
		data, err := i.MarshalJSON()
		if err != nil || string(data) != want {
			t.Fatalf("%s, %v; want %s", data, err, want)
		}
		i = before
	}
}

// F17, P4: what is an identity, and what is refused rather than rounded.
func TestF17_IdentityNumbers(t *testing.T) {
	with := func(pid, start, more string) string {
		return `{"host":"h","bootId":"b","pid":` + pid + `,"startTime":` + start + more + `}`
	}
	for text, valid := range map[string]bool{
		with("1", "0", ""): true,
		with("9007199254740991", "9007199254740991", ""):     true,
		with("1", "9007199254740992", ""):                    false,
		with("1", "9007199254740993", ""):                    false,
		with("9007199254740993", "1", ""):                    false,
		with("1", "99999999999999999999", ""):                false,
		with("0", "1", ""):                                   false,
		with("-1", "1", ""):                                  false,
		with("1", "-1", ""):                                  false,
		with("1.5", "1", ""):                                 false,
		with("1", "1e3", ""):                                 false,
		with(`"1"`, "1", ""):                                 false,
		with("null", "1", ""):                                false,
		with("1", "2", `,"pidNs":4026531836,"timeNs":null`):  true,
		with("1", "2", `,"pidNs":9007199254740993`):          false,
		with("1", "2", `,"pidNs":"x"`):                       false,
		with("1", "2", `,"ttlMs":60000,"x":{"deep":[[[]]]}`): true,
		`{"host":"h","bootId":"b","pid":1}`:                  false,
		`{"host":"","bootId":"b","pid":1,"startTime":1}`:     false,
		`{"HOST":"h","bootId":"b","pid":1,"startTime":1}`:    false,
		`null`: false, `[]`: false, `7`: false, `{}`: false,
	} {
		var i platform.Identity
		err := json.Unmarshal([]byte(text), &i)
		if (err == nil) != valid {
			t.Errorf("%s: %v", text, err)
		}
		if err != nil && platform.ReasonOf(err) != platform.ReasonInvalid {
			t.Errorf("%s: %v is no typed failure", text, err)
		}
	}
	if _, err := (platform.Identity{Host: "h", BootID: "b", PID: 1, StartTime: 1 << 53}).MarshalJSON(); err == nil {
		t.Error("2^53 was written")
	}
}

func TestF17_IdentityRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, number := rapid.StringN(1, -1, 40), rapid.Int64Range(1, platform.MaxSafeInteger)
		want := platform.Identity{
			Host: text.Draw(t, "host"), BootID: text.Draw(t, "boot"), PID: number.Draw(t, "pid"),
			StartTime: number.Draw(t, "start"), PIDNs: uint64(number.Draw(t, "ns")), TimeNs: uint64(rapid.Int64Range(0, 9).Draw(t, "time")),
		}
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got platform.Identity
		if err := json.Unmarshal(data, &got); err != nil || got != want {
			t.Fatal(string(data), err)
		}
	})
}

func TestH1_Judge(t *testing.T) {
	self := platform.Identity{Host: "h", BootID: "b", PID: 1, StartTime: 5, PIDNs: 7, TimeNs: 8}
	base := platform.Identity{Host: "h", BootID: "b", PID: 2, StartTime: 6, PIDNs: 7, TimeNs: 8}
	change := func(f func(*platform.Identity)) platform.Identity { i := base; f(&i); return i }
	const (
		gone = iota
		same
		later
		hindered
		never // the look is not allowed to happen
	)
	for name, c := range map[string]struct {
		holder platform.Identity
		look   int
		want   platform.Liveness
	}{
		"runs":                     {base, same, platform.Alive},
		"no such pid":              {base, gone, platform.Dead},
		"another start time":       {base, later, platform.Dead},
		"F15 the look failed":      {base, hindered, platform.Unknown},
		"other host":               {change(func(i *platform.Identity) { i.Host = "x" }), never, platform.Unknown},
		"other host and boot":      {change(func(i *platform.Identity) { i.Host, i.BootID = "x", "x" }), never, platform.Unknown},
		"other boot":               {change(func(i *platform.Identity) { i.BootID = "x" }), never, platform.Dead},
		"P4 other PID namespace":   {change(func(i *platform.Identity) { i.PIDNs = 9 }), never, platform.Unknown},
		"P4 other time namespace":  {change(func(i *platform.Identity) { i.TimeNs = 9 }), never, platform.Unknown},
		"P4 other namespace, boot": {change(func(i *platform.Identity) { i.PIDNs, i.BootID = 9, "x" }), never, platform.Dead},
		"P4 none recorded, runs":   {change(func(i *platform.Identity) { i.PIDNs, i.TimeNs = 0, 0 }), same, platform.Alive},
		"P4 none recorded, gone":   {change(func(i *platform.Identity) { i.PIDNs, i.TimeNs = 0, 0 }), gone, platform.Dead},
	} {
		t.Run(name, func(t *testing.T) {
			got := platform.Judge(self, c.holder, func(pid int64) (platform.Identity, bool, error) {
				if pid != c.holder.PID || c.look == never {
					t.Fatal("looked at ", pid)
				}
				found := c.holder
				switch c.look {
				case gone:
					return platform.Identity{}, false, nil
				case later:
					found.StartTime++
				case hindered:
					return platform.Identity{}, false, errors.New("EIO")
				}
				return found, true, nil
			})
			if got != c.want {
				t.Fatalf("%v, want %v", got, c.want)
			}
		})
	}
}

// F42: no process outlives its boot, whatever namespace its pid was of. But a boot
// says nothing of another host, nor of a holder of this boot.
func TestF42_TheBootDecidesBeforeTheNamespace(t *testing.T) {
	self := platform.Identity{Host: "h", BootID: "b", PID: 1, StartTime: 5, PIDNs: 7, TimeNs: 8}
	for _, ns := range []uint64{0, 7, 9} {
		for _, timeNs := range []uint64{0, 8, 9} {
			for _, host := range []string{"h", "x"} {
				for _, boot := range []string{"b", "x"} {
					holder := platform.Identity{Host: host, BootID: boot, PID: 2, StartTime: 6, PIDNs: ns, TimeNs: timeNs}
					want := platform.Unknown
					switch {
					case host == "h" && boot == "x":
						want = platform.Dead
					case host == "h" && ns != 9 && timeNs != 9:
						want = platform.Alive
					}
					got := platform.Judge(self, holder, func(int64) (platform.Identity, bool, error) { return holder, true, nil })
					if got != want {
						t.Errorf("%+v is %v, want %v", holder, got, want)
					}
				}
			}
		}
	}
}
