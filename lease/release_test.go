package lease_test

import (
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// F4: the scope closes while a renewal is in flight, which lands before the
// release reads, or after, or when all is over (F5).
func TestL10_F4_F5_CloseDuringRenewal(t *testing.T) {
	for name, p := range map[string]plan{
		"lands before": late(time.Second), "lands after": slow(time.Second),
		"lands after the release": slow(10 * heartbeat),
	} {
		for _, firm := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				r := newScripted()
				r.onSave = func(n int) plan {
					if n != 2 {
						return pass
					}
					q := p
					if firm { // a repository that does not stop for an interruption
						if !isZero(q.before) {
							q.before = q.before.Uninterruptible()
						} else {
							q.after = q.after.Uninterruptible()
						}
					}
					return q
				}
				w := newWorld(r)
				simulate(t, func(do *effect.Do) {
					do.Await(in(w.manager().Acquire(key).AndThen(effect.Sleep(heartbeat + time.Millisecond))))
					if name != "lands after the release" || !firm {
						expect(t, "tombstone", w.stored(do).IsTombstone(), true)
						expect(t, "next", do.Await(in(w.manager().Acquire(key))).Token().Generation, int64(2))
					}
					do.Await(effect.Sleep(12 * heartbeat))
					// F5: what was blocked has failed by now, on the tombstone's revision.
					expect(t, "tombstone", w.stored(do).IsTombstone(), name != "lands after the release" || !firm)
				})
			})
		}
	}
}

// L10: a release meets its own late renewal and tries again; it gives up after
// eight, and after a Heartbeat.
func TestL10_ReleaseConflicts(t *testing.T) {
	for _, conflicts := range []int{1, 8, 9} {
		r := newScripted()
		released := false
		count := 0
		r.onSave = func(int) plan {
			if !released || count >= conflicts {
				return pass
			}
			count++
			return plan{before: effect.Suspend(func() effect.Effect[unit] {
				return r.Repository.Load(key).FlatMap(func(stored mo.Option[lease.Record]) effect.Effect[unit] {
					next := stored.OrEmpty()
					next.Revision++
					return r.Repository.Save(key, next, mo.Some(next.Revision-1))
				})
			})}
		}
		w := newWorld(r)
		simulate(t, func(do *effect.Do) {
			do.Await(in(w.manager().Acquire(key).Tap(func(*lease.Lease) effect.Effect[unit] {
				return effect.SyncUnit(func() { released = true })
			})))
			expect(t, "tombstone", w.stored(do).IsTombstone(), conflicts <= 8)
		})
	}
}

func TestL10_ReleaseOfAFailingRepository(t *testing.T) {
	for name, c := range map[string]struct {
		plan  func(n int) plan
		takes time.Duration
	}{
		"fails for ever":  {func(int) plan { return failBefore(ioFailure()) }, heartbeat},
		"hangs":           {func(int) plan { return hang }, heartbeat},
		"hangs firmly":    {func(int) plan { return plan{before: effect.Never[unit]().Uninterruptible()} }, heartbeat},
		"fails twice":     {func(n int) plan { return []plan{failBefore(ioFailure()), failBefore(busyFailure()), pass}[min(n, 2)] }, 3 * heartbeat / 16},
		"fails, landed":   {func(n int) plan { return []plan{failAfter(ioFailure()), pass}[min(n, 1)] }, heartbeat / 16},
		"dies":            {func(n int) plan { return []plan{{before: effect.Die[unit]("x")}, pass}[min(n, 1)] }, heartbeat / 16},
		"nothing happens": {func(int) plan { return pass }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newScripted()
			w := newWorld(r)
			out := effect.RunDeterministic(effect.GenUnit(func(do *effect.Do) {
				do.Await(in(w.manager().Acquire(key).Tap(func(*lease.Lease) effect.Effect[unit] {
					return effect.SyncUnit(func() {
						n := -1
						r.onSave = func(int) plan { n++; return c.plan(n) }
					})
				})))
				expect(t, "takes", now(do), c.takes)
				_, abandoned := w.events[len(w.events)-1].(lease.ReleaseAbandoned)
				expect(t, "abandoned", abandoned, c.takes == heartbeat)
				expect(t, "tombstone", w.stored(do).IsTombstone(), c.takes != heartbeat)
			}), effect.DeterministicConfig{})
			if exit, ok := out.Exit.Get(); !ok || exit.IsFailure() {
				t.Fatal(out.Exit, out.Report)
			}
		})
	}
}

// L12: after a normal release Lost fails, too, and with one value for everybody.
func TestL12_Released(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	simulate(t, func(do *effect.Do) {
		var l *lease.Lease
		var waiters []*effect.Fiber[effect.Nothing]
		do.Await(in(effect.GenUnit(func(do *effect.Do) {
			l = do.Await(w.manager().Acquire(key))
			for range 3 {
				waiters = append(waiters, do.Await(effect.ForkDetach(l.Lost())))
			}
			do.Await(effect.Sleep(time.Second))
		})))
		lost, _ := lossAt(do, l)
		expect(t, "loss", *lost, lostBy(l, lease.LostReleased))
		for _, waiter := range waiters {
			if as[*lease.Lost](failure(do, waiter.Join())) != lost {
				t.Error("a waiter got another value")
			}
		}
		for _, e := range w.events {
			if _, wrong := e.(lease.WasLost); wrong {
				t.Error("an own release is told as a loss")
			}
		}
	})
}

// The handle of a scope that was closed before is released and lost.
func TestL9_ClosedScope(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	simulate(t, func(do *effect.Do) {
		s := scope.New(scope.Sequential)
		do.Await(effect.CloseScope(s, scope.ExitSucceed(0)))
		l := do.Await(w.manager().Acquire(key).ProvideScope(s))
		lost, _ := lossAt(do, l)
		expect(t, "loss", *lost, lostBy(l, lease.LostReleased))
		expect(t, "tombstone", w.stored(do).IsTombstone(), true)
	})
}
