package lease_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// batching is a memory repository with SaveAll, whose calls go as planned.
type batching struct {
	*scripted
	mu      sync.Mutex
	batches int
	sizes   []int
	carrier string           // whose heartbeat made the last one
	onBatch func(n int) plan // n from 1
	saved   func(lease.Record)
}

func newBatching() *batching { return &batching{scripted: newScripted()} }

func (b *batching) SaveAll(writes []lease.Write) effect.Effect[[]error] {
	return effect.Suspend(func() effect.Effect[[]error] {
		b.mu.Lock()
		b.sizes = append(b.sizes, len(writes))
		b.carrier = writes[0].Next.Key
		b.mu.Unlock()
		save := b.Repository.(lease.BatchSaver).SaveAll(writes).Map(func(errs []error) []error {
			for i, w := range writes {
				if errs[i] == nil && b.saved != nil {
					b.saved(w.Next)
				}
			}
			return errs
		})
		return follow(b.scripted.next(&b.batches, b.onBatch), save)
	})
}

func keyOf(i int) string { return fmt.Sprint(key, "/", i) }

// acquireMany takes n leases in one moment.
func acquireMany(do *effect.Do, m *lease.Manager, n int) (leases []*lease.Lease) {
	for i := range n {
		leases = append(leases, do.Await(m.Acquire(keyOf(i))))
	}
	return leases
}

// L10: leases that are due together are renewed in one write, each of them within a
// Heartbeat and no sooner than jitter makes it.
func TestL10_RenewedTogether(t *testing.T) {
	const n = 200
	r := newBatching()
	w := newWorld(r)
	at := map[string]time.Duration{}
	simulate(t, func(do *effect.Do) {
		clock := do.Await(effect.WithFiber(func(f *scope.Fiber) effect.Effect[scope.Clock] { return effect.Succeed(f.Clock()) }))
		renewed := func(next lease.Record) {
			now := clock.Monotonic()
			if d := now - at[next.Key]; at[next.Key] > 0 && (d > heartbeat || d < heartbeat*9/10) {
				t.Errorf("%s was renewed after %v", next.Key, d)
			}
			at[next.Key] = now
		}
		r.saved, r.onSaved = renewed, renewed
		m := w.manager()
		s := scope.New(scope.Sequential)
		for i := range n {
			do.Await(m.Acquire(keyOf(i)).ProvideScope(s))
			do.Await(effect.Sleep(heartbeat / n))
		}
		do.Await(effect.Sleep(5 * ttl))
		before := r.saves + r.batches
		do.Await(effect.Sleep(10 * ttl))
		perBeat := float64(r.saves+r.batches-before) / 40
		t.Logf("%.1f writes a heartbeat for %d leases", perBeat, n)
		if perBeat > 40 {
			t.Errorf("%.1f writes a heartbeat", perBeat)
		}
		for i := range n {
			stored := do.Await(r.Load(keyOf(i))).OrEmpty()
			if stored.IsTombstone() || stored.Generation != 1 || stored.Revision < 60 {
				t.Errorf("%+v", stored)
			}
		}
		r.saved, r.onSaved = nil, nil
		do.Await(effect.CloseScope(s, scope.ExitSucceed(0)))
		before = r.saves + r.batches
		do.Await(effect.Sleep(3 * heartbeat))
		expect(t, "writes without leases", r.saves+r.batches, before)
	})
	for _, e := range w.events {
		switch e.(type) {
		case lease.WasLost, lease.RenewalFailed:
			t.Errorf("%T", e)
		}
	}
}

// L11: what fails with the others is read back for itself.
func TestL11_RenewedTogetherAndFailed(t *testing.T) {
	for name, c := range map[string]struct {
		batch plan
		lost  bool // for a TTL of such batches
	}{
		"fails":             {failBefore(ioFailure()), true},
		"lands and fails":   {failAfter(ioFailure()), false},
		"hangs":             {hang, true},
		"lands and hangs":   {hangAfter(), true},
		"dies":              {plan{before: effect.Die[unit]("x"), skip: true}, true},
		"answers too short": {plan{skip: true}, true},
	} {
		for _, times := range []int{1, 1000} {
			t.Run(fmt.Sprint(name, " ", times), func(t *testing.T) {
				const n = 20
				r := newBatching()
				w := newWorld(r)
				r.onBatch = func(n int) plan {
					if n > times {
						return pass
					}
					return c.batch
				}
				simulate(t, func(do *effect.Do) {
					leases := acquireMany(do, w.manager(), n)
					if c.lost && times > 1 {
						for _, l := range leases {
							lost, at := lossAt(do, l)
							expect(t, "reason", lost.Reason, lease.LostExpired)
							expect(t, "at", at, ttl)
						}
						return
					}
					do.Await(effect.Sleep(5 * ttl))
					for i, l := range leases {
						stored := do.Await(r.Load(keyOf(i))).OrEmpty()
						expect(t, "generation", stored.Generation, l.Token().Generation)
						if stored.IsTombstone() {
							t.Error("lost", stored)
						}
						do.Await(l.RunFenced(func(lease.FencingToken) effect.Effect[unit] { return effect.Void() }))
					}
				})
				if c.batch.skip && r.batches < 2 {
					t.Errorf("%d batches", r.batches)
				}
			})
		}
	}
}

