package lease_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// step is one operation of a history: what was asked for and what came of it.
type step struct {
	do string // load, save, acquire, renew, release

	expected, stored mo.Option[int64] // of a save, and what its conflict named
	record           lease.Record     // what was read, written, or is held as far as it is known
	conflict, held   bool
	// unknown: whether it was written is not known, nor when.
	unknown bool
}

// sequential is what one key does when one operation comes after the other. Its
// state is the record.
var sequential = porcupine.Model{
	Init: func() any { return lease.Record{} },
	Step: func(state, input, _ any) (bool, any) {
		r, s := state.(lease.Record), input.(step)
		revision := mo.None[int64]()
		if r.Key != "" {
			revision = mo.Some(r.Revision)
		}
		switch s.do {
		case "load":
			return s.record == r, r
		case "save":
			if s.conflict {
				return s.stored == revision && s.expected != revision, r
			}
			if s.expected != revision {
				return s.unknown, r
			}
			return true, s.record
		case "acquire":
			if s.held {
				return !r.IsTombstone() && r.Generation == s.record.Generation && r.HolderID == s.record.HolderID, r
			}
			next := s.record
			next.Revision = r.Revision + 1
			return r.IsTombstone() && next.Generation == r.Generation+1, next
		case "renew":
			next := r
			next.Revision++
			fits := !r.IsTombstone() && r.Generation == s.record.Generation && next.Revision == s.record.Revision
			if !fits {
				next = r
			}
			return fits || s.unknown, next
		case "release":
			if r.IsTombstone() || r.Generation != s.record.Generation {
				return s.unknown, r
			}
			return true, lease.Record{Key: key, Generation: r.Generation, Revision: r.Revision + 1}
		}
		return s.do == "nothing", r
	},
	DescribeOperation: func(input, _ any) string { return fmt.Sprintf("%+v", input) },
}

// history is taken from goroutines that know nothing of each other.
type history struct {
	start time.Time
	mu    sync.Mutex
	ops   []porcupine.Operation
}

func (h *history) now() int64 { return int64(time.Since(h.start)) }

func (h *history) add(client int, call int64, s step) (index int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	op := porcupine.Operation{ClientId: client, Call: call, Return: h.now(), Input: s}
	if s.unknown {
		op.Return = math.MaxInt64
	}
	h.ops = append(h.ops, op)
	return len(h.ops) - 1
}

// end says what became of an operation that was unknown.
func (h *history) end(index int, s step) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops[index].Return, h.ops[index].Input = h.now(), s
}

// renewals writes the renewals of one client into a history.
type renewals struct {
	lease.Repository
	h      *history
	client int
	id     mo.Option[string] // of the record that was written last
}

func (r *renewals) Save(key string, next lease.Record, expected mo.Option[int64]) effect.Effect[unit] {
	return effect.Suspend(func() effect.Effect[unit] {
		save := r.Repository.Save(key, next, expected)
		if renews := next.HolderID.IsPresent() && next.HolderID == r.id; !renews {
			// An acquisition may write more than once.
			return save.Tap(func(unit) effect.Effect[unit] { return effect.SyncUnit(func() { r.id = next.HolderID }) })
		}
		// Unknown until it ends: it may outlive the test's own part.
		renewal := step{do: "renew", record: next, unknown: true}
		index := r.h.add(r.client, r.h.now(), renewal)
		return save.OnExit(func(e scope.Exit[unit]) effect.Effect[unit] {
			return effect.SyncUnit(func() {
				if _, conflict := errors.AsType[*lease.RevisionConflict](e.Err()); conflict {
					renewal = step{do: "nothing"}
				}
				// A release interrupts a renewal that is under way.
				if e.IsSuccess() || renewal.do == "nothing" {
					renewal.unknown = false
					r.h.end(index, renewal)
				}
			})
		})
	})
}

func (h *history) check(t *testing.T) {
	t.Helper()
	h.mu.Lock()
	ops := slices.Clone(h.ops)
	h.mu.Unlock()
	counts := map[string]int{}
	for _, op := range ops {
		s := op.Input.(step)
		counts[fmt.Sprintf("%s %v", s.do, !s.conflict && !s.held && !s.unknown)]++
	}
	t.Logf("%d operations: %v", len(ops), counts)
	result, info := porcupine.CheckOperationsVerbose(sequential, ops, time.Minute)
	if result == porcupine.Ok {
		return
	}
	path := t.ArtifactDir() + "/history.html"
	_ = porcupine.VisualizePath(sequential, info, path)
	t.Fatalf("the history is %v; see %s (go test -artifacts)", result, path)
}

