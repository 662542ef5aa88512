package lease_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

func noWork(t *testing.T) func(lease.FencingToken) effect.Effect[unit] {
	return func(lease.FencingToken) effect.Effect[unit] {
		t.Error("work ran")
		return effect.Void()
	}
}

func TestL13_RunsWithTheToken(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	simulate(t, func(do *effect.Do) {
		l := do.Await(w.manager().Acquire(key))
		got := do.Await(l.RunFenced(func(token lease.FencingToken) effect.Effect[lease.FencingToken] { return effect.Succeed(token) }))
		expect(t, "token", got, l.Token())
		expect(t, "key", l.Key(), key)
		// Again, and the work's own failure is the result.
		err := failure(do, l.RunFenced(func(lease.FencingToken) effect.Effect[unit] { return effect.Fail[unit](ioFailure()) }))
		as[*lease.RepositoryFailure](err)
	})
}

func TestL13_LostBefore(t *testing.T) {
	r := newScripted()
	w := newWorld(r)
	simulate(t, func(do *effect.Do) {
		l := do.Await(in(w.manager().Acquire(key)))
		loads := r.loads
		expect(t, "loss", *as[*lease.Lost](failure(do, l.RunFenced(noWork(t)))), lostBy(l, lease.LostReleased))
		expect(t, "loads, fences", []int{r.loads, r.fences}, []int{loads, 0})
	})
}

// L13, F6, L15: the record is another acquisition's, which the heartbeat does not
// know yet.
func TestL13_L15_F6_FenceRejected(t *testing.T) {
	for name, moved := range map[string]mo.Option[lease.Record]{
		"taken over": mo.Some(record(2, 9, holderOf(9), "x")),
		"released":   mo.Some(lease.Record{Key: key, Generation: 1, Revision: 9}),
		"missing":    mo.None[lease.Record](),
	} {
		t.Run(name, func(t *testing.T) {
			r := newScripted()
			w := newWorld(r)
			simulate(t, func(do *effect.Do) {
				l := do.Await(w.manager().Acquire(key))
				current := mo.None[int64]()
				if m, ok := moved.Get(); ok {
					do.Await(put(w.repo, m))
					current = mo.Some(m.Generation)
				} else {
					r.Repository = lease.NewMemoryRepository()
				}
				rejected := as[*lease.FenceRejected](failure(do, l.RunFenced(noWork(t))))
				expect(t, "FenceRejected", *rejected, lease.FenceRejected{Key: key, Generation: 1, Current: current})
			})
		})
	}
}

func TestL13_UnreadableRecord(t *testing.T) {
	w := newWorld(nil)
	r := newScripted()
	w.repo = r
	simulate(t, func(do *effect.Do) {
		l := do.Await(w.manager().Acquire(key))
		r.onLoad = func(int) plan { return failBefore(ioFailure()) }
		expect(t, "reason", as[*lease.RepositoryFailure](failure(do, l.RunFenced(noWork(t)))).Reason, lease.RepositoryIO)
		r.onLoad = nil
		r.Repository = fixed{r.Repository, lease.Record{Key: key, Generation: 3, Revision: 1}}
		expect(t, "reason", as[*lease.RepositoryFailure](failure(do, l.RunFenced(noWork(t)))).Reason, lease.RepositoryInvalidRecord)
		// The fence was given back each time.
		do.Await(effect.Scoped(r.Fence(key)))
	})
}

// F10: the heartbeat has not run, and the clock is past the trust: it looks
// itself, before the fence and again after the re-read.
func TestL13_F10_OwnClock(t *testing.T) {
	for name, during := range map[string]func(*scripted, effect.Effect[unit]){
		"before the fence": nil,
		"in the fence":     func(r *scripted, jump effect.Effect[unit]) { r.onFence = func(int) plan { return plan{after: jump} } },
		"in the re-read":   func(r *scripted, jump effect.Effect[unit]) { r.onLoad = func(int) plan { return plan{after: jump} } },
	} {
		t.Run(name, func(t *testing.T) {
			r := newScripted()
			w := newWorld(r)
			clock := &leaping{Clock: scope.NewLiveClock()}
			rt := scope.NewParallel(scope.OnClock(clock))
			exit := effect.RunExitOn(context.Background(), rt, effect.Scoped(effect.GenUnit(func(do *effect.Do) {
				l := do.Await(w.manager().Acquire(key))
				jump := effect.SyncUnit(func() { clock.leap(ttl) })
				if during == nil {
					do.Await(jump)
				} else {
					during(r, jump)
				}
				expect(t, "loss", *as[*lease.Lost](failure(do, l.RunFenced(noWork(t)))), lostBy(l, lease.LostExpired))
				if during == nil {
					expect(t, "fences", r.fences, 0)
				}
				expect(t, "loss", *as[*lease.Lost](failure(do, l.Lost())), lostBy(l, lease.LostExpired))
			})))
			if exit.IsFailure() {
				t.Fatal(exit)
			}
		})
	}
}