// L11: of many that are renewed together the one that was taken over is lost.
func TestL11_OneOfManyIsTakenOver(t *testing.T) {
	r := newBatching()
	w := newWorld(r)
	simulate(t, func(do *effect.Do) {
		leases := acquireMany(do, w.manager(), 10)
		do.Await(effect.Sleep(time.Second))
		moved := record(2, 9, holderOf(9), "x")
		moved.Key = keyOf(4)
		do.Await(put(r.Repository, moved))
		do.Await(effect.Sleep(heartbeat))
		lost, _ := lossAt(do, leases[4])
		expect(t, "loss", *lost, lease.Lost{Key: keyOf(4), Generation: 1, Reason: lease.LostTakenOver})
		expect(t, "record", do.Await(r.Load(keyOf(4))), mo.Some(moved))
		expect(t, "batches", r.sizes, []int{10})
		do.Await(effect.Sleep(2 * ttl))
		for i, l := range leases {
			if i != 4 {
				do.Await(l.RunFenced(func(lease.FencingToken) effect.Effect[unit] { return effect.Void() }))
			}
		}
	})
}

// L10, F4: the scope of the lease whose heartbeat renews for all closes in the middle
// of that. It is released, and the others are not lost.
func TestL10_F4_CloseOfTheOneThatRenewsForAll(t *testing.T) {
	for name, p := range map[string]plan{
		"before it lands": slow(time.Second), "after it landed": late(time.Second), "hanging": hang,
	} {
		t.Run(name, func(t *testing.T) {
			r := newBatching()
			w := newWorld(r)
			r.onBatch = func(n int) plan {
				if n == 1 {
					return p
				}
				return pass
			}
			simulate(t, func(do *effect.Do) {
				m := w.manager()
				// So many that the first is due by then.
				const n = 40
				var scopes [n]*scope.Scope
				var leases [n]*lease.Lease
				for i := range n {
					scopes[i] = scope.New(scope.Sequential)
					leases[i] = do.Await(m.Acquire(keyOf(i)).ProvideScope(scopes[i]))
				}
				do.Await(effect.Sleep(heartbeat * 19 / 20)) // the batch is under way
				expect(t, "batches", r.sizes, []int{n})
				// Whichever it is that writes for all: half of them, one after the other.
				for i := range n / 2 {
					before := now(do)
					do.Await(effect.CloseScope(scopes[i], scope.ExitSucceed(0)))
					expect(t, "close takes", now(do)-before, time.Duration(0))
					expect(t, "tombstone", do.Await(r.Load(keyOf(i))).OrEmpty().IsTombstone(), true)
				}
				do.Await(effect.Sleep(4 * ttl))
				for i := range n {
					stored := do.Await(r.Load(keyOf(i))).OrEmpty()
					expect(t, keyOf(i), stored.IsTombstone(), i < n/2)
					if i >= n/2 {
						do.Await(leases[i].RunFenced(func(lease.FencingToken) effect.Effect[unit] { return effect.Void() }))
						do.Await(effect.CloseScope(scopes[i], scope.ExitSucceed(0)))
					}
				}
			})
		})
	}
}

