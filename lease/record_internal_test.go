package lease

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/platform"
	"github.com/samber/mo"
	"pgregory.net/rapid"
)

var someone = Holder{
	Identity: platform.Identity{Host: "h", BootID: "b", PID: 7, StartTime: 9},
	TTL:      30 * time.Second,
}

func held(generation, revision int64) Record {
	return Record{
		Key: "k", Generation: generation, Revision: revision,
		Holder: mo.Some(someone), HolderID: mo.Some("id"), RenewedAt: 5,
	}
}

func TestL1_Validate(t *testing.T) {
	const most = platform.MaxSafeInteger
	for name, c := range map[string]struct {
		change func(*Record)
		valid  bool
	}{
		"as it is":               {func(*Record) {}, true},
		"tombstone":              {func(r *Record) { r.Holder, r.HolderID = mo.None[Holder](), mo.None[string]() }, true},
		"largest":                {func(r *Record) { r.Generation, r.Revision = most, most }, true},
		"fraction of renewedAt":  {func(r *Record) { r.RenewedAt = -1.5 }, true},
		"empty key":              {func(r *Record) { r.Key = "" }, false},
		"generation 0":           {func(r *Record) { r.Generation = 0 }, false},
		"revision below":         {func(r *Record) { r.Generation, r.Revision = 3, 2 }, false},
		"generation too large":   {func(r *Record) { r.Generation, r.Revision = most+1, most+1 }, false},
		"revision too large":     {func(r *Record) { r.Revision = most + 1 }, false},
		"holder without id":      {func(r *Record) { r.HolderID = mo.None[string]() }, false},
		"id without holder":      {func(r *Record) { r.Holder = mo.None[Holder]() }, false},
		"NaN":                    {func(r *Record) { r.RenewedAt = math.NaN() }, false},
		"infinite":               {func(r *Record) { r.RenewedAt = math.Inf(1) }, false},
		"holder without host":    {func(r *Record) { h := someone; h.Host = ""; r.Holder = mo.Some(h) }, false},
		"F17 start time rounded": {func(r *Record) { h := someone; h.StartTime = most + 2; r.Holder = mo.Some(h) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := held(1, 1)
			c.change(&r)
			if err := r.Validate(); (err == nil) != c.valid {
				t.Fatalf("Validate = %v, want valid: %v", err, c.valid)
			}
		})
	}
}

// L2, L3: what transitions may and may not do, against a model that knows only
// the two numbers.
func TestL2_L3_TransitionsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stored := mo.None[Record]()
		var generation, revision int64
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			var next Record
			var err error
			switch r, ok := stored.Get(); {
			case !ok || rapid.Bool().Draw(t, "acquire"):
				next, err = acquired("k", stored, someone, rapid.StringMatching(`[a-z]{8}`).Draw(t, "id"), 1)
				generation++
			case rapid.Bool().Draw(t, "renew"):
				next, err = r.renewed(2)
				if next.Holder != r.Holder || next.HolderID != r.HolderID {
					t.Fatal("a renewal changed the holder")
				}
			default:
				next, err = r.released(3)
				if !next.IsTombstone() || next.HolderID.IsPresent() {
					t.Fatal("a release left a holder")
				}
			}
			revision++
			if err != nil || next.Generation != generation || next.Revision != revision {
				t.Fatalf("%+v, %v; want generation %d, revision %d", next, err, generation, revision)
			}
			stored = mo.Some(next)
		}
	})
}

func TestF17_NumbersEndInARefusal(t *testing.T) {
	const most = platform.MaxSafeInteger
	if _, err := acquired("k", mo.Some(held(most, most)), someone, "x", 0); err == nil {
		t.Error("the generation went beyond 2^53-1")
	}
	last := held(1, most)
	if _, err := last.renewed(0); err == nil {
		t.Error("a renewal went beyond 2^53-1")
	}
	if _, err := last.released(0); err == nil {
		t.Error("a release went beyond 2^53-1")
	}
}

