package effect_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// A function of ForEach's that calls Goexit ends the iteration with a defect, wherever
// it is called from: before anything runs, while the first items are started, or on
// the goroutine of an item that has ended. Nothing that was started outlives it.
func TestForEachFunctionThatExits(t *testing.T) {
	for exits := range 4 {
		t.Run(fmt.Sprint(exits), func(t *testing.T) {
			program := effect.Gen(func(do *effect.Do) bool {
				started, ended := effect.NewRef(0), effect.NewRef(0)
				gate := effect.NewDeferred[effect.Unit]()
				items := []int{0, 1, 2, 3}
				fiber := do.Await(effect.ForkDetach(effect.ForEach(items, func(item, _ int) effect.Effect[effect.Unit] {
					if item == exits {
						runtime.Goexit()
					}
					work := effect.Never[effect.Unit]()
					if item == 0 || item == 2 {
						work = gate.Await()
					}
					return started.Update(func(n int) int { return n + 1 }).
						AndThen(work).
						Ensuring(ended.Update(func(n int) int { return n + 1 }))
				}, 2)))
				do.Await(gate.Succeed(effect.Unit{}))
				exit := do.Await(fiber.Await())
				if !slices.ContainsFunc(exit.Cause().Reasons(), func(r scope.Reason) bool {
					die, ok := r.(scope.Die)
					return ok && die.Defect == any(scope.Exited{})
				}) {
					t.Errorf("the exit is %v", exit)
				}
				if s, e := do.Await(started.Get()), do.Await(ended.Get()); s != e {
					t.Errorf("%d items have started, %d ended", s, e)
				}
				return true
			})
			onBoth(t, program, succeeds)
		})
	}
}

// While the first item 3 starts, item 1 ends and has item 3 made a second time, which
// panics. What ends well inside its start stands over what was known, as in
// TypeScript, but a defect of the function is not forgotten.
func TestForEachPanicInsideAStart(t *testing.T) {
	out := effect.RunDeterministic(effect.GenUnit(func(do *effect.Do) {
		var gates [3]*effect.Deferred[effect.Unit]
		for i := range gates {
			gates[i] = effect.NewDeferred[effect.Unit]()
		}
		calls := 0
		fiber := do.Await(effect.ForkDetach(effect.ForEachDiscard(make([]int, 4), func(_, i int) effect.Effect[effect.Unit] {
			calls++
			switch {
			case calls == 5:
				panic("item")
			case i == 3:
				return effect.SyncUnit(func() { gates[1].CompleteNow(effect.Void()) })
			}
			return gates[i].Await()
		}, 3).Uninterruptible(), effect.StartImmediately()))
		gates[0].CompleteNow(effect.Void())
		gates[2].CompleteNow(effect.Void())
		exit := do.Await(fiber.Await())
		if die, ok := exit.Cause().Defect(); !ok || die.Defect != "item" {
			t.Errorf("after %d calls the exit is %v", calls, exit)
		}
	}), effect.DeterministicConfig{})
	if out.Exit.IsAbsent() || len(out.Stuck) > 0 {
		t.Errorf("%v", out.Report)
	}
}
