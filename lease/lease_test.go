package lease_test

import (
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// lossAt waits for l's loss and gives it with its time.
func lossAt(do *effect.Do, l *lease.Lease) (*lease.Lost, time.Duration) {
	lost := as[*lease.Lost](failure(do, l.Lost()))
	return lost, now(do)
}

func lostBy(l *lease.Lease, reason lease.LostReason) lease.Lost {
	return lease.Lost{Key: key, Generation: l.Token().Generation, Reason: reason}
}

func TestL10_RenewsEveryHeartbeat(t *testing.T) {
	r := newScripted()
	var at []time.Duration
	w := newWorld(r)
	simulate(t, func(do *effect.Do) {
		clock := do.Await(effect.WithFiber(func(f *scope.Fiber) effect.Effect[scope.Clock] { return effect.Succeed(f.Clock()) }))
		r.onSaved = func(lease.Record) { at = append(at, clock.Monotonic()) }
		l := do.Await(w.manager().Acquire(key))
		do.Await(effect.Sleep(10 * ttl))
		stored := w.stored(do)
		expect(t, "generation", stored.Generation, l.Token().Generation)
		expect(t, "holder", stored.Holder.OrEmpty().PID, int64(1))
	})
	if n := len(at); n < 42 || n > 46 {
		t.Fatalf("%d writes in 10 TTL", n)
	}
	for i := 1; i < len(at)-1; i++ {
		if d := at[i] - at[i-1]; d > heartbeat || d < heartbeat*9/10 {
			t.Errorf("heartbeat %d came after %v", i, d)
		}
	}
}

func TestL11_MovedRecord(t *testing.T) {
	other := record(2, 9, holderOf(9), "x")
	tombstone := lease.Record{Key: key, Generation: 1, Revision: 9}
	for reason, moved := range map[lease.LostReason]lease.Record{
		lease.LostTakenOver: other, lease.LostReleased: tombstone,
	} {
		t.Run(string(reason), func(t *testing.T) {
			w := newWorld(lease.NewMemoryRepository())
			simulate(t, func(do *effect.Do) {
				s := scope.New(scope.Sequential)
				l := do.Await(w.manager().Acquire(key).ProvideScope(s))
				do.Await(effect.Sleep(time.Second))
				do.Await(put(w.repo, moved))
				lost, at := lossAt(do, l)
				expect(t, "loss", *lost, lostBy(l, reason))
				if at > heartbeat {
					t.Errorf("heard at %v", at)
				}
				again, _ := lossAt(do, l)
				if again != lost {
					t.Error("another waiter got another value")
				}
				do.Await(effect.CloseScope(s, scope.ExitSucceed(0)))
				// L10, F3: never a successor's record.
				expect(t, "record", w.stored(do), moved)
				expect(t, "event", w.events[len(w.events)-1], lease.WasLost{Lost: lost})
			})
		})
	}
}

func TestL11_Missing(t *testing.T) {
	r := newScripted()
	w := newWorld(r)
	simulate(t, func(do *effect.Do) {
		l := do.Await(w.manager().Acquire(key))
		r.Repository = lease.NewMemoryRepository() // somebody removed the database
		lost, _ := lossAt(do, l)
		expect(t, "loss", *lost, lostBy(l, lease.LostMissing))
	})
}

// F8: one failed renewal loses nothing; failing for a TTL does.
func TestL11_F8_FailedRenewals(t *testing.T) {
	for _, fails := range []int{1, 2, 3, 100} {
		for _, p := range []plan{failBefore(ioFailure()), failBefore(busyFailure()), failAfter(ioFailure())} {
			r := newScripted()
			r.onSave = func(n int) plan {
				if n > 1 && n <= 1+fails {
					return p
				}
				return pass
			}
			landed := !p.skip
			w := newWorld(r)
			simulate(t, func(do *effect.Do) {
				var end time.Duration
				l := do.Await(in(w.manager().Acquire(key).Tap(func(l *lease.Lease) effect.Effect[unit] {
					return effect.Sleep(10 * ttl).StopOn(l.Lost()).Ignore().
						AndThen(effect.Monotonic()).Map(func(at time.Duration) unit { end = at; return unit{} })
				})))
				lost, _ := lossAt(do, l)
				if fails < 100 || landed {
					expect(t, "loss", *lost, lostBy(l, lease.LostReleased))
					expect(t, "end", end, 10*ttl)
				} else {
					expect(t, "loss", *lost, lostBy(l, lease.LostExpired))
					expect(t, "end", end, ttl)
				}
			})
		}
	}
}

// L11: of a renewal that landed without an answer, the revision is adopted; what
// landed may be the first of those that failed.
func TestL11_AdoptsWhatArrived(t *testing.T) {
	r := newScripted()
	r.onSave = func(n int) plan {
		switch n {
		case 2: // lands, and cannot be read back
			return failAfter(ioFailure())
		case 4: // the first after the adoption, and all later ones
			return hang
		}
		return pass
	}
	r.onLoad = func(n int) plan {
		if n == 2 {
			return failBefore(ioFailure())
		}
		return pass
	}
	w := newWorld(r)
	simulate(t, func(do *effect.Do) {
		l := do.Await(w.manager().Acquire(key))
		lost, at := lossAt(do, l)
		expect(t, "loss", *lost, lostBy(l, lease.LostExpired))
		// Trusted from the second write's start, the first heartbeat.
		if at > heartbeat+ttl || at < heartbeat*9/10+ttl {
			t.Errorf("expired at %v", at)
		}
	})
}

// F7: everything hangs from some call on. The loss comes a TTL after the start of
// the last confirmed attempt, to the moment, and the scope closes in bounded time.
func TestL11_F7_Hangs(t *testing.T) {
	for _, kind := range []plan{hang, hangAfter()} {
		for from := 2; from < 6; from++ {
			r := newScripted()
			var starts []time.Duration
			var clock scope.Clock
			hanging := false
			r.onSave = func(n int) plan {
				starts = append(starts, clock.Monotonic())
				if n >= from {
					hanging = true
					return kind
				}
				return pass
			}
			r.onLoad = func(int) plan {
				if hanging {
					return hang
				}
				return pass
			}
			w := newWorld(r)
			simulate(t, func(do *effect.Do) {
				clock = do.Await(effect.WithFiber(func(f *scope.Fiber) effect.Effect[scope.Clock] { return effect.Succeed(f.Clock()) }))
				worked := false
				s := scope.New(scope.Sequential)
				l := do.Await(w.manager().Acquire(key).ProvideScope(s))
				err := failure(do, l.RunFenced(func(lease.FencingToken) effect.Effect[unit] {
					worked = true
					return effect.Never[unit]()
				}))
				expect(t, "work", *as[*lease.Lost](err), lostBy(l, lease.LostExpired))
				expect(t, "worked", worked, true)
				expect(t, "expired after", now(do)-starts[from-2], ttl)
				before := now(do)
				do.Await(effect.CloseScope(s, scope.ExitSucceed(0)))
				expect(t, "close", now(do)-before, heartbeat)
				expect(t, "event", w.events[len(w.events)-1], lease.ReleaseAbandoned{Token: l.Token()})
			})
		}
	}
}

// F9: a renewal that takes nine tenths of a TTL is trusted from its start.
func TestL11_F9_SlowRenewal(t *testing.T) {
	for name, p := range map[string]plan{"slow to arrive": slow(ttl * 9 / 10), "slow to answer": late(ttl * 9 / 10)} {
		t.Run(name, func(t *testing.T) {
			r := newScripted()
			var clock scope.Clock
			var start time.Duration
			r.onSave = func(n int) plan {
				switch n {
				case 1:
					return pass
				case 2: // at the latest a heartbeat after the acquisition: still in time
					start = clock.Monotonic()
					return slow(ttl / 2)
				case 3:
					start = clock.Monotonic()
					return p
				}
				return hang
			}
			w := newWorld(r)
			simulate(t, func(do *effect.Do) {
				clock = do.Await(effect.WithFiber(func(f *scope.Fiber) effect.Effect[scope.Clock] { return effect.Succeed(f.Clock()) }))
				l := do.Await(w.manager().Acquire(key))
				_, at := lossAt(do, l)
				if r.saves == 3 {
					// It could not arrive in time: lost before.
					expect(t, "expired after its predecessor", at <= start+ttl, true)
					return
				}
				expect(t, "expired after", at-start, ttl)
			})
		})
	}
}

// F11: the wall clock jumps about; nothing depends on it.
func TestL20_F11_WallClockJumps(t *testing.T) {
	run := func(jump bool) (events []lease.Event, end time.Duration) {
		w := newWorld(lease.NewMemoryRepository())
		d := scope.NewDeterministic(scope.DeterministicConfig{})
		maybe := func(years int) effect.Effect[unit] {
			return effect.SyncUnit(func() {
				if jump {
					d.Clock().(*scope.VirtualClock).JumpWall(time.Duration(years) * 365 * 24 * time.Hour)
				}
			})
		}
		out := effect.RunDeterministicOn(d, effect.Scoped(effect.GenUnit(func(do *effect.Do) {
			ids := 0
			m := do.Await(lease.MakeManager(config).
				ProvideService(lease.HolderIDs, func() string { ids++; return string(rune('a' + ids)) }).
				ProvideService(lease.ObserverService, func(e lease.Event) {
					if r, ok := e.(lease.Acquired); ok {
						r.Previous = mo.None[lease.Record]()
						e = r
					}
					events = append(events, e)
				}).
				Provide(lease.RepositoryService.Of(w.repo), platformOf(w)))
			s := scope.New(scope.Sequential)
			l := do.Await(m.Acquire(key).ProvideScope(s))
			do.Await(effect.Sleep(20 * time.Second).AndThen(maybe(1)))
			as[*lease.Held](failure(do, m.Acquire(key)))
			do.Await(effect.Sleep(2 * ttl).AndThen(maybe(-2)))
			as[*lease.Held](failure(do, m.Acquire(key)))
			do.Await(l.RunFenced(func(lease.FencingToken) effect.Effect[unit] { return maybe(3) }))
			do.Await(effect.Sleep(2 * ttl).AndThen(maybe(-1)))
			do.Await(effect.CloseScope(s, scope.ExitSucceed(0)))
			do.Await(put(w.repo, record(2, 1000, holderOf(9), "x")))
			w.process.runs(holderOf(9).Identity)
			do.Await(maybe(1))
			as[*lease.Held](failure(do, m.Acquire(key)))
			do.Await(effect.Sleep(ttl / 2).AndThen(maybe(-2)))
			as[*lease.Held](failure(do, m.Acquire(key)))
			do.Await(effect.Sleep(ttl / 2).AndThen(maybe(2)))
			do.Await(m.Acquire(key))
			end = now(do)
		})))
		if exit := out.Exit.MustGet(); exit.IsFailure() {
			t.Fatal(exit)
		}
		return events, end
	}
	still, stillEnd := run(false)
	jumping, jumpingEnd := run(true)
	expect(t, "events", jumping, still)
	expect(t, "end", jumpingEnd, stillEnd)
}