// The wait for the fence ends when the lease is lost meanwhile, and so does a
// re-read that hangs.
func TestL13_LossEndsTheWait(t *testing.T) {
	for _, hanging := range []string{"fence", "re-read"} {
		t.Run(hanging, func(t *testing.T) {
			r := newScripted()
			w := newWorld(r)
			simulate(t, func(do *effect.Do) {
				l := do.Await(w.manager().Acquire(key))
				if hanging == "fence" {
					do.Await(effect.ForkChild(effect.Scoped(r.Repository.Fence(key).AndThen(effect.Never[unit]()))))
					do.Await(effect.YieldNow())
				} else {
					r.onLoad = func(n int) plan {
						if n == 2 {
							return hang
						}
						return pass
					}
				}
				do.Await(effect.ForkChild(effect.Sleep(time.Second).AndThen(put(r, record(2, 9, holderOf(9), "x")))))
				lost := as[*lease.Lost](failure(do, l.RunFenced(noWork(t))))
				expect(t, "loss", *lost, lostBy(l, lease.LostTakenOver))
				if at := now(do); at > heartbeat {
					t.Errorf("heard at %v", at)
				}
			})
		})
	}
}

// L13, L14: on loss the work is interrupted and awaited, finalizers included, and
// the fence is free only then.
func TestL13_L14_LossInterruptsTheWork(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	simulate(t, func(do *effect.Do) {
		l := do.Await(w.manager().Acquire(key))
		var log []string
		note := func(s string) effect.Effect[unit] { return effect.SyncUnit(func() { log = append(log, s) }) }
		old := do.Await(effect.ForkChild(l.RunFenced(func(lease.FencingToken) effect.Effect[unit] {
			return effect.Never[unit]().Ensuring(effect.Sleep(5 * time.Minute).AndThen(note("old ended")))
		})))
		do.Await(effect.Sleep(time.Second))
		// A successor takes over (its clock, its machine: as if the holder were silent).
		do.Await(put(w.repo, record(2, 9, w.stored(do).Holder.OrEmpty(), "x")))
		next := do.Await(effect.ForkChild(effect.Scoped(w.repo.Fence(key).AndThen(note("new began")))))
		expect(t, "loss", *as[*lease.Lost](failure(do, old.Join())), lostBy(l, lease.LostTakenOver))
		do.Await(next.Join())
		expect(t, "order", log, []string{"old ended", "new began"})
	})
}

// L14: heartbeats go on under the fence, and uninterruptible work keeps it.
func TestL14_HeartbeatsUnderTheFence(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	simulate(t, func(do *effect.Do) {
		l := do.Await(w.manager().Acquire(key))
		do.Await(l.RunFenced(func(lease.FencingToken) effect.Effect[unit] { return effect.Sleep(5 * ttl) }))
		expect(t, "held", w.stored(do).Generation, int64(1))
		if w.stored(do).Revision < 20 {
			t.Error(w.stored(do))
		}
	})
}

// L10: closing the scope interrupts and awaits the fenced work, renews on while
// that takes its time, then releases.
func TestL10_CloseAwaitsFencedWork(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	simulate(t, func(do *effect.Do) {
		s := scope.New(scope.Sequential)
		l := do.Await(w.manager().Acquire(key).ProvideScope(s))
		var held lease.Record
		work := do.Await(effect.ForkChild(l.RunFenced(func(lease.FencingToken) effect.Effect[unit] {
			return effect.Never[unit]().Ensuring(effect.Sleep(3 * ttl).AndThen(w.repo.Load(key)).
				Map(func(r mo.Option[lease.Record]) unit { held = r.OrEmpty(); return unit{} }))
		})))
		do.Await(effect.Sleep(time.Second))
		do.Await(effect.CloseScope(s, scope.ExitSucceed(0)))
		if now(do) < 3*ttl || held.IsTombstone() || held.Revision < 12 {
			t.Errorf("released at %v; under the work the record was %+v", now(do), held)
		}
		expect(t, "loss", *as[*lease.Lost](failure(do, work.Join())), lostBy(l, lease.LostReleased))
		expect(t, "tombstone", w.stored(do).IsTombstone(), true)
	})
}

