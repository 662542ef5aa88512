package effect_test

import (
	"errors"
	"runtime"
	"testing"
	"weak"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// payload stands for a result that nobody may keep in memory.
type payload struct{ _ [1 << 10]byte }

// gone tells whether the collector has freed what p led to.
func gone(p weak.Pointer[payload]) bool {
	for range 5 { // what a goroutine that ends still has on its stack
		if runtime.GC(); p.Value() == nil {
			return true
		}
		runtime.Gosched()
	}
	return false
}

// made is an effect that makes a payload and tells where it is.
func made(at *weak.Pointer[payload]) effect.Effect[*payload] {
	return effect.Sync(func() *payload {
		p := new(payload)
		*at = weak.Make(p)
		return p
	})
}

// What lives on keeps nothing of what has ended: a fiber nothing of the fiber, the
// ForEach or the race that it was forked in, a deferred nothing of who has waited, and
// a handle of a fiber that never ran not its program.
func TestWhatHasEndedIsNotKept(t *testing.T) {
	never := effect.Never[effect.Unit]()
	for name, run := range map[string]func(do *effect.Do, at *weak.Pointer[payload]) (kept any){
		"the value of who forked": func(do *effect.Do, at *weak.Pointer[payload]) any {
			var daemon *effect.Fiber[effect.Unit]
			do.Await(do.Await(effect.ForkChild(effect.Gen(func(do *effect.Do) *payload {
				daemon = do.Await(effect.ForkDetach(never))
				return do.Await(made(at))
			}))).Join())
			return daemon
		},
		"the items of a ForEach": func(do *effect.Do, at *weak.Pointer[payload]) any {
			var daemon *effect.Fiber[effect.Unit]
			do.Await(effect.ForEach([]int{0, 1}, func(i, _ int) effect.Effect[*payload] {
				if i != 1 {
					return made(at)
				}
				return effect.Gen(func(do *effect.Do) *payload {
					daemon = do.Await(effect.ForkDetach(never))
					return nil
				})
			}, 2))
			return daemon
		},
		"the winner of a race": func(do *effect.Do, at *weak.Pointer[payload]) any {
			var daemon *effect.Fiber[effect.Unit]
			loser := effect.Gen(func(do *effect.Do) *payload {
				daemon = do.Await(effect.ForkDetach(never))
				do.Await(never)
				return nil
			})
			do.Await(loser.RaceFirst(made(at)))
			return daemon
		},
		"who gave up a wait": func(do *effect.Do, at *weak.Pointer[payload]) any {
			d := effect.NewDeferred[*payload]()
			do.Await(d.Await().RaceFirst(made(at)))
			return d
		},
		"who waited": func(do *effect.Do, at *weak.Pointer[payload]) any {
			d := effect.NewDeferred[effect.Unit]()
			waiter := do.Await(effect.ForkChild(d.Await().FlatMap(func(effect.Unit) effect.Effect[*payload] { return made(at) }), effect.StartImmediately()))
			do.Await(d.Succeed(effect.Unit{}))
			do.Await(waiter.Join())
			return d
		},
		"the program of a fiber that never ran": func(do *effect.Do, at *weak.Pointer[payload]) any {
			s := scope.New(scope.Sequential)
			do.Await(effect.CloseScope(s, scope.ExitSucceed(0)))
			p := do.Await(made(at))
			return do.Await(effect.ForkIn(effect.Sync(func() *payload { return p }), s))
		},
	} {
		t.Run(name, func(t *testing.T) {
			var at weak.Pointer[payload]
			kept := mustRun(t, effect.Gen(func(do *effect.Do) any { return run(do, &at) }))
			if at == (weak.Pointer[payload]{}) {
				t.Fatal("nothing was made")
			}
			if !gone(at) {
				t.Error("it is kept")
			}
			if d, ok := kept.(*effect.Fiber[effect.Unit]); ok {
				d.InterruptNow(0)
			}
			runtime.KeepAlive(kept)
		})
	}
}

// The failures of a race that all lose are collected in linear space.
func TestRaceAllOfManyFailures(t *testing.T) {
	failure := errors.New("no")
	cost := func(n int) uint64 {
		racers := make([]effect.Effect[int], n)
		for i := range racers {
			racers[i] = effect.Fail[int](failure)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c := effect.RunDeterministic(effect.RaceAll(racers...), effect.DeterministicConfig{}).Exit.MustGet().Cause()
		runtime.ReadMemStats(&after)
		if len(c.Reasons()) != n {
			t.Errorf("%d of %d reasons", len(c.Reasons()), n)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	cost(100)
	if few, many := cost(1000), cost(8000); many > 16*few {
		t.Errorf("8 times as many racers take %.1f times the memory", float64(many)/float64(few))
	}
}
