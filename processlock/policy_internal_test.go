package processlock

import (
	"testing"
	"time"

	"github.com/samber/mo"
	"pgregory.net/rapid"

	"github.com/rivus/tether/platform"
)

const ms = time.Millisecond

func TestK5K6_PolicyTable(t *testing.T) {
	type step struct {
		saw   finding
		now   time.Duration
		want  verdict
		pause time.Duration // with random 0.5
	}
	for name, c := range map[string]struct {
		wait  bool
		steps []step
	}{
		"K6 a holder ends it":                 {false, []step{{sawHolder, 0, doReportHeld, 0}}},
		"K6 contention is tried for a second": {false, []step{{sawContention, 0, doPause, ms / 2}, {sawContention, 500 * ms, doPause, ms}, {sawContention, 999 * ms, doPause, 2 * ms}, {sawContention, time.Second, doReportContended, 0}}},
		"K6 contention, then a holder":        {false, []step{{sawContention, 0, doPause, ms / 2}, {sawHolder, 10 * ms, doReportHeld, 0}}},
		"K5 pauses double to 16 times":        {true, []step{{sawHolder, 0, doPause, 50 * ms}, {sawHolder, 0, doPause, 100 * ms}, {sawHolder, 0, doPause, 200 * ms}, {sawHolder, 0, doPause, 400 * ms}, {sawHolder, 0, doPause, 800 * ms}, {sawHolder, 0, doPause, 800 * ms}}},
		"K5 only the first settles a race":    {true, []step{{sawContention, 0, doPause, ms / 2}, {sawHolder, ms, doPause, 50 * ms}, {sawContention, 60 * ms, doPause, 100 * ms}}},
		"K5 waiting outlasts contention":      {true, []step{{sawContention, 0, doPause, ms / 2}, {sawContention, 2 * time.Second, doPause, 50 * ms}, {sawHolder, 3 * time.Second, doPause, 100 * ms}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := policy{wait: c.wait, retry: DefaultRetry}
			for i, s := range c.steps {
				var do verdict
				var pause time.Duration
				if p, do, pause = p.next(s.saw, s.now, 0.5); do != s.want || pause != s.pause {
					t.Fatalf("step %d: %v after %v, want %v after %v", i, do, pause, s.want, s.pause)
				}
			}
		})
	}
}

func TestK5K6_PolicyBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		retry := time.Duration(rapid.Int64Range(1, int64(maxRetry)).Draw(t, "retry"))
		p := policy{wait: rapid.Bool().Draw(t, "wait"), retry: retry}
		var now time.Duration
		for range 40 {
			saw := rapid.SampledFrom([]finding{sawHolder, sawContention}).Draw(t, "saw")
			next, do, pause := p.next(saw, now, rapid.Float64Range(0, 0.999999).Draw(t, "random"))
			switch {
			case do == doReportHeld && (saw != sawHolder || p.wait):
				t.Fatal("Held without a holder, or from a waiting one")
			case do == doReportContended && (p.wait || saw != sawContention || now < settleTime):
				t.Fatal("gave up too soon")
			case do != doPause:
				return
			case pause <= 0 || pause > max(20*retry+1, 16*ms):
				t.Fatal("pause ", pause, " of retry ", retry)
			case !next.later && pause > 16*ms:
				t.Fatal("a pause of the first attempt: ", pause)
			case !p.wait && next.later:
				t.Fatal("one who does not wait went on waiting")
			}
			p = next
			now += pause
		}
	})
}

