package effect_test

import (
	"slices"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// Programs that fresh differential runs found, as one Go test for each kind.

// An effect that was built once and runs twice is the same both times: an
// interruptible run of acquireRelease must not open the mask of a later one.
func TestAcquireReleaseInterruptibleRunsTwice(t *testing.T) {
	released := 0
	resource := effect.Scoped(effect.AcquireReleaseInterruptible(effect.Succeed(1),
		func(int, scope.Exit[any]) effect.Effect[effect.Unit] {
			return effect.SyncUnit(func() { released++ })
		}))
	program := effect.GenUnit(func(do *effect.Do) {
		do.Await(resource)
		masked := effect.WithFiber(func(f *scope.Fiber) effect.Effect[int] {
			f.Interrupt(f.ID())
			return resource
		}).Uninterruptible()
		do.Await(do.Await(effect.ForkChild(masked)).Await())
	})
	if exit := effect.RunDeterministic(program, effect.DeterministicConfig{}).Exit.MustGet(); exit.IsFailure() {
		t.Fatal(exit)
	}
	if released != 2 {
		t.Errorf("released %d times", released)
	}
}

// A fiber's end runs what interrupts the fiber itself, while it does not sleep:
// a child's observer does. The interruption replaces its exit.
func TestInterruptedByAChildsEnd(t *testing.T) {
	var exit scope.Exit[int]
	program := effect.GenUnit(func(do *effect.Do) {
		var self *effect.Fiber[int]
		self = do.Await(effect.ForkChild(effect.Gen(func(do *effect.Do) int {
			child := do.Await(effect.ForkChild(effect.Never[int]()))
			child.Kernel().Observe(scope.NewObserver(func(*scope.Fiber) { self.InterruptNow(0) }))
			do.Await(effect.YieldNow())
			return 1
		})))
		exit = do.Await(self.Await())
	})
	effect.RunDeterministic(program, effect.DeterministicConfig{})
	if !exit.Cause().HasInterruptsOnly() {
		t.Errorf("ended with %v", exit)
	}
}

// A child of All whose start makes another start the same item leaves its result
// where the iteration is by then, one place further for each such start.
func TestAllPlacesResultsAsTypeScriptDoes(t *testing.T) {
	program := effect.Gen(func(do *effect.Do) []int {
		gate := do.Await(effect.MakeDeferred[int]())
		open := 0
		return do.Await(effect.All([]effect.Effect[int]{
			gate.Await(),
			effect.YieldNow().As(1),
			effect.Suspend(func() effect.Effect[int] {
				open++
				n := open
				return gate.Succeed(0).As(10 * n)
			}),
			effect.YieldNow().As(3),
		}, 2))
	})
	exit := effect.RunDeterministic(program, effect.DeterministicConfig{}).Exit.MustGet()
	got, _ := exit.Value()
	if want := []int{0, 1, 20, 3, 10}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
