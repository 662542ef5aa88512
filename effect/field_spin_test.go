package effect_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
)

// spinners are programs that never wait for anything but their turn.
func spinners() map[string]effect.Effect[effect.Unit] {
	var endless func(n int) effect.Effect[effect.Unit]
	endless = func(n int) effect.Effect[effect.Unit] {
		return effect.Succeed(n + 1).FlatMap(endless)
	}
	nothing := effect.SyncUnit(func() {})
	return map[string]effect.Effect[effect.Unit]{
		"computes": endless(0),
		"Forever":  nothing.Forever().AsUnit(),
		"yields in Gen": effect.GenUnit(func(do *effect.Do) {
			for {
				do.Await(effect.YieldNow())
			}
		}),
		"steps in Gen": effect.GenUnit(func(do *effect.Do) {
			for {
				do.Await(effect.Void())
			}
		}),
		"Eventually": effect.Fail[effect.Unit](errors.New("no")).Eventually(),
		"masked part": effect.GenUnit(func(do *effect.Do) {
			for {
				do.Await(nothing.Uninterruptible())
			}
		}),
		"in a child": effect.ForkChild(endless(0)).FlatMap(func(f *effect.Fiber[effect.Unit]) effect.Effect[effect.Unit] { return f.Join() }),
		"two":        effect.AllDiscard([]effect.Effect[effect.Unit]{endless(0), nothing.Forever().AsUnit()}, effect.Unbounded),
	}
}

// onEach runs a program on every runtime and order.
func onEach[A any](t *testing.T, program func() effect.Effect[A], check func(t *testing.T, exit scope.Exit[A])) {
	t.Helper()
	for name, o := range map[string]effect.DeterministicConfig{
		"effect order":  {},
		"explore order": {Order: scope.ExploreOrder, Choose: rand.New(rand.NewPCG(1, 0)).IntN},
		"preempted":     {Order: scope.ExploreOrder, Choose: rand.New(rand.NewPCG(2, 0)).IntN, Preempt: true},
	} {
		t.Run(name, func(t *testing.T) {
			out := effect.RunDeterministic(program(), o)
			exit, ended := out.Exit.Get()
			if !ended {
				t.Fatalf("never ended: %v", out.Report)
			}
			check(t, exit)
		})
	}
	t.Run("parallel", func(t *testing.T) { check(t, effect.RunExit(context.Background(), program())) })
}

// F64: the timeout of a loop that never waits fires.
func TestF64_TimeoutOfALoopThatNeverWaits(t *testing.T) {
	for name, loop := range spinners() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEach(t, func() effect.Effect[effect.Unit] { return loop.Timeout(50 * time.Millisecond) }, func(t *testing.T, exit scope.Exit[effect.Unit]) {
				if _, ok := errors.AsType[*effect.TimeoutError](exit.Err()); !ok {
					t.Fatal(exit)
				}
			})
		})
	}
}

// F64: a loop that never waits, not even for its turn, keeps nobody else from
// running: who polls sees what another fiber that is ready does.
func TestF64_PollingLoopStarvesNobody(t *testing.T) {
	onEach(t, func() effect.Effect[int] {
		said := effect.NewRef(0)
		return effect.Gen(func(do *effect.Do) int {
			do.Await(effect.ForkChild(effect.YieldNow().AndThen(said.Set(7))))
			for {
				if v := do.Await(said.Get()); v != 0 {
					return v
				}
			}
		})
	}, func(t *testing.T, exit scope.Exit[int]) {
		if v, ok := exit.Value(); !ok || v != 7 {
			t.Fatal(exit)
		}
	})
}

// F64: a loop that never waits sees what Go code beside it completes, and a timer
// that was set for later does not come first while that is under way.
func TestF64_PollingLoopBesideBlocking(t *testing.T) {
	said := effect.NewRef(0)
	program := effect.Gen(func(do *effect.Do) time.Duration {
		do.Await(effect.ForkChild(effect.Blocking(func(context.Context) (int, error) {
			time.Sleep(10 * time.Millisecond)
			return 7, nil
		}).FlatMap(said.Set)))
		do.Await(effect.ForkChild(effect.Sleep(time.Hour)))
		for do.Await(said.Get()) == 0 {
			do.Await(effect.YieldNow())
		}
		return do.Await(effect.Monotonic())
	})
	out := effect.RunDeterministic(program, effect.DeterministicConfig{})
	if v, ok := out.Exit.MustGet().Value(); !ok || v != 0 {
		t.Fatal(out.Exit)
	}
}

// A computation that takes many steps and ends is not overtaken by its timeout.
func TestF64_LongComputationUnderATimeout(t *testing.T) {
	onEach(t, func() effect.Effect[int] {
		return effect.Gen(func(do *effect.Do) int {
			n := 0
			for range 100_000 {
				n += do.Await(effect.Succeed(1))
			}
			return n
		}).Timeout(time.Minute)
	}, func(t *testing.T, exit scope.Exit[int]) {
		if v, ok := exit.Value(); !ok || v != 100_000 {
			t.Fatal(exit)
		}
	})
}