// L10: the fiber that closes does not wait for itself, nor for what it is part of.
func TestL10_CloseFromInsideTheWork(t *testing.T) {
	for _, child := range []bool{false, true} {
		w := newWorld(lease.NewMemoryRepository())
		simulate(t, func(do *effect.Do) {
			s := scope.New(scope.Sequential)
			l := do.Await(w.manager().Acquire(key).ProvideScope(s))
			closing := effect.CloseScope(s, scope.ExitSucceed(0))
			err := failure(do, l.RunFenced(func(lease.FencingToken) effect.Effect[unit] {
				if child {
					return effect.ForkChild(closing).FlatMap(func(fb *effect.Fiber[unit]) effect.Effect[unit] { return fb.Join() })
				}
				return closing
			}))
			expect(t, "loss", *as[*lease.Lost](err), lostBy(l, lease.LostReleased))
			expect(t, "tombstone", w.stored(do).IsTombstone(), true)
		})
	}
}

// L13: re-entrancy is a defect, through children and other handles too, and other
// keys and repositories are not affected.
func TestL13_Reentrancy(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	simulate(t, func(do *effect.Do) {
		l := do.Await(w.manager().Acquire(key))
		other := do.Await(w.manager().Acquire("other"))
		elsewhere := do.Await(newWorld(lease.NewMemoryRepository()).manager().Acquire(key))
		again := l.RunFenced(func(lease.FencingToken) effect.Effect[unit] { return effect.Void() })
		for name, c := range map[string]struct {
			inner effect.Effect[unit]
			dies  bool
		}{
			"itself": {again, true},
			"a child": {effect.ForkChild(again).FlatMap(func(fb *effect.Fiber[unit]) effect.Effect[unit] {
				return fb.Join()
			}), true},
			"inside another key's":  {other.RunFenced(func(lease.FencingToken) effect.Effect[unit] { return again }), true},
			"another key":           {other.RunFenced(func(lease.FencingToken) effect.Effect[unit] { return effect.Void() }), false},
			"another repository":    {elsewhere.RunFenced(func(lease.FencingToken) effect.Effect[unit] { return effect.Void() }), false},
			"afterwards, once more": {effect.Void(), false},
		} {
			exit := do.Await(effect.Exit(l.RunFenced(func(lease.FencingToken) effect.Effect[unit] { return c.inner })))
			expect(t, name, exit.Cause().HasDies(), c.dies)
		}
	})
}

// A later acquisition of the key, inside fenced work of an earlier one, waits for
// the same fence.
func TestL13_ReentrancyOfALaterHandle(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	simulate(t, func(do *effect.Do) {
		s := scope.New(scope.Sequential)
		l := do.Await(w.manager().Acquire(key).ProvideScope(s))
		var exit scope.Exit[unit]
		_ = failure(do, l.RunFenced(func(lease.FencingToken) effect.Effect[unit] {
			return effect.CloseScope(s, scope.ExitSucceed(0)).
				AndThen(in(w.manager().Acquire(key).FlatMap(func(l *lease.Lease) effect.Effect[unit] {
					return effect.Exit(l.RunFenced(noWork(t))).Map(func(e scope.Exit[unit]) unit { exit = e; return unit{} })
				}))).Uninterruptible()
		}))
		expect(t, "dies", exit.Cause().HasDies(), true)
	})
}

// The fence is free after a panic and a Goexit of the work.
func TestL14_PanicAndGoexit(t *testing.T) {
	for name, fn := range map[string]func(){"panic": func() { panic("x") }, "Goexit": runtime.Goexit} {
		for _, building := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(lease.NewMemoryRepository())
				simulate(t, func(do *effect.Do) {
					l := do.Await(w.manager().Acquire(key))
					exit := do.Await(effect.Exit(l.RunFenced(func(lease.FencingToken) effect.Effect[unit] {
						if building {
							fn()
						}
						return effect.SyncUnit(fn)
					})))
					expect(t, "dies", exit.Cause().HasDies(), true)
					do.Await(effect.Scoped(w.repo.Fence(key)))
					do.Await(l.RunFenced(func(lease.FencingToken) effect.Effect[unit] { return effect.Void() }))
				})
			})
		}
	}
}

// leaping is a clock that can be ahead of its timers, as a stopped process finds
// it when it resumes.
type leaping struct {
	scope.Clock
	ahead atomic.Int64
}

func (c *leaping) leap(d time.Duration) { c.ahead.Add(int64(d)) }

func (c *leaping) Monotonic() time.Duration {
	return c.Clock.Monotonic() + time.Duration(c.ahead.Load())
}
