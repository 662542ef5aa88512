package proptest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
	"github.com/sourcegraph/conc"
	"pgregory.net/rapid"
)

// call is a call of Load or Save, for porcupine.
type call struct {
	key      string
	save     bool
	next     lease.Record
	expected mo.Option[int64]
}

// answer is what it said.
type answer struct {
	loaded mo.Option[lease.Record]
	// conflict is what a refused Save found.
	conflict mo.Option[mo.Option[int64]]
	// unknown: the Save was interrupted or failed, and may be written at any time
	// from its call on.
	unknown bool
}

// registers is the sequential specification: a register for each key that is
// compared and set.
var registers = porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := map[string][]porcupine.Operation{}
		for _, o := range history {
			key := o.Input.(call).key
			byKey[key] = append(byKey[key], o)
		}
		var parts [][]porcupine.Operation
		for _, part := range byKey {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() []any { return []any{mo.None[lease.Record]()} },
	Step: func(state, input, output any) []any {
		stored, c, a := state.(mo.Option[lease.Record]), input.(call), output.(answer)
		at := revisionOf(stored)
		found, refused := a.conflict.Get()
		switch {
		case !c.save && a.loaded == stored,
			refused && found == at && at != c.expected:
			return []any{stored}
		case !c.save || refused:
			return nil
		case a.unknown && at == c.expected:
			return []any{stored, mo.Some(c.next)}
		case a.unknown:
			return []any{stored}
		case at == c.expected:
			return []any{mo.Some(c.next)}
		default:
			return nil
		}
	},
	Equal: func(a, b any) bool { return a == b },
}

// history is what several fibers did, in the time of a counter. Any goroutine may
// use it.
type history struct {
	mu   sync.Mutex
	now  int64
	done []porcupine.Operation
	bad  error
}

func (h *history) tick() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now++
	return h.now
}

// add notes a call that began at the time called. An unknown one never returned.
func (h *history) add(client int, c call, called int64, a answer) {
	returned := h.tick()
	if a.unknown {
		returned = math.MaxInt64
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.done = append(h.done, porcupine.Operation{ClientId: client, Input: c, Call: called, Output: a, Return: returned})
}

func (h *history) broken(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.bad == nil {
		h.bad = err
	}
}

// check gives the first rule that the history breaks, or nil.
func (h *history) check() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.bad != nil {
		return h.bad
	}
	if porcupine.CheckOperationsTimeout(registers.ToModel(), h.done, 20*time.Second) == porcupine.Illegal {
		return violated("R1: Load and Save are not atomic: no order of these calls explains what they answered")
	}
	return nil
}

// String is the calls in the order of their beginnings.
func (h *history) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.SortFunc(h.done, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	var b strings.Builder
	for _, o := range h.done {
		c, a := o.Input.(call), o.Output.(answer)
		until := fmt.Sprintf("%3d", o.Return)
		if a.unknown {
			until = "  ?"
		}
		fmt.Fprintf(&b, "  client %d  %3d-%s  %s ", o.ClientId, o.Call, until, c.key)
		found, refused := a.conflict.Get()
		switch {
		case !c.save:
			fmt.Fprintf(&b, "Load: %s\n", show(a.loaded))
		case refused:
			fmt.Fprintf(&b, "Save over revision %s: conflict, stored is %s\n", showRevision(c.expected), showRevision(found))
		case a.unknown:
			fmt.Fprintf(&b, "Save over revision %s of %s: outcome unknown\n", showRevision(c.expected), show(mo.Some(c.next)))
		default:
			fmt.Fprintf(&b, "Save over revision %s of %s: written\n", showRevision(c.expected), show(mo.Some(c.next)))
		}
	}
	return b.String()
}

// load is a Load whose answer goes into h. A failed or interrupted one says
// nothing, but for its type.
func (h *history) load(client int, r lease.Repository, key string) effect.Effect[mo.Option[lease.Record]] {
	return effect.Suspend(func() effect.Effect[mo.Option[lease.Record]] {
		called := h.tick()
		return r.Load(key).
			Tap(func(got mo.Option[lease.Record]) effect.Effect[effect.Unit] {
				return effect.SyncUnit(func() { h.add(client, call{key: key}, called, answer{loaded: got}) })
			}).
			TapError(func(err error) effect.Effect[effect.Unit] { return effect.SyncUnit(func() { h.failed(key, err) }) })
	})
}

