package processlock

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// White-box: a line's order and size are not visible from outside.

func newTurns() *turns { return &turns{lines: make(map[place]*line)} }

// K7: the line behaves as a slice does, whoever leaves, from wherever.
func TestK7_TurnsAreAQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type waiter struct {
			id     int
			turn   *turn
			called bool
		}
		line := newTurns()
		places := []place{{name: "a"}, {name: "b"}}
		model := map[place][]*waiter{}
		next := 0
		pick := func(t *rapid.T) (place, *waiter, int) {
			at := rapid.SampledFrom(places).Draw(t, "place")
			if len(model[at]) == 0 {
				t.Skip("empty")
			}
			i := rapid.IntRange(0, len(model[at])-1).Draw(t, "who")
			return at, model[at][i], i
		}
		t.Repeat(map[string]func(*rapid.T){
			"join": func(t *rapid.T) {
				at := rapid.SampledFrom(places).Draw(t, "place")
				wait := rapid.Bool().Draw(t, "wait")
				joined, ahead := line.join(at, SQLite, wait)
				if !wait && len(model[at]) > 0 {
					if joined != nil || !ahead.taken {
						t.Fatal("joined a line without waiting")
					}
					return
				}
				w := &waiter{id: next, turn: joined}
				next++
				model[at] = append(model[at], w)
				line.wait(joined, func() {
					if w.called {
						t.Fatal("called twice: ", w.id)
					}
					w.called = true
				})
			},
			"leave": func(t *rapid.T) {
				at, w, i := pick(t)
				line.leave(w.turn)
				line.leave(w.turn) // idempotent
				model[at] = slices.Delete(model[at], i, i+1)
			},
			"": func(t *rapid.T) {
				for _, at := range places {
					for i, w := range model[at] {
						if w.called != (i == 0) || line.has(w.turn) != (i == 0) {
							t.Fatalf("waiter %d, at %d in line: called %v", w.id, i, w.called)
						}
					}
					if (line.lines[at] == nil) != (len(model[at]) == 0) {
						t.Fatal("an empty line is kept, or one is lost")
					}
				}
			},
		})
	})
}

// K7: one who left is not called, and one who asks late is called at once.
func TestK7_WaitAfterTheTurnCame(t *testing.T) {
	line := newTurns()
	first, _ := line.join(place{}, SQLite, true)
	second, _ := line.join(place{}, SQLite, true)
	third, _ := line.join(place{}, SQLite, true)
	line.leave(first)
	calls := ""
	line.wait(second, func() { calls += "2" })
	line.leave(third)
	line.wait(third, func() { calls += "3" })
	line.leave(second)
	if calls != "2" || len(line.lines) != 0 {
		t.Fatal(calls, len(line.lines))
	}
}

// K7: leaving costs the same wherever one stands.
func BenchmarkLeave(b *testing.B) {
	for _, n := range []int{100, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			line := newTurns()
			for range n {
				line.join(place{}, SQLite, true)
			}
			b.ReportAllocs()
			for b.Loop() {
				own, _ := line.join(place{}, SQLite, true)
				behind, _ := line.join(place{}, SQLite, true)
				line.leave(own)
				line.leave(behind)
			}
		})
	}
}
