package lease_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

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
					do.Check(swapping(do, h.scribe(client), r, client, repeat))
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
		const clients = 4
		repeat := 12
		if raced {
			repeat = 6
		}
		h := &history{start: time.Now()}
		var wg sync.WaitGroup
		for client := range clients {
			r := open()
			wg.Go(func() {
				perform(t, func(do *effect.Do) {
					p := &platform.Platform{Process: newProcess(1)}
					do.Check(leasing(do, h.scribe(client), r, p, client, repeat))
				})
			})
		}
		wg.Wait()
		h.check(t)
	})
}

// swapping loads and saves. What fails in another way than it may is the error.
func swapping(do *effect.Do, rec scribe, r lease.Repository, client, repeat int) error {
	for n := range repeat {
		at := rec.call(step{Do: "load"})
		found, err := do.Await(effect.Result(r.Load(key))).Get()
		if err != nil { // it was busy while it was opened, on a machine that is
			if !busy(err) {
				return err
			}
			rec.end(at, step{Do: "nothing"})
			continue
		}
		known := seenOf(found.OrEmpty())
		rec.end(at, step{Do: "load", Record: known})
		next := record(1, known.Revision+1, holderOf(9), idOf(client, n))
		s := step{Do: "save"}
		if found.IsPresent() {
			s.Expected = mo.Some(known.Revision)
		}
		if rand.IntN(4) == 0 { // blindly
			s.Expected = mo.Some(1 + rand.Int64N(20))
			next.Revision = s.Expected.MustGet() + 1
		}
		next.Generation = next.Revision // each is an acquisition of its own
		s.Record = seenOf(next)
		at = rec.call(s)
		err = failure(do, r.Save(key, next, s.Expected))
		if conflict, ok := errors.AsType[*lease.RevisionConflict](err); ok {
			s.Conflict, s.Stored = true, conflict.StoredRevision
		} else if err != nil { // busy, on a machine that is
			if _, ok := errors.AsType[*lease.RepositoryFailure](err); !ok {
				return err
			}
			s.Unknown = true
		}
		rec.end(at, s)
	}
	return nil
}

func busy(err error) bool {
	f, ok := errors.AsType[*lease.RepositoryFailure](err)
	return ok && f.Reason == lease.RepositoryBusy
}

// leasing acquires, holds and releases, and reads when it was refused. The lease's
// TTL is an hour: what is taken over is a dead holder's.
func leasing(do *effect.Do, rec scribe, r lease.Repository, p *platform.Platform, client, repeat int) error {
	// The beat is as long as a release may take, on a busy machine, too.
	const beat = 250 * time.Millisecond
	released, gaveUp, lost := false, false, (*lease.Lost)(nil)
	observe := func(e lease.Event) {
		switch e := e.(type) {
		case lease.Released:
			released = true
		case lease.ReleaseAbandoned:
			gaveUp = true
		case lease.WasLost:
			lost = e.Lost
		}
	}
	n := 0
	m := do.Await(lease.MakeManager(lease.Config{TTL: time.Hour, Heartbeat: beat, Observer: observe}).
		ProvideService(lease.HolderIDs, func() string { return idOf(client, n) }).
		Provide(lease.RepositoryService.Of(&renewals{Repository: r, rec: rec}), platform.Service.Of(p)))
	for range repeat {
		n++
		s := scope.New(scope.Sequential)
		at := rec.call(step{Do: "acquire", Record: seen{ID: idOf(client, n)}})
		exit := do.Await(effect.Exit(m.Acquire(key).ProvideScope(s)))
		l, acquired := exit.Value()
		switch held, refused := errors.AsType[*lease.Held](exit.Err()); {
		case refused:
			rec.end(at, step{Do: "acquire", Held: true, Record: seen{Generation: held.Generation, ID: held.HolderID}})
			do.Await(effect.Sleep(time.Duration(rand.IntN(int(beat / 8)))))
			at = rec.call(step{Do: "load"})
			if found, err := do.Await(effect.Result(m.Read(key))).Get(); err == nil {
				rec.end(at, step{Do: "load", Record: seenOf(found.OrEmpty())})
			} else if !busy(err) {
				return err
			}
			continue
		case busy(exit.Err()): // read back: it has written nothing
			rec.end(at, step{Do: "nothing"})
			continue
		case !acquired:
			return exit.Err()
		}
		mine := seen{Generation: l.Token().Generation, ID: idOf(client, n)}
		rec.end(at, step{Do: "acquire", Record: mine})
		if rand.IntN(3) == 0 {
			do.Await(effect.Sleep(time.Duration(rand.IntN(int(2 * beat)))))
		}
		released = false
		at = rec.call(step{Do: "release", Record: mine})
		do.Await(effect.CloseScope(s, scope.ExitSucceed(0)))
		if lost != nil {
			return lost
		}
		if gaveUp || !released { // on a machine that is busy
			return nil
		}
		rec.end(at, step{Do: "release", Record: mine})
	}
	return nil
}

// renewals takes the renewals of one client down.
type renewals struct {
	lease.Repository
	rec scribe
	id  mo.Option[string] // of the record that was written last
}

func (r *renewals) Save(key string, next lease.Record, expected mo.Option[int64]) effect.Effect[unit] {
	return effect.Suspend(func() effect.Effect[unit] {
		save := r.Repository.Save(key, next, expected)
		if renews := next.HolderID.IsPresent() && next.HolderID == r.id; !renews {
			// An acquisition may write more than once.
			return save.Tap(func(unit) effect.Effect[unit] { return effect.SyncUnit(func() { r.id = next.HolderID }) })
		}
		// Unknown until it ends: a release interrupts one that is under way.
		renewal := step{Do: "renew", Record: seenOf(next)}
		at := r.rec.call(renewal)
		return save.OnExit(func(e scope.Exit[unit]) effect.Effect[unit] {
			return effect.SyncUnit(func() {
				if _, conflict := errors.AsType[*lease.RevisionConflict](e.Err()); conflict {
					r.rec.end(at, step{Do: "nothing"})
				} else if e.IsSuccess() {
					r.rec.end(at, renewal)
				}
			})
		})
	})
}
