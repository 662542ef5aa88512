package lease_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/scope"
	"pgregory.net/rapid"
)

const retry = 5 * time.Second

// L8: waiters of one manager come in order, an interrupted one in the middle
// leaves the others' order as it is, and a release is heard of at once.
func TestL8_FIFO(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	w.config.Retry = retry
	simulate(t, func(do *effect.Do) {
		m := w.manager()
		s := scope.New(scope.Sequential)
		do.Await(m.Acquire(key).ProvideScope(s))
		var order []string
		var waiters []*effect.Fiber[unit]
		for i := range 6 {
			wait := in(m.Acquire(key, lease.Wait()).FlatMap(func(l *lease.Lease) effect.Effect[unit] {
				order = append(order, fmt.Sprint(i, "#", l.Token().Generation))
				return effect.Sleep(time.Second)
			}))
			waiters = append(waiters, do.Await(effect.ForkChild(wait)))
		}
		do.Await(effect.Sleep(2 * time.Second))
		do.Await(waiters[2].Interrupt())
		do.Await(waiters[0].Interrupt()) // the one that polls
		do.Await(effect.Sleep(time.Second))
		do.Await(effect.CloseScope(s, scope.ExitSucceed(0)))
		for _, i := range []int{1, 3, 4, 5} {
			do.Await(waiters[i].Join())
		}
		expect(t, "order", order, []string{"1#2", "3#3", "4#4", "5#5"})
		expect(t, "end", now(do), 7*time.Second)
	})
}

// L8: one poll for all, one read each Retry.
func TestL8_OnePoll(t *testing.T) {
	r := newScripted()
	w := newWorld(r)
	w.config.Retry = retry
	simulate(t, func(do *effect.Do) {
		do.Await(w.manager().Acquire(key))
		m, before := w.manager(), r.loads
		var waiters []*effect.Fiber[*lease.Lease]
		for range 20 {
			waiters = append(waiters, do.Await(effect.ForkChild(in(m.Acquire(key, lease.Wait())))))
		}
		do.Await(effect.Sleep(10*retry + retry/2))
		expect(t, "reads", r.loads-before, 11)
		for _, waiter := range waiters {
			do.Await(waiter.Interrupt())
		}
		before = r.loads
		do.Await(effect.Sleep(3 * retry))
		expect(t, "reads without waiters", r.loads-before, 0)
	})
}

// meanwhile is a repository where something happens just before a watch is set.
type meanwhile struct {
	lease.Repository
	happens effect.Effect[unit]
}

func (m meanwhile) WatchReleases(key string, changed func()) effect.Effect[unit] {
	return m.happens.AndThen(m.Repository.(lease.ReleaseWatcher).WatchReleases(key, changed))
}

// L8: a release between a waiter's first look and its watch, which is news to nobody,
// is found at once.
func TestL8_ReleasedBeforeTheWatch(t *testing.T) {
	r := newScripted()
	w := newWorld(r)
	w.config.Retry = retry
	simulate(t, func(do *effect.Do) {
		s := scope.New(scope.Sequential)
		do.Await(w.manager().Acquire(key).ProvideScope(s))
		other := newWorld(meanwhile{watchedScripted{r}, effect.CloseScope(s, scope.ExitSucceed(0))})
		other.config.Retry = retry
		before := r.loads
		l := do.Await(other.manager().Acquire(key, lease.Wait()))
		expect(t, "at", now(do), 0*retry)
		expect(t, "generation", l.Token().Generation, int64(2))
		expect(t, "reads", r.loads-before, 3) // the first look, the release's, the second look
	})
}

// watchedScripted is a scripted repository whose releases are not heard of.
type watchedScripted struct{ *scripted }

func (watchedScripted) WatchReleases(string, func()) effect.Effect[unit] { return effect.Void() }

func TestL8_WhatEndsTheWait(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		ends bool
	}{
		"busy":               {busyFailure(), false},
		"io":                 {ioFailure(), true},
		"unavailable":        {reasonFailure(lease.RepositoryUnavailable), true},
		"invalid record":     {reasonFailure(lease.RepositoryInvalidRecord), true},
		"unsupported schema": {reasonFailure(lease.RepositoryUnsupportedSchema), true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newScripted()
			r.onLoad = func(n int) plan {
				if n <= 3 {
					return failBefore(c.err)
				}
				return pass
			}
			w := newWorld(r)
			w.config.Retry = retry
			simulate(t, func(do *effect.Do) {
				exit := do.Await(effect.Exit(in(w.manager().Acquire(key, lease.Wait()))))
				if c.ends {
					expect(t, "failure", exit.Err(), c.err)
					expect(t, "after", now(do), time.Duration(0))
				} else {
					expect(t, "acquired", exit.IsSuccess(), true)
					expect(t, "after", now(do), 3*retry)
				}
			})
		})
	}
}

// The release of another manager on the same store is news, too.
func TestL8_PromptAcrossManagers(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	w.config.Retry = retry
	simulate(t, func(do *effect.Do) {
		do.Await(effect.ForkChild(in(w.manager().Acquire(key).AndThen(effect.Sleep(7*time.Second))), effect.StartImmediately()))
		do.Await(in(w.manager().Acquire(key, lease.Wait())))
		expect(t, "acquired at", now(do), 7*time.Second)
	})
}