// save is a Save whose outcome goes into h, however it ends.
func (h *history) save(client int, r lease.Repository, next lease.Record, expected mo.Option[int64]) effect.Effect[effect.Unit] {
	return effect.Suspend(func() effect.Effect[effect.Unit] {
		called := h.tick()
		c := call{key: next.Key, save: true, next: next, expected: expected}
		return r.Save(next.Key, next, expected).OnExit(func(exit scope.Exit[effect.Unit]) effect.Effect[effect.Unit] {
			return effect.SyncUnit(func() {
				conflict, refused := errors.AsType[*lease.RevisionConflict](exit.Err())
				switch {
				case exit.IsSuccess():
					h.add(client, c, called, answer{})
				case refused:
					h.add(client, c, called, answer{conflict: mo.Some(conflict.StoredRevision)})
				default:
					h.add(client, c, called, answer{unknown: true})
					if err, ok := exit.Cause().Failure(); ok {
						h.failed(next.Key, err)
					}
				}
			})
		}).Ignore()
	})
}

// failed notes a failure that R2 does not know. Busy is allowed here.
func (h *history) failed(key string, err error) {
	if bad := checkFailure(key, err); bad != nil {
		h.broken(bad)
	}
}

// client loads and saves, over what it loaded last, n times.
func (h *history) client(id int, r lease.Repository, keys []string, n int, pick func(n int) int, limit func() time.Duration) effect.Effect[effect.Unit] {
	return effect.GenUnit(func(do *effect.Do) {
		for i := range n {
			key := keys[pick(len(keys))]
			before, err := do.Await(effect.Exit(h.load(id, r, key))).Get()
			if err != nil {
				continue
			}
			old := before.OrEmpty()
			next := heldRecord(key, old.Generation+1, old.Revision+1, fmt.Sprintf("%d/%d", id, i))
			if pick(4) == 0 && old.Revision > 0 {
				next = tombstone(old)
			}
			save := h.save(id, r, next, revisionOf(before))
			if d := limit(); d > 0 {
				do.Await(effect.TimeoutOption(save, d))
			} else {
				do.Await(save)
			}
		}
	})
}

// schedules lets a few fibers compare and set one key in schedules that rapid
// draws.
func (s *repositorySuite) schedules() {
	s.Helper()
	open := s.place()
	handles := []lease.Repository{s.opened(open), s.opened(open)}
	run := 0
	rapid.Check(s.TB, func(t *rapid.T) {
		clients := make([]int, rapid.IntRange(2, 3).Draw(t, "clients"))
		calls := rapid.IntRange(1, 3).Draw(t, "loads and saves of each")
		got := explore(t, func(choose scope.Chooser) *history {
			run++
			h := &history{}
			key := fmt.Sprint("schedule ", run)
			err := simulate(deterministicSchedules(choose), func(do *effect.Do) {
				do.Await(effect.ForEachDiscard(clients, func(_, i int) effect.Effect[effect.Unit] {
					return h.client(i, handles[i%2], []string{key}, calls, last, func() time.Duration { return 0 })
				}, effect.Unbounded))
				do.Await(h.load(9, handles[0], key).Ignore())
			})
			if err != nil {
				h.broken(err)
			}
			return h
		})
		if err := got.result.check(); err != nil {
			t.Logf("the calls, with when each began and ended:\n%v", got.result)
			t.Fatalf("%v", err)
		}
	})
}

// last picks the last of n things.
func last(n int) int { return n - 1 }

// goroutines does the same on the parallel runtime, with interruptions.
func (s *repositorySuite) goroutines() {
	s.Helper()
	const rounds, clients, calls = 3, 4, 12
	open := s.place()
	handles := []lease.Repository{s.opened(open), s.opened(open), s.opened(open)}
	for round := range rounds {
		h := &history{}
		keys := []string{fmt.Sprintf("round %d/a", round), fmt.Sprintf("round %d/b", round)}
		var group conc.WaitGroup // a repository that panics fails the test, with both stacks
		for id := range clients {
			random := rand.New(rand.NewPCG(uint64(round), uint64(id)))
			limit := func() time.Duration {
				if id > 0 || random.IntN(3) > 0 {
					return 0
				}
				return time.Duration(random.IntN(int(time.Millisecond)))
			}
			group.Go(func() {
				err := perform(func(do *effect.Do) {
					do.Await(h.client(id, handles[id%len(handles)], keys, calls, random.IntN, limit))
					// Whatever was interrupted, the repository works.
					mustEnd(do, "R1: a Load after interruptions", h.load(id, handles[id%len(handles)], keys[0]))
				})
				if err != nil {
					h.broken(err)
				}
			})
		}
		group.Wait()
		if err := h.check(); err != nil {
			s.Logf("the calls, with when each began and ended:\n%v", h)
			s.Fatalf("%v", err)
		}
	}
}