// F56: the scope of the lease that renews for all closes while the write hangs, or while
// it reads back what became of it. Those that know nothing yet are renewed at once, and
// together.
func TestF56_CloseOfTheOneThatRenewsForAll(t *testing.T) {
	const n = 10
	for name, c := range map[string]struct {
		batch  plan
		readAt int // the read that hangs, counted from the batch
		next   int // how many the next batch renews
	}{
		"writing":                        {hang, 0, n - 1},
		"reading back its own":           {failBefore(ioFailure()), 1, n - 1},
		"reading back the third":         {failBefore(ioFailure()), 3, n - 2},
		"reading back the last":          {failBefore(ioFailure()), n, 1},
		"reading back, and it is stored": {failAfter(ioFailure()), 3, n - 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := newBatching()
			w := newWorld(r)
			r.onBatch = func(i int) plan {
				if i > 1 {
					return pass
				}
				reads := 0
				r.onLoad = func(int) plan {
					if reads++; reads == c.readAt {
						return hang
					}
					return pass
				}
				return c.batch
			}
			simulate(t, func(do *effect.Do) {
				m := w.manager()
				scopes := map[string]*scope.Scope{}
				for i := range n {
					s := scope.New(scope.Sequential)
					do.Await(m.Acquire(keyOf(i)).ProvideScope(s))
					scopes[keyOf(i)] = s
				}
				do.Await(effect.Sleep(heartbeat))
				expect(t, "batches", r.sizes, []int{n})
				before := r.saves
				do.Await(effect.CloseScope(scopes[r.carrier], scope.ExitSucceed(0)))
				do.Await(effect.Sleep(time.Millisecond))
				saves := r.saves - before // one is the tombstone
				if c.next == 1 {
					saves-- // and one lease alone is no batch
					expect(t, "batches", r.sizes, []int{n})
				} else {
					expect(t, "batches", r.sizes, []int{n, c.next})
				}
				expect(t, "single writes", saves, 1)
				do.Await(effect.Sleep(2 * ttl))
				for _, s := range scopes {
					do.Await(effect.CloseScope(s, scope.ExitSucceed(0)))
				}
			})
			for _, e := range w.events {
				if lost, ok := e.(lease.WasLost); ok {
					t.Error(lost.Lost)
				}
			}
		})
	}
}

// R1: SaveAll is Save of each, on every repository that has it.
func TestR1_SaveAll(t *testing.T) {
	onEach(t, func(t *testing.T, open func() lease.Repository) {
		a := open()
		b, ok := a.(lease.BatchSaver)
		if !ok {
			t.Skip("it has no SaveAll")
		}
		perform(t, func(do *effect.Do) {
			next := func(i int, generation, revision int64, held bool) lease.Record {
				r := lease.Record{Key: keyOf(i), Generation: generation, Revision: revision}
				if held {
					r.Holder, r.HolderID = mo.Some(holderOf(9)), mo.Some(fmt.Sprint("id", i, generation))
				}
				return r
			}
			expect(t, "nothing", len(do.Await(b.SaveAll(nil))), 0)
			// New ones, of which one is refused.
			errs := do.Await(b.SaveAll([]lease.Write{
				{Next: next(0, 1, 1, true)},
				{Next: next(1, 1, 1, true)},
				{Next: next(2, 0, 1, true)},
				{Next: next(3, 1, 2, true), Expected: mo.Some(int64(1))},
				{Next: next(4, 1, 1, true)},
			}))
			expect(t, "written", []error{errs[0], errs[1], errs[4]}, []error{nil, nil, nil})
			expect(t, "refused", as[*lease.RepositoryFailure](errs[2]).Reason, lease.RepositoryInvalidRecord)
			expect(t, "missing", *as[*lease.RevisionConflict](errs[3]), lease.RevisionConflict{Key: keyOf(3), ExpectedRevision: mo.Some(int64(1))})
			// A renewal, a conflict, a release, and one that raises the generation.
			raised := next(4, 2, 2, true)
			raised.HolderID = mo.Some(fmt.Sprint("id", 4, 1)) // it looks like a renewal
			again := next(0, 1, 2, true)
			writes := []lease.Write{
				{Next: again, Expected: mo.Some(int64(1))},
				{Next: next(1, 1, 3, true), Expected: mo.Some(int64(2))},
				{Next: raised, Expected: mo.Some(int64(1))},
			}
			errs = do.Await(b.SaveAll(writes))
			expect(t, "conflict", *as[*lease.RevisionConflict](errs[1]), lease.RevisionConflict{
				Key: keyOf(1), ExpectedRevision: mo.Some(int64(2)), StoredRevision: mo.Some(int64(1)),
			})
			expect(t, "others", []error{errs[0], errs[2]}, []error{nil, nil})
			expect(t, "renewed", do.Await(a.Load(keyOf(0))), mo.Some(again))
			expect(t, "unchanged", do.Await(a.Load(keyOf(1))), mo.Some(next(1, 1, 1, true)))
			expect(t, "raised", do.Await(a.Load(keyOf(4))), mo.Some(raised))
			expect(t, "released", do.Await(b.SaveAll([]lease.Write{{Next: next(1, 1, 2, false), Expected: mo.Some(int64(1))}})), []error{nil})
			expect(t, "tombstone", do.Await(a.Load(keyOf(1))).OrEmpty().IsTombstone(), true)
		})
	})
}