// everywhere runs a program once for every step of its main fiber, and interrupts
// it there.
func everywhere(t *testing.T, program func() (effect.Effect[unit], func(do *effect.Do))) {
	t.Helper()
	for at := 1; ; at++ {
		e, check := program()
		steps := 0
		out := effect.RunDeterministic(e, effect.DeterministicConfig{
			MaxSteps: 200_000,
			OnStep: func(_ int, f *scope.Fiber) {
				if f.ID() != 1 {
					return
				}
				if steps++; steps == at {
					f.Interrupt(0)
				}
			},
		})
		exit, ended := out.Exit.Get()
		if !ended || out.StepLimit {
			t.Fatalf("interrupted at step %d it does not end:\n%s", at, out.Report)
		}
		if c := exit.Cause(); c.HasDies() || c.HasFails() {
			t.Fatalf("interrupted at step %d: %v", at, c)
		}
		simulate(t, check)
		if t.Failed() {
			t.Fatalf("interrupted at step %d of %d", at, steps)
		}
		if steps < at {
			if at < 30 {
				t.Fatalf("only %d steps", at)
			}
			return
		}
	}
}

// L9, F26, F27: interrupted anywhere, no lease is left without its release, and
// no fence and no turn is lost.
func TestL9_F26_InterruptEverywhere(t *testing.T) {
	for name, options := range map[string][]lease.AcquireOption{"at once": nil, "waiting": {lease.Wait()}} {
		for _, held := range []bool{false, true} {
			if held && options == nil {
				continue
			}
			t.Run(name, func(t *testing.T) {
				everywhere(t, func() (effect.Effect[unit], func(do *effect.Do)) {
					r := newScripted()
					yields := func(int) plan { return plan{before: effect.YieldNow(), after: effect.YieldNow()} }
					r.onLoad, r.onSave, r.onFence = yields, yields, yields
					w := newWorld(r)
					m := w.manager()
					program := effect.Scoped(m.Acquire(key, options...).FlatMap(func(l *lease.Lease) effect.Effect[unit] {
						return effect.Sleep(2 * heartbeat).AndThen(l.RunFenced(func(lease.FencingToken) effect.Effect[unit] {
							return effect.YieldNow().AndThen(effect.Sleep(time.Second))
						}))
					}))
					if held {
						program = effect.ForkDetach(in(w.manager().Acquire(key).AndThen(effect.Sleep(2 * heartbeat)))).
							AndThen(effect.YieldNow()).AndThen(effect.Sleep(time.Millisecond)).AndThen(program)
					}
					return program, func(do *effect.Do) {
						stored := do.Await(r.Repository.Load(key))
						expect(t, "held", stored.IsPresent() && !stored.MustGet().IsTombstone(), false)
						do.Await(in(r.Repository.Fence(key)))
						do.Await(in(m.Acquire(key, lease.Wait())))
					}
				})
			})
		}
	}
}

// L5, L9, L13, L14 in explored schedules: three managers take turns, interrupted
// at any time; no two are inside the fence, and tokens never go back.
func TestL14_ExploredSchedules(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(lease.NewMemoryRepository())
		w.config.Retry = time.Second
		inside, last, works := 0, int64(0), 0
		user := func(m *lease.Manager) effect.Effect[unit] {
			return in(m.Acquire(key, lease.Wait()).FlatMap(func(l *lease.Lease) effect.Effect[unit] {
				return l.RunFenced(func(token lease.FencingToken) effect.Effect[unit] {
					return effect.Suspend(func() effect.Effect[unit] {
						works++
						if inside++; inside > 1 || token.Generation < last {
							rt.Fatalf("%d inside, generation %d after %d", inside, token.Generation, last)
						}
						last = token.Generation
						return effect.Sleep(time.Millisecond).Ensuring(effect.YieldNow().AndThen(effect.SyncUnit(func() { inside-- })))
					})
				})
			}))
		}
		program := effect.GenUnit(func(do *effect.Do) {
			managers := []*lease.Manager{w.manager(), w.manager(), w.manager()}
			var fibers []*effect.Fiber[unit]
			for i := range 6 {
				fibers = append(fibers, do.Await(effect.ForkChild(user(managers[i%3]))))
			}
			for i, fb := range fibers {
				if rapid.Bool().Draw(rt, "interrupt") {
					do.Await(effect.Sleep(time.Duration(i) * time.Millisecond / 2))
					do.Await(fb.Interrupt())
				}
			}
			for _, fb := range fibers {
				do.Await(fb.Await())
			}
		})
		out := effect.RunDeterministic(program, effect.DeterministicConfig{
			Order: scope.ExploreOrder, MaxSteps: 500_000,
			Choose: func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "next") },
		})
		if exit, ok := out.Exit.Get(); !ok || exit.IsFailure() {
			rt.Fatalf("%v\n%s", out.Exit, out.Report)
		}
		simulate(t, func(do *effect.Do) {
			if r, ok := do.Await(w.repo.Load(key)).Get(); ok && !r.IsTombstone() {
				rt.Fatalf("left held: %+v", r)
			}
		})
	})
}
