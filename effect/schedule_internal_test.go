package effect

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The pure parts of schedules, one transition at a time.

func TestFixedRate(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name     string
		interval time.Duration
		// elapsed are the times of the steps, delays what they answer.
		elapsed, delays []time.Duration
	}{
		{"on time", 10 * ms, []time.Duration{0, 10 * ms, 20 * ms}, []time.Duration{10 * ms, 10 * ms, 10 * ms}},
		{"late by less than an interval", 10 * ms, []time.Duration{0, 13 * ms, 20 * ms}, []time.Duration{10 * ms, 7 * ms, 10 * ms}},
		{"late by an interval", 10 * ms, []time.Duration{0, 20 * ms, 30 * ms}, []time.Duration{10 * ms, 10 * ms, 10 * ms}},
		{"behind runs once at once", 10 * ms, []time.Duration{0, 35 * ms, 36 * ms, 40 * ms}, []time.Duration{10 * ms, 0, 4 * ms, 10 * ms}},
		{"behind again", 10 * ms, []time.Duration{0, 35 * ms, 60 * ms}, []time.Duration{10 * ms, 0, 0}},
		{"no interval", 0, []time.Duration{0, 5 * ms}, []time.Duration{0, 0}},
		{"negative interval", -ms, []time.Duration{0, 5 * ms}, []time.Duration{0, 0}},
	} {
		r := fixedRate{interval: c.interval}
		var got []time.Duration
		for _, elapsed := range c.elapsed {
			var delay time.Duration
			r, delay = r.next(elapsed)
			got = append(got, delay)
		}
		if !slices.Equal(got, c.delays) {
			t.Errorf("%s: %v, want %v", c.name, got, c.delays)
		}
	}
}

// Whatever the steps' times, a fixed rate ends on a multiple of the interval or
// at once, and never waits longer than one interval.
func TestFixedRateBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		interval := time.Duration(rapid.IntRange(1, 1000).Draw(t, "interval"))
		r, elapsed := fixedRate{interval: interval}, time.Duration(0)
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			due := r.due
			var delay time.Duration
			r, delay = r.next(elapsed)
			switch {
			case delay == 0 && elapsed <= due+interval:
				t.Fatalf("at %d, due %d: at once without being behind", elapsed, due)
			case delay != 0 && (elapsed+delay)%interval != 0, delay < 0, delay > interval:
				t.Fatalf("at %d: delay %d with interval %d", elapsed, delay, interval)
			}
			elapsed += delay + time.Duration(rapid.IntRange(0, 3000).Draw(t, "late"))
		}
	})
}

func TestScheduleCount(t *testing.T) {
	start := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	var c scheduleCount
	// The wall clock goes back between the steps; what is reckoned does not.
	for i, want := range []ScheduleInput{
		{Input: "a", Attempt: 1, Start: start, Now: start},
		{Input: "b", Attempt: 2, Start: start, Now: start.Add(-time.Hour), Elapsed: 5, SincePrevious: 5},
		{Input: "c", Attempt: 3, Start: start, Now: start, Elapsed: 12, SincePrevious: 7},
	} {
		var got ScheduleInput
		c, got = c.next(ScheduleTick{Now: want.Now, Monotonic: 100 + want.Elapsed, Input: want.Input})
		if got != want {
			t.Errorf("step %d: %+v, want %+v", i+1, got, want)
		}
	}
}

func TestCombined(t *testing.T) {
	var all combined
	for _, d := range []struct {
		delay time.Duration
		done  bool
	}{{5, false}, {1, true}, {9, false}, {3, false}} {
		all = all.and(d.delay, d.done)
	}
	if want := (combined{of: 4, recurring: 3, shortest: 3, longest: 9}); all != want {
		t.Errorf("%+v, want %+v", all, want)
	}
}

func TestDurationsSaturate(t *testing.T) {
	for _, c := range []struct{ got, want time.Duration }{
		{nanoseconds(math.Inf(1)), endless},
		{nanoseconds(math.Inf(-1)), math.MinInt64},
		{nanoseconds(math.NaN()), 0},
		{nanoseconds(1.5), 2},
		{nanoseconds(1 << 63), endless},
		{addDurations(endless, 1), endless},
		{addDurations(endless-1, 1), endless},
		{addDurations(endless, -1), endless - 1},
		{addDurations(-3, 5), 2},
		{jitter(endless, 0), endless},
		{jitter(1000, 0), 800},
		{jitter(1000, 0.5), 1000},
		{untilWindow(10, 0), 10},
		{untilWindow(10, 3), 7},
		{untilWindow(0, 3), 0},
	} {
		if c.got != c.want {
			t.Errorf("got %d, want %d", c.got, c.want)
		}
	}
}

func TestJitterBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delay := time.Duration(rapid.Int64Range(0, 1<<50).Draw(t, "delay"))
		got := jitter(delay, rapid.Float64Range(0, math.Nextafter(1, 0)).Draw(t, "draw"))
		if low, high := float64(delay)*0.8-1, float64(delay)*1.2+1; float64(got) < low || float64(got) > high {
			t.Fatalf("%d became %d", delay, got)
		}
	})
}