// K4, H1, F12: what a lock file says about its holder.
func TestK4_JudgeTable(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	self := platform.Identity{Host: "h", BootID: "b", PID: 1, StartTime: 5, PIDNs: 7}
	other := platform.Identity{Host: "h", BootID: "b", PID: 2, StartTime: 6, PIDNs: 7}
	stamp := func(change func(*platform.Identity)) fileState {
		h := Holder{Identity: other}
		change(&h.Identity)
		return fileState{kind: stamped, holder: h}
	}
	same := func(*platform.Identity) {}
	runs := func(start int64) func(int64) (platform.Identity, bool, error) {
		return func(pid int64) (platform.Identity, bool, error) {
			found := other
			found.PID, found.StartTime = pid, start
			return found, true, nil
		}
	}
	gone := func(int64) (platform.Identity, bool, error) { return platform.Identity{}, false, nil }
	hidden := func(pid int64) (platform.Identity, bool, error) {
		return platform.Identity{}, false, &platform.Failure{PID: pid, Reason: platform.ReasonPermission}
	}
	for name, c := range map[string]struct {
		file   fileState
		self   mo.Option[platform.Identity]
		lookup func(int64) (platform.Identity, bool, error)
		want   platform.Liveness
	}{
		"runs":                        {stamp(same), mo.Some(self), runs(6), platform.Alive},
		"gone":                        {stamp(same), mo.Some(self), gone, platform.Dead},
		"pid used again":              {stamp(same), mo.Some(self), runs(99), platform.Dead},
		"look failed":                 {stamp(same), mo.Some(self), hidden, platform.Unknown},
		"other boot":                  {stamp(func(i *platform.Identity) { i.BootID = "old" }), mo.Some(self), hidden, platform.Dead},
		"other host":                  {stamp(func(i *platform.Identity) { i.Host = "x" }), mo.Some(self), gone, platform.Unknown},
		"other namespace":             {stamp(func(i *platform.Identity) { i.PIDNs = 8 }), mo.Some(self), gone, platform.Unknown},
		"no namespace recorded":       {stamp(func(i *platform.Identity) { i.PIDNs = 0 }), mo.Some(self), gone, platform.Dead},
		"no own identity":             {stamp(same), mo.None[platform.Identity](), gone, platform.Unknown},
		"no stamp, new":               {fileState{kind: begun, modTime: now}, mo.Some(self), gone, platform.Unknown},
		"no stamp, just not 30 s old": {fileState{kind: begun, modTime: now.Add(-stampTime + 1)}, mo.Some(self), gone, platform.Unknown},
		"no stamp, 30 s old":          {fileState{kind: begun, modTime: now.Add(-stampTime)}, mo.Some(self), gone, platform.Dead},
		"no stamp, from the future":   {fileState{kind: begun, modTime: now.Add(time.Hour)}, mo.Some(self), gone, platform.Unknown},
		"F48 and seen for not 30 s":   {fileState{kind: begun, modTime: now.Add(time.Hour), seen: stampTime - 1}, mo.Some(self), gone, platform.Unknown},
		"F48 and seen for 30 s":       {fileState{kind: begun, modTime: now.Add(time.Hour), seen: stampTime}, mo.Some(self), gone, platform.Dead},
		"F46 named, not to be judged": {fileState{kind: named, holder: Holder{Identity: platform.Identity{Host: "h", PID: 2}}}, mo.Some(self), gone, platform.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			if got := judge(c.file, now, c.self, c.lookup); got != c.want {
				t.Fatalf("%v, want %v", got, c.want)
			}
		})
	}
}

// F17, F18: what is a stamp.
func TestF18_ParseStamp(t *testing.T) {
	const good = `{"host":"h","bootId":"b","pid":2,"startTime":6,"acquiredAt":7,"nonce":"n"}`
	for content, want := range map[string]bool{
		good:          true,
		good + "\n":   true,
		" \n " + good: true,
		`{"host":"h","bootId":"b","pid":2,"startTime":6,"more":{"x":[1]},"pidNs":4026531836}`: true,
		`{"host":"h","bootId":"b","pid":2,"startTime":9007199254740991,"nonce":"n"}`:          true,
		`{"host":"h","bootId":"b","pid":2,"startTime":9007199254740993,"nonce":"n"}`:          false,
		`{"host":"h","bootId":"b","pid":2,"startTime":6,"acquiredAt":"2026-01-01","nonce":3}`: true,
		`{"host":"h","bootId":"b","pid":2.5,"startTime":6}`:                                   false,
		`{"host":"h","bootId":"b","pid":0,"startTime":6}`:                                     false,
		`{"host":"h","bootId":"b","pid":"2","startTime":6}`:                                   false,
		`{"Host":"h","bootId":"b","pid":2,"startTime":6}`:                                     false,
		`{"host":"","bootId":"b","pid":2,"startTime":6}`:                                      false,
		good + good: false,
		"":          false, "null": false, "7": false, "[]": false, "{": false, "\x00": false,
	} {
		if _, ok := parseStamp([]byte(content)); ok != want {
			t.Errorf("%.100q: %v, want %v", content, ok, want)
		}
	}
}

func TestK3_StampRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Int64Range(1, platform.MaxSafeInteger)
		text := rapid.StringN(1, 20, -1)
		want := Holder{
			Identity: platform.Identity{
				Host: text.Draw(t, "host"), BootID: text.Draw(t, "boot"),
				PID: number.Draw(t, "pid"), StartTime: number.Draw(t, "start"), PIDNs: uint64(number.Draw(t, "ns")),
			},
			AcquiredAt: number.Draw(t, "at"), Nonce: text.Draw(t, "nonce"),
		}
		data, err := want.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := parseStamp(data); !ok || got != want {
			t.Fatalf("%s", data)
		}
	})
}

func FuzzParseStamp(f *testing.F) {
	f.Add([]byte(`{"host":"h","bootId":"b","pid":2,"startTime":6,"acquiredAt":7,"nonce":"n"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, ok := parseStamp(data)
		if !ok {
			return
		}
		again, err := h.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if back, ok := parseStamp(again); !ok || back != h {
			t.Fatalf("%s", again)
		}
	})
}
