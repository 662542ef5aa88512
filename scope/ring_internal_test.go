package scope

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A ring does what a slice does.
func TestRing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r ring[int]
		var want []int
		next := 0
		t.Repeat(map[string]func(*rapid.T){
			"push": func(*rapid.T) {
				next++
				r.push(next)
				want = append(want, next)
			},
			"pop": func(t *rapid.T) {
				if len(want) == 0 {
					t.Skip("empty")
				}
				if got := r.pop(); got != want[0] {
					t.Fatalf("pop gave %d, want %d", got, want[0])
				}
				want = want[1:]
			},
			"remove": func(t *rapid.T) {
				if len(want) == 0 {
					t.Skip("empty")
				}
				i := rapid.IntRange(0, len(want)-1).Draw(t, "i")
				if got := r.remove(i); got != want[i] {
					t.Fatalf("remove(%d) gave %d, want %d", i, got, want[i])
				}
				want = slices.Delete(slices.Clone(want), i, i+1)
			},
			"": func(t *rapid.T) {
				got := make([]int, r.len())
				for i := range got {
					got[i] = *r.at(i)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("holds %v, want %v", got, want)
				}
				for i := r.n; i < len(r.buf); i++ {
					if *r.at(i) != 0 {
						t.Fatalf("keeps %d, which was taken out", *r.at(i))
					}
				}
			},
		})
	})
}
