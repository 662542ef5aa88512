package effect_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// A panic in what Gen awaits is a failure like another: recovering does not undo it,
// a deferred Await runs, and a Gen around it goes on as it should.
func TestPanicOfAnAwaitedEffect(t *testing.T) {
	boom := effect.Sync(func() int { panic("boom") })
	recovering := effect.Gen(func(do *effect.Do) int {
		func() {
			defer func() { _ = recover() }()
			do.Await(boom)
		}()
		return 1
	})
	cleaned := false
	cleaning := effect.Gen(func(do *effect.Do) int {
		defer func() { do.Await(effect.SyncUnit(func() { cleaned = true })) }()
		panic("boom")
	})
	for name, e := range map[string]effect.Effect[int]{
		"recovered": recovering,
		"deferred": effect.Gen(func(do *effect.Do) int {
			defer func() { do.Await(effect.Void()) }()
			return do.Await(boom)
		}),
		"cleaned": cleaning,
		"around": effect.Gen(func(do *effect.Do) int {
			do.Await(effect.Result(recovering))
			return do.Await(boom)
		}),
	} {
		exit := effect.RunExit(context.Background(), e)
		if die, ok := exit.Cause().Defect(); !ok || die.Defect != "boom" {
			t.Errorf("%s: the exit is %v", name, exit)
		}
	}
	if !cleaned {
		t.Error("the deferred Await did not run")
	}
}

// Code that recovers from a panic of an evaluation of its own breaks no Gen around it.
func TestDirectCodeThatRecovers(t *testing.T) {
	direct := effect.Direct(func(f *scope.Fiber) (int, *scope.Cause) {
		defer func() { _ = recover() }()
		return effect.RunOn(f, effect.Sync(func() int { panic("boom") }))
	})
	n := mustRun(t, effect.Gen(func(do *effect.Do) int { return do.Await(direct) + do.Await(effect.Sync(func() int { return 1 })) }))
	if n != 1 {
		t.Errorf("got %d", n)
	}
}

// A Goexit in what Gen awaits runs the function's defers, which may await.
func TestGoexitInAnAwaitedEffect(t *testing.T) {
	cleaned := false
	fiber := effect.RunFork(context.Background(), effect.GenUnit(func(do *effect.Do) {
		defer func() { do.Await(effect.SyncUnit(func() { cleaned = true })) }()
		do.Await(effect.SyncUnit(runtime.Goexit))
	}))
	effect.RunExit(context.Background(), fiber.Await())
	if !cleaned {
		t.Error("the deferred Await did not run")
	}
}