// R1: loads and saves from real goroutines, through repositories that share only the
// place, are those of one register with compare-and-set.
func TestR1_Linearizable(t *testing.T) {
	onEach(t, func(t *testing.T, open func() lease.Repository) {
		const clients, repeat = 4, 25
		h := &history{start: time.Now()}
		var wg sync.WaitGroup
		for client := range clients {
			r := open()
			wg.Go(func() {
				perform(t, func(do *effect.Do) {
					for n := range repeat {
						call := h.now()
						found, err := do.Await(effect.Result(r.Load(key))).Get()
						if err != nil { // it was busy while it was opened, on a machine that is
							expect(t, "reason", as[*lease.RepositoryFailure](err).Reason, lease.RepositoryBusy)
							continue
						}
						seen := found.OrEmpty()
						h.add(client, call, step{do: "load", record: seen})
						expected, next := mo.None[int64](), record(1, seen.Revision+1, holderOf(9), fmt.Sprint(client, "/", n))
						if seen.Key != "" {
							expected = mo.Some(seen.Revision)
						}
						if rand.IntN(4) == 0 { // blindly
							expected = mo.Some(rand.Int64N(20))
							next.Revision = expected.MustGet() + 1
						}
						call = h.now()
						err = failure(do, r.Save(key, next, expected))
						s := step{do: "save", expected: expected, record: next}
						if conflict, ok := errors.AsType[*lease.RevisionConflict](err); ok {
							s.conflict, s.stored = true, conflict.StoredRevision
						} else if err != nil { // busy, on a machine that is
							as[*lease.RepositoryFailure](err)
							s.unknown = true
						}
						h.add(client, call, s)
					}
				})
			})
		}
		wg.Wait()
		h.check(t)
	})
}

// L2, L5, L7, L10, L11: acquisitions, renewals and releases of managers on real
// goroutines, with reads among them, are those of one lease after the other.
func TestL5_Linearizable(t *testing.T) {
	onEach(t, func(t *testing.T, open func() lease.Repository) {
		// The beat is as long as a release may take, on a busy machine, too.
		const clients, repeat, beat = 4, 12, 250 * time.Millisecond
		h := &history{start: time.Now()}
		ids := make(chan string, clients*repeat*100)
		for i := range cap(ids) {
			ids <- fmt.Sprint(i)
		}
		var wg sync.WaitGroup
		for client := range clients {
			r := &renewals{Repository: open(), h: h, client: client}
			released, gaveUp := false, false
			observe := func(e lease.Event) {
				switch e := e.(type) {
				case lease.Released:
					released = true
				case lease.ReleaseAbandoned:
					gaveUp = true
				case lease.WasLost:
					t.Errorf("%v", e.Lost)
				}
			}
			wg.Go(func() {
				perform(t, func(do *effect.Do) {
					var id string
					m := do.Await(lease.NewManager(lease.Config{TTL: time.Hour, Heartbeat: beat, Observer: observe}).
						ProvideService(lease.HolderIDs, func() string { id = <-ids; return id }).
						Provide(lease.RepositoryService.Of(r), platformOf(newWorld(nil))))
					for range repeat {
						s := scope.New(scope.Sequential)
						call := h.now()
						exit := do.Await(effect.Exit(m.Acquire(key).ProvideScope(s)))
						if held, ok := errors.AsType[*lease.Held](exit.Err()); ok {
							h.add(client, call, step{do: "acquire", held: true, record: lease.Record{Generation: held.Generation, HolderID: mo.Some(held.HolderID)}})
							do.Await(effect.Sleep(time.Duration(rand.IntN(int(beat / 8)))))
							call = h.now()
							seen := do.Await(m.Read(key)).OrEmpty()
							seen.Holder, seen.RenewedAt = known(seen), 0
							h.add(client, call, step{do: "load", record: seen})
							continue
						}
						if f, ok := errors.AsType[*lease.RepositoryFailure](exit.Err()); ok && f.Reason == lease.RepositoryBusy {
							continue // read back: it has written nothing
						}
						l, ok := exit.Value()
						if !ok {
							t.Errorf("acquire: %v", exit)
							return
						}
						mine := record(l.Token().Generation, 0, holderOf(1), id)
						h.add(client, call, step{do: "acquire", record: mine})
						if rand.IntN(3) == 0 {
							do.Await(effect.Sleep(time.Duration(rand.IntN(int(2 * beat)))))
						}
						released = false
						call = h.now()
						do.Await(effect.CloseScope(s, scope.ExitSucceed(0)))
						// On a machine this busy it may have given up.
						h.add(client, call, step{do: "release", record: mine, unknown: gaveUp || !released})
						if gaveUp || !released {
							return
						}
					}
				})
			})
		}
		wg.Wait()
		h.check(t)
	})
}

// known is a holder as histories know it.
func known(r lease.Record) mo.Option[lease.Holder] {
	if r.IsTombstone() {
		return mo.None[lease.Holder]()
	}
	return mo.Some(holderOf(1))
}
