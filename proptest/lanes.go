package proptest

import (
	"strings"
	"time"

	"github.com/rivus/tether/scope"
	"pgregory.net/rapid"
)

// Lanes plays wakes, cancels, completions, failures, timeouts and a close of one
// lanes.Lanes, from several fibers, in schedules that rapid draws, against a
// reference model of a dozen lines: a list of what runs, and a queue.
//
// It holds that
//   - what Wake answers, and what Status shows, is the model's at every event:
//     caps, first come first served, and no free slot while a lane waits;
//   - every accepted wake is served by an activation that begins after it, or was
//     dropped by a cancel or the close: none is lost;
//   - an activation runs when its lane has a slot, one at a time, its finalizers
//     over before the slot is free;
//   - OnExit hears of each activation once, with what really happened to it;
//   - a turn that takes too long is interrupted at its time;
//   - nothing runs after Close, nor after Drain, which interrupts and drops nothing
//     before its time is over; and all calls return.
func Lanes(t TB) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		play := lanesPlay{
			limit:   rapid.IntRange(1, 3).Draw(t, "MaxConcurrent"),
			queue:   rapid.IntRange(-1, 3).Draw(t, "MaxQueued (-1: none)"),
			timeout: time.Duration(rapid.IntRange(0, 4).Draw(t, "TurnTimeout in ms")) * time.Millisecond,
			callers: rapid.SliceOfN(many(rapid.Custom(drawLanesAction)), 1, 3).Draw(t, "what each caller does"),
		}
		got := explore(t, func(choose scope.Chooser) *lanesPlay {
			p := play
			p.run(choose)
			return &p
		})
		if bad := got.result.violations; len(bad) > 0 {
			t.Logf("what happened:\n%s", strings.Join(got.result.log, "\n"))
			t.Fatalf("%s", bad[0])
		}
	})
}

// lanesAction is one thing that a caller does.
type lanesAction struct {
	kind string
	key  string
}

var lanesKinds = []string{"wake", "wake", "wake", "wake", "pause", "cancel", "pause", "close", "drain", "drain within"}

func drawLanesAction(t *rapid.T) lanesAction {
	kind := rapid.SampledFrom(lanesKinds).Draw(t, "kind")
	key := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "key")
	ends := kind == "close" || kind == "drain" || kind == "drain within"
	if ends && rapid.IntRange(0, 5).Draw(t, "ends on 5") < 5 {
		kind = "wake"
	}
	return lanesAction{kind, key}
}

// GoString is for rapid's report.
func (a lanesAction) GoString() string {
	if a.kind == "wake" || a.kind == "cancel" {
		return a.kind + " " + a.key
	}
	return a.kind
}
