package lanes_test

import (
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

var silent = slog.New(slog.NewTextHandler(io.Discard, nil))

// schedules is how many schedules a test explores: TETHER_SCHEDULES, if that is
// set.
func schedules(t *testing.T, usual int) int {
	if raced {
		usual /= 10
	}
	text := os.Getenv("TETHER_SCHEDULES")
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("TETHER_SCHEDULES: %v", err)
	}
	return n
}

// TestN1_N3_N4_N6_N10_Explored runs random programs in random schedules.
func TestN1_N3_N4_N6_N10_Explored(t *testing.T) {
	for seed := range uint64(schedules(t, 2000)) {
		o := exploring(seed)
		if seed%8 == 0 {
			o = effect.DeterministicConfig{}
		}
		l := newLedger(seed, seed%4 != 3)
		if problem := l.play(o, seed%3 != 0); problem != "" {
			t.Fatalf("seed %d: %s", seed, problem)
		}
	}
}

// play gives what went wrong, or nothing.
func (l *ledger) play(o effect.DeterministicConfig, settle bool) string {
	d := scope.NewDeterministic(o)
	out := effect.RunDeterministicOn(d, l.program(3, settle))
	exit, ended := out.Exit.Get()
	switch {
	case !ended || len(out.Stuck) > 0:
		l.violate("it is stuck\n%s", out.Report)
	case exit.IsFailure() && !exit.Cause().HasInterruptsOnly():
		l.violate("it ended with %v", exit)
	}
	if n := d.Clock().(*scope.VirtualClock).Timers(); n > 0 {
		l.violate("N7: %d timers are left", n)
	}
	return strings.Join(l.violations, "\n")
}
