package list_test

import (
	"slices"
	"testing"

	"github.com/rivus/tether/internal/list"
	"pgregory.net/rapid"
)

// The list behaves as a slice does, whatever is pushed, removed and shifted.
func TestListIsASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l list.List[int]
		var model []*list.Node[int]
		next := 0
		t.Repeat(map[string]func(*rapid.T){
			"push": func(*rapid.T) {
				n := &list.Node[int]{Value: next}
				next++
				l.Push(n)
				model = append(model, n)
			},
			"push to the front": func(*rapid.T) {
				n := &list.Node[int]{Value: next}
				next++
				l.PushFront(n)
				model = slices.Insert(model, 0, n)
			},
			"remove": func(t *rapid.T) {
				if len(model) == 0 {
					return
				}
				i := rapid.IntRange(0, len(model)-1).Draw(t, "i")
				n := model[i]
				model = slices.Delete(model, i, i+1)
				if !l.Remove(n) || n.Listed() || l.Remove(n) {
					t.Fatal("a listed node must leave exactly once")
				}
			},
			"shift": func(*rapid.T) {
				n := l.Shift()
				if len(model) == 0 {
					if n != nil {
						t.Fatal("shifted from an empty list")
					}
					return
				}
				if n != model[0] {
					t.Fatal("shifted another node than the first")
				}
				model = model[1:]
			},
			"drain": func(t *rapid.T) {
				i := 0
				for n := l.Drain(); n != nil; n = n.Next() {
					if n != model[i] || n.Listed() || l.Remove(n) {
						t.Fatal("a drained node must come in order and be in no list")
					}
					i++
				}
				if i != len(model) {
					t.Fatalf("drained %d of %d", i, len(model))
				}
				model = nil
			},
			"": func(t *rapid.T) {
				want := make([]int, 0, len(model))
				for _, n := range model {
					want = append(want, n.Value)
				}
				if got := l.Values(); !slices.Equal(got, want) || l.Len() != len(want) {
					t.Fatalf("got %v, want %v", got, want)
				}
			},
		})
	})
}
