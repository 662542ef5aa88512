package effect_test

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"pgregory.net/rapid"
)

// readRecorded reads data that a script in testdata/record made on effect@4.1.0.
// TETHER_RECORDED_CRON and TETHER_RECORDED_SCHEDULES name other files.
func readRecorded(t *testing.T, name, variable string, to any) {
	t.Helper()
	path := "testdata/" + name + ".json.gz"
	if other := os.Getenv(variable); other != "" {
		text, err := os.ReadFile(other)
		if err == nil {
			err = json.Unmarshal(text, to)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := gzip.NewReader(file)
	if err == nil {
		err = json.NewDecoder(r).Decode(to)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// cronAt is a moment with what Next, Prev and Match make of it.
type cronAt struct {
	now, next, prev  int64
	hasNext, hasPrev bool
	match            bool
}

func (a *cronAt) UnmarshalJSON(text []byte) error {
	var next, prev *int64
	if err := json.Unmarshal(text, &[]any{&a.now, &next, &prev, &a.match}); err != nil {
		return err
	}
	if a.hasNext = next != nil; a.hasNext {
		a.next = *next
	}
	if a.hasPrev = prev != nil; a.hasPrev {
		a.prev = *prev
	}
	return nil
}

func TestCronIsEffects(t *testing.T) {
	var cases []struct {
		Cron, Zone, Overlap string
		OK                  bool
		Format, Short       string
		At                  []cronAt
	}
	readRecorded(t, "cron", "TETHER_RECORDED_CRON", &cases)
	overlaps := map[string]effect.CronOverlap{"earlier": effect.CronEarlier, "later": effect.CronLater, "both": effect.CronBoth}
	differences := 0
	for _, want := range cases {
		c, err := effect.ParseCron(want.Cron, effect.CronInZone(want.Zone), effect.CronOnOverlap(overlaps[want.Overlap]))
		if (err == nil) != want.OK {
			t.Errorf("ParseCron(%q, %q) = %v, want ok %v", want.Cron, want.Zone, err, want.OK)
			continue
		}
		if err != nil {
			if errors.TagOf(err) != "CronParseError" {
				t.Errorf("ParseCron(%q, %q) failed with %T", want.Cron, want.Zone, err)
			}
			continue
		}
		if got := c.Format(true); got != want.Format || c.String() != want.Short {
			t.Errorf("%q is %q, %q, want %q, %q", want.Cron, got, c, want.Format, want.Short)
		}
		for _, at := range want.At {
			now := time.UnixMilli(at.now)
			next, hasNext := c.Next(now)
			prev, hasPrev := c.Prev(now)
			// TypeScript gives up after 10,000 steps; this search does not.
			wrong := at.hasNext && (!hasNext || next.UnixMilli() != at.next) ||
				at.hasPrev && (!hasPrev || prev.UnixMilli() != at.prev) ||
				c.Match(now) != at.match
			if wrong {
				if differences++; differences <= 10 {
					t.Errorf("%q %s %s at %s:\n next %v want %v\n prev %v want %v\n match %v want %v", want.Cron, want.Zone, want.Overlap,
						now.UTC(), next.UTC(), time.UnixMilli(at.next).UTC(), prev.UTC(), time.UnixMilli(at.prev).UTC(), c.Match(now), at.match)
				}
			}
		}
	}
	t.Logf("%d expressions, %d differences", len(cases), differences)
}

func TestCronNeverDue(t *testing.T) {
	now := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, expression := range []string{"0 0 30 2 *", "0 0 31 4,6 *"} {
		c := effect.MustParseCron(expression)
		if next, ok := c.Next(now); ok {
			t.Errorf("%q is due at %v", expression, next)
		}
		if prev, ok := c.Prev(now); ok {
			t.Errorf("%q was due at %v", expression, prev)
		}
		for next := range c.All(now) {
			t.Errorf("%q is due at %v", expression, next)
		}
	}
	// 29 February on a Sunday: the gap over 2100 is 40 years.
	c := effect.MustParseCron("0 0 29 2 */7")
	var years []int
	for next := range c.All(time.Date(2070, 1, 1, 0, 0, 0, 0, time.UTC)) {
		years = append(years, next.Year())
		if len(years) == 2 {
			break
		}
	}
	if !slices.Equal(years, []int{2088, 2128}) {
		t.Errorf("29 February is a Sunday in %v", years)
	}
}

// Without a zone the times' own counts.
func TestCronUsesTheZoneOfTheTime(t *testing.T) {
	c := effect.MustParseCron("0 12 * * *")
	for _, zone := range []*time.Location{time.UTC, time.FixedZone("east", 5*3600)} {
		next, _ := c.Next(time.Date(2025, 6, 1, 13, 0, 0, 0, zone))
		if want := time.Date(2025, 6, 2, 12, 0, 0, 0, zone); !next.Equal(want) || next.Location() != zone {
			t.Errorf("next is %v, want %v", next, want)
		}
	}
}

func TestCronFields(t *testing.T) {
	fields := effect.CronFields{Minutes: []int{30, 0}, Hours: []int{9}, Weekdays: []int{7, 1}, Days: []int{13}, And: true}
	c, err := effect.NewCron(fields)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Format(true); got != "0 0,30 9 13 * 0,1" {
		t.Errorf("got %q", got)
	}
	again, err := effect.NewCron(c.Fields(), effect.CronIn(c.Location()))
	if err != nil || !again.Equal(c) {
		t.Errorf("the fields give %v, %v", again, err)
	}
	if c.Match(time.Date(2025, 6, 13, 9, 0, 0, 0, time.UTC)) || !c.Match(time.Date(2025, 7, 13, 9, 30, 0, 0, time.UTC)) {
		t.Error("13 June 2025 is a Friday, 13 July a Sunday")
	}
	every, err := effect.NewCron(effect.CronFields{Seconds: []int{}})
	if err != nil || every.Format(true) != "* * * * * *" || !every.Equal(effect.Cron{}) {
		t.Errorf("got %q, %v", every.Format(true), err)
	}
	for _, bad := range []effect.CronFields{{Minutes: []int{60}}, {Days: []int{0}}, {Weekdays: []int{8}}, {Seconds: []int{-1}}} {
		if _, err := effect.NewCron(bad); errors.TagOf(err) != "CronParseError" {
			t.Errorf("%v gives %v", bad, err)
		}
	}
	if a, b := effect.MustParseCron("* * * * *", effect.CronInZone("UTC")), effect.MustParseCron("* * * * *", effect.CronInZone("+01:00")); a.Equal(b) {
		t.Error("the zone does not count")
	}
}

func TestCronParseErrorJSON(t *testing.T) {
	_, err := effect.ParseCron("61 * * * *")
	text, _ := json.Marshal(err)
	if want := `{"_tag":"CronParseError","message":"a value must be from 0 to 59","input":"61"}`; string(text) != want {
		t.Errorf("got %s, want %s", text, want)
	}
}

// Next and Prev look past everything that is not due, and nothing else: found
// times match, and no second in between does. In a zone without changes.
func TestCronNeighbours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		field := func(name string, low, high int) string {
			if rapid.Bool().Draw(t, name+" free") {
				return "*"
			}
			a := rapid.IntRange(low, high).Draw(t, name)
			return strconv.Itoa(a)
		}
		expression := strings.Join([]string{field("s", 0, 59), field("m", 0, 59), "*", "*", "*", "*"}, " ")
		c := effect.MustParseCron(expression, effect.CronInZone("UTC"))
		now := time.Unix(rapid.Int64Range(-4e9, 4e9).Draw(t, "now"), 0).UTC()
		next, ok := c.Next(now)
		prev, before := c.Prev(now)
		if !ok || !before || !next.After(now) || !prev.Before(now) || !c.Match(next) || !c.Match(prev) {
			t.Fatalf("%q at %v: next %v, prev %v", expression, now, next, prev)
		}
		for at := prev.Add(time.Second); at.Before(next); at = at.Add(time.Second) {
			if !at.Equal(now) && c.Match(at) {
				t.Fatalf("%q is due at %v, between %v and %v", expression, at, prev, next)
			}
		}
	})
}

// What parses has a form that parses to the same times; nothing panics.
func FuzzParseCron(f *testing.F) {
	for _, seed := range []string{
		"* * * * *", "*/5 0 1-15/2,20 jan-MAR mon,7", "0 0 4 29 2 */7", "60 * * * *", "5/3/2 * * * *",
		"*,1 * * * *", "1,* * * * *", "\t* * * *  * ", "99999999999999999999 * * * *", "0 0 31 4 *", "- / , * * ?",
	} {
		f.Add(seed)
	}
	now := time.Date(2024, 10, 27, 0, 30, 0, 1, time.UTC)
	f.Fuzz(func(t *testing.T, expression string) {
		c, err := effect.ParseCron(expression, effect.CronInZone("Europe/Berlin"), effect.CronOnOverlap(effect.CronBoth))
		if err != nil {
			if errors.TagOf(err) != "CronParseError" {
				t.Fatalf("%q fails with %T", expression, err)
			}
			return
		}
		again, err := effect.ParseCron(c.Format(true), effect.CronIn(c.Location()), effect.CronOnOverlap(effect.CronBoth))
		if err != nil {
			t.Fatalf("%q is written as %q: %v", expression, c.Format(true), err)
		}
		before, after := c.Fields(), again.Fields()
		before.And, after.And = false, false
		if x, y := before, after; !slices.Equal(x.Seconds, y.Seconds) || !slices.Equal(x.Minutes, y.Minutes) || !slices.Equal(x.Hours, y.Hours) ||
			!slices.Equal(x.Days, y.Days) || !slices.Equal(x.Months, y.Months) || !slices.Equal(x.Weekdays, y.Weekdays) {
			t.Fatalf("%q: %v, again %v", expression, x, y)
		}
		if next, ok := c.Next(now); ok && (!next.After(now) || next.Nanosecond() != 0) {
			t.Fatalf("%q: next of %v is %v", expression, now, next)
		}
		if prev, ok := c.Prev(now); ok && !prev.Before(now) {
			t.Fatalf("%q: prev of %v is %v", expression, now, prev)
		}
	})
}