func TestL5_Decide(t *testing.T) {
	const ttl = 10 * time.Second
	tombstone, _ := held(2, 5).released(0)
	silent := held(2, 5)
	silent.Holder = mo.Some(Holder{Identity: someone.Identity})
	for name, c := range map[string]struct {
		stored   mo.Option[Record]
		liveness platform.Liveness
		watched  time.Duration
		why      Takeover
		take     bool
	}{
		"no record":                    {mo.None[Record](), platform.Alive, 0, TakeoverNone, true},
		"tombstone":                    {mo.Some(tombstone), platform.Alive, 0, TakeoverNone, true},
		"dead":                         {mo.Some(silent), platform.Dead, 0, TakeoverDead, true},
		"alive":                        {mo.Some(silent), platform.Alive, ttl - 1, TakeoverNone, false},
		"alive, silent for a TTL":      {mo.Some(silent), platform.Alive, ttl, TakeoverExpired, true},
		"unknown":                      {mo.Some(silent), platform.Unknown, ttl - 1, TakeoverNone, false},
		"unknown, silent for a TTL":    {mo.Some(silent), platform.Unknown, ttl, TakeoverExpired, true},
		"silent for less than its own": {mo.Some(held(2, 5)), platform.Alive, 29 * time.Second, TakeoverNone, false},
		"silent for its own":           {mo.Some(held(2, 5)), platform.Alive, 30 * time.Second, TakeoverExpired, true},
	} {
		t.Run(name, func(t *testing.T) {
			why, take := decide(c.stored, c.liveness, c.watched, ttl)
			if why != c.why || take != c.take {
				t.Fatalf("decide = %q, %v; want %q, %v", why, take, c.why, c.take)
			}
		})
	}
}

// L5: a holder that has renewed at any time within its TTL is never taken over,
// however slow the answers are.
func TestL5_SightingNeverHurries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s sighting
		now, read, changed := time.Duration(0), held(1, 1), time.Duration(0)
		stored := read
		for range rapid.IntRange(1, 30).Draw(t, "loads") {
			asked := now
			for range rapid.IntRange(0, 3).Draw(t, "renewals") {
				now += time.Duration(rapid.IntRange(0, 9).Draw(t, "before"))
				stored.Revision++
				changed = now
			}
			read = stored
			now += time.Duration(rapid.IntRange(0, 9).Draw(t, "answer"))
			var watched time.Duration
			s, watched = s.see(read, asked, now)
			if actually := now - changed; watched > actually {
				t.Fatalf("watched for %d, and it changed %d ago", watched, actually)
			}
			now += time.Duration(rapid.IntRange(0, 9).Draw(t, "pause"))
		}
	})
}

func TestL11_Standing(t *testing.T) {
	mine := held(3, 8)
	token := mine.Token()
	tombstone, _ := mine.released(0)
	other := held(4, 9)
	same := held(3, 8)
	same.HolderID = mo.Some("another")
	for name, c := range map[string]struct {
		stored mo.Option[Record]
		reason LostReason
	}{
		"mine":                     {mo.Some(mine), ""},
		"missing":                  {mo.None[Record](), LostMissing},
		"tombstone":                {mo.Some(tombstone), LostReleased},
		"another generation":       {mo.Some(other), LostTakenOver},
		"my generation, not my id": {mo.Some(same), LostTakenOver},
	} {
		t.Run(name, func(t *testing.T) {
			s := standingOf(token, "id", c.stored)
			if s.reason != c.reason || s.record.IsPresent() != (c.reason == "") {
				t.Fatalf("%+v, want reason %q", s, c.reason)
			}
		})
	}
}

func TestR6_FileName(t *testing.T) {
	long := strings.Repeat("x", 161)
	for key, want := range map[string]string{
		"task:42":                 "task%3A42",
		"../x":                    "%2E%2E%2Fx",
		"a-b_c":                   "a-b_c",
		"!'()*.~":                 "%21%27%28%29%2A%2E%7E",
		"nul\x00":                 "nul%00",
		"é😀":                      "%C3%A9%F0%9F%98%80",
		"\xff":                    "%FF",
		strings.Repeat("x", 160):  strings.Repeat("x", 160),
		long:                      long[:64] + "~", // and the hash
		strings.Repeat("é", 2048): strings.Repeat("%C3%A9", 10) + "%C3%" + "~",
	} {
		got := fileName(key)
		if strings.HasSuffix(want, "~") {
			if !strings.HasPrefix(got, want) || len(got) != 64+1+64 {
				t.Errorf("fileName(%.20q...) = %q", key, got)
			}
		} else if got != want {
			t.Errorf("fileName(%q) = %q, want %q", key, got, want)
		}
	}
}

func TestR6_FileNamesStayApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := string(rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "a"))
		b := string(rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "b"))
		x := fileName(a)
		if len(x) > maxName || strings.ContainsAny(x, "/\\.\x00") {
			t.Fatalf("fileName(%q) = %q", a, x)
		}
		if a != b && x == fileName(b) {
			t.Fatalf("%q and %q have one name", a, b)
		}
	})
}
