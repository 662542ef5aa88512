package scope

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Timers fire in the order of their times, those of one time in the order they were
// set, whichever were taken out in between.
func TestTimers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h timers
		var want []*timer
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				at := time.Duration(rapid.IntRange(0, 8).Draw(t, "at"))
				one := &timer{at: at}
				h.number(one)
				h.add(one)
				want = append(want, one)
				slices.SortStableFunc(want, func(a, b *timer) int { return int(a.at - b.at) })
			},
			"remove": func(t *rapid.T) {
				if len(want) == 0 {
					t.Skip("empty")
				}
				i := rapid.IntRange(0, len(want)-1).Draw(t, "i")
				if !h.remove(want[i]) {
					t.Fatal("a timer that is set was not")
				}
				if h.remove(want[i]) {
					t.Fatal("a timer that was taken out still was set")
				}
				want = slices.Delete(want, i, i+1)
			},
			"fire": func(t *rapid.T) {
				if len(want) == 0 {
					t.Skip("empty")
				}
				if h.first() != want[0] {
					t.Fatal("another fires first")
				}
				h.remove(h.first())
				want = want[1:]
			},
			"": func(t *rapid.T) {
				if h.len() != len(want) {
					t.Fatalf("%d are set, want %d", h.len(), len(want))
				}
				for i, one := range h.heap {
					if one.index != i {
						t.Fatalf("a timer at %d believes to be at %d", i, one.index)
					}
				}
			},
		})
	})
}
