package proptest

import (
	"fmt"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
	"pgregory.net/rapid"
)

// exclusion lets fibers hold one fence in schedules that rapid draws; some give
// up while they wait.
func (s *repositorySuite) exclusion() {
	s.Helper()
	open := s.place()
	handles := []lease.Repository{s.opened(open), s.opened(open)}
	run := 0
	rapid.Check(s.TB, func(t *rapid.T) {
		patience := rapid.SliceOfN(rapid.IntRange(0, 4), 2, 4).Draw(t, "milliseconds until each gives up (0: never)")
		got := explore(t, func(choose scope.Chooser) error {
			run++
			key := fmt.Sprint("fence ", run)
			inside := 0
			return simulate(deterministicSchedules(choose), func(do *effect.Do) {
				work := effect.Suspend(func() effect.Effect[effect.Unit] {
					if inside++; inside > 1 {
						return effect.Fail[effect.Unit](violated("R1: two hold the fence of one key at the same time"))
					}
					return effect.Sleep(time.Millisecond)
				}).Ensuring(effect.SyncUnit(func() { inside-- }))
				do.Await(effect.ForEachDiscard(patience, func(ms, i int) effect.Effect[effect.Unit] {
					turn := effect.Scoped(handles[i%2].Fence(key).AndThen(work))
					if ms > 0 {
						return effect.TimeoutOption(turn, time.Duration(ms)*time.Millisecond).AsUnit()
					}
					return turn
				}, effect.Unbounded))
				for _, r := range handles {
					if do.Await(effect.TimeoutOption(effect.Scoped(r.Fence(key)), time.Minute)).IsAbsent() {
						do.Fail(violated("R1: a fence that nobody holds any more is not free"))
					}
				}
			})
		})
		if got.result != nil {
			t.Fatalf("%v", got.result)
		}
	})
}

// otherKeys holds one key's fence and takes another's.
func (s *repositorySuite) otherKeys() {
	s.Helper()
	open := s.place()
	a, b := s.opened(open), s.opened(open)
	s.simulate(func(do *effect.Do) {
		free := func(r lease.Repository, key string) bool {
			return do.Await(effect.TimeoutOption(effect.Scoped(r.Fence(key)), time.Minute)).IsPresent()
		}
		held := scope.New(scope.Sequential)
		mustEnd(do, "Fence", a.Fence("one").ProvideScope(held))
		for name, r := range map[string]lease.Repository{"the same": a, "another": b} {
			if !free(r, "two") {
				do.Fail(violated("R1: while the fence of one key is held, another key's cannot be taken on %s handle: a fence must be of one key", name))
			}
			if free(r, "one") {
				do.Fail(violated("R1: two hold the fence of one key at the same time, the second on %s handle", name))
			}
		}
		do.Await(effect.CloseScope(held, scope.ExitSucceed(0)))
		if !free(b, "one") || !free(a, "one") {
			do.Fail(violated("R1: a fence is not free after the scope of its holder has closed"))
		}
	})
}

// interruption interrupts load, save and fence at every step, and looks whether
// the repository goes on.
func (s *repositorySuite) interruption() {
	s.Helper()
	open := s.place()
	a, b := s.opened(open), s.opened(open)
	run := 0
	for _, stepping := range []bool{false, true} {
		key := ""
		program := func() effect.Effect[effect.Unit] {
			run++
			key = fmt.Sprint("step ", run)
			first := heldRecord(key, 1, 1, "x")
			return effect.Scoped(effect.GenUnit(func(do *effect.Do) {
				do.Await(a.Save(key, first, mo.None[int64]()))
				waiter := do.Await(effect.ForkChild(effect.Scoped(b.Fence(key))))
				do.Await(effect.Scoped(effect.GenUnit(func(do *effect.Do) {
					do.Await(a.Fence(key))
					stored := do.Await(a.Load(key))
					do.Await(b.Save(key, tombstone(first), revisionOf(stored)))
				})))
				do.Await(waiter.Join())
			}))
		}
		err := effect.InterruptEverywhere(program, effect.EverywhereConfig{Stepping: stepping}, func(step int, out effect.RunReport[effect.Unit]) error {
			exit, ended := out.Exit.Get()
			switch {
			case !ended:
				return violated("R1: it does not end\n%v", out.Report)
			case step == 0 && exit.IsFailure():
				return violated("R1: without any interruption: %v", exit.Err())
			case exit.IsFailure() && !exit.Cause().HasInterruptsOnly():
				return violated("R1: an interrupted call failed: %v", exit.Cause())
			}
			return simulate(effect.DeterministicConfig{}, func(do *effect.Do) { s.afterwards(do, a, b, key) })
		})
		if err != nil {
			s.Fatalf("%v", err)
		}
	}
}

// afterwards uses the key on both handles as if nothing had happened.
func (s *repositorySuite) afterwards(do *effect.Do, a, b lease.Repository, key string) {
	stored := mustEnd(do, "R1: a Load after an interruption", b.Load(key))
	first := heldRecord(key, 1, 1, "x")
	if stored.IsPresent() && stored != mo.Some(first) && stored != mo.Some(tombstone(first)) {
		do.Fail(violated("R1: after an interruption stored is %s, which nobody saved", show(stored)))
	}
	old := stored.OrEmpty()
	next := heldRecord(key, old.Generation+1, old.Revision+1, "y")
	mustEnd(do, "R1: a Save after an interruption", b.Save(key, next, revisionOf(stored)))
	do.Check(checkLoaded(mo.Some(next), mustEnd(do, "R1: a Load after an interruption", a.Load(key))))
	for _, r := range []lease.Repository{a, b} {
		if do.Await(effect.TimeoutOption(effect.Scoped(r.Fence(key)), time.Minute)).IsAbsent() {
			do.Fail(violated("R1: a fence whose holder or waiter was interrupted is not free"))
		}
	}
}
