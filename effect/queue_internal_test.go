package effect

import (
	"slices"
	"testing"

	"github.com/rivus/tether/scope"
	"pgregory.net/rapid"
)

// A ring is a slice, whatever is pushed and popped, and lets go of what left.
func TestRingIsASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r ring[int]
		var model []int
		next := 1
		push := func(*rapid.T) { r.push(next); model = append(model, next); next++ }
		t.Repeat(map[string]func(*rapid.T){
			"push": push,
			"burst": func(t *rapid.T) {
				for range rapid.IntRange(0, 600).Draw(t, "n") {
					push(t)
				}
			},
			"pop": func(t *rapid.T) {
				if len(model) == 0 {
					return
				}
				if got := r.pop(); got != model[0] {
					t.Fatalf("popped %d, want %d", got, model[0])
				}
				model = model[1:]
			},
			"popN": func(t *rapid.T) {
				n := rapid.IntRange(0, len(model)).Draw(t, "n")
				if got := r.popN(n); !slices.Equal(got, model[:n]) {
					t.Fatalf("popped %v, want %v", got, model[:n])
				}
				model = model[n:]
			},
			"clear": func(*rapid.T) { r.clear(); model = nil },
			"": func(t *rapid.T) {
				if r.len() != len(model) {
					t.Fatalf("%d values, want %d", r.len(), len(model))
				}
				for i, v := range model {
					if r.at(i) != v || *r.slot(i) != v {
						t.Fatalf("value %d is %d, want %d", i, r.at(i), v)
					}
				}
				held := 0
				for _, v := range r.slots {
					if v != 0 {
						held++
					}
				}
				if held != len(model) {
					t.Fatalf("%d slots still hold something, of %d values", held, len(model))
				}
				if len(r.slots) > ringKeep && len(r.slots) > 8*len(model)+ringKeep {
					t.Fatalf("%d slots for %d values", len(r.slots), len(model))
				}
			},
		})
	})
}

// A walk meets what a JavaScript Set's iterator would: what is there or joins
// behind it, in order, and nothing that left before it got there.
func TestWalkIsASetsIterator(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const n = 8
		var l lineup[int]
		var w walk[int]
		var seats [n]seat[int]
		for i := range seats {
			seats[i].owner = i
		}
		// The model: members in order, and how many of them the iterator passed.
		var members []int
		passed := 0
		leave := func(i int) {
			at := slices.Index(members, i)
			if l.leave(&seats[i]) != (at >= 0) {
				t.Fatalf("leaving %d", i)
			}
			if at >= 0 {
				members = slices.Delete(members, at, at+1)
				if at < passed {
					passed--
				}
			}
		}
		member := rapid.IntRange(0, n-1)
		t.Repeat(map[string]func(*rapid.T){
			"join": func(t *rapid.T) {
				i := member.Draw(t, "i")
				if !seats[i].listed() {
					l.join(&seats[i])
					members = append(members, i)
				}
			},
			"leave": func(t *rapid.T) { leave(member.Draw(t, "i")) },
			"next": func(t *rapid.T) {
				p := w.next(&l)
				if passed == len(members) {
					if p != nil {
						t.Fatalf("met %d behind the last", p.owner)
					}
					return
				}
				if p == nil || p.owner != members[passed] {
					t.Fatalf("met %v, want %d", p, members[passed])
				}
				passed++
				if rapid.Bool().Draw(t, "leaves") {
					leave(p.owner)
				}
			},
			"": func(t *rapid.T) {
				if l.len() != len(members) {
					t.Fatalf("%d members, want %d", l.len(), len(members))
				}
			},
		})
		if got := l.drain(); !slices.Equal(got, members) {
			t.Fatalf("drained %v, want %v", got, members)
		}
	})
}

// A queue's state wakes nobody for a message that another was woken for, and
// somebody else when that one gives up.
func TestQueueStateClaims(t *testing.T) {
	one, two, batch := &taker{min: 1}, &taker{min: 1}, &taker{min: 3}
	s := queueState[string]{capacity: 4}
	for _, w := range []*taker{batch, one, two} {
		w.owner = w
		s.takers.join(&w.seat)
	}
	next := func() *taker { var w walk[*taker]; return s.nextTaker(&w) }
	if s.admit("a") != admitted || next() != one || next() != nil {
		t.Fatal("one message wakes one taker, past one that wants three")
	}
	if !s.back(one, true) || next() != two || next() != nil {
		t.Fatal("a taker that gives up passes its turn on")
	}
	if s.back(two, false) || s.messages.pop() != "a" || s.reserved != 0 {
		t.Fatal("a taker that comes back has its message")
	}
	s.admitAll([]string{"b", "c"})
	if next() != nil {
		t.Fatal("two messages are not three")
	}
	s.close(scope.CauseFail(&scope.Done{}))
	if next() != batch {
		t.Fatal("what is left of a closing queue is enough")
	}
}

func TestQueueStateAdmits(t *testing.T) {
	fill := func(strategy queueStrategy, capacity int, n int) []acceptance {
		s := queueState[int]{strategy: strategy, capacity: capacity}
		var out []acceptance
		for i := range n {
			out = append(out, s.admit(i))
		}
		return out
	}
	for _, c := range []struct {
		name     string
		strategy queueStrategy
		capacity int
		want     []acceptance
	}{
		{"bounded", queueWaits, 2, []acceptance{admitted, admitted, refused}},
		{"rendezvous", queueWaits, 0, []acceptance{refused}},
		{"dropping", queueDrops, 1, []acceptance{admitted, refused}},
		{"sliding", queueSlides, 1, []acceptance{admitted, replaced, replaced}},
		{"unbounded", queueWaits, unlimited, []acceptance{admitted, admitted, admitted}},
	} {
		if got := fill(c.strategy, c.capacity, len(c.want)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A message that was handed to a fiber which is interrupted at that moment goes
// back to its place before those published later, and to whoever waits.
func TestSubscriptionGivesBackInOrder(t *testing.T) {
	p := &PubSub[int]{log: pubsubLog[int]{capacity: unlimited}}
	s := &Subscription[int]{hub: p}
	s.owner = s
	s.reader = p.log.subscribe()
	for v := range 4 {
		p.log.publish(v)
	}
	var given []*poller[int]
	for range 3 {
		w := &poller[int]{given: true}
		w.value, w.number = s.read()
		given = append(given, w)
	}
	for _, i := range []int{1, 2, 0} {
		p.mu.Lock()
		s.giveBack(given[i])
		p.mu.Unlock()
	}
	if got := s.readUpTo(unlimited); !slices.Equal(got, []int{0, 1, 2, 3}) {
		t.Fatalf("read %v", got)
	}
}
