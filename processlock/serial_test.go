package processlock_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
)

// K6: fibers of several serial runtimes want one lock. One at a time has it, the others
// wait in line without holding up their runtimes, and one that is interrupted leaves.
func TestK6_OnSerialRuntimes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "daemon.lock")
	const runtimes, each = 3, 5
	inside, turns := 0, 0 // guarded by the lock
	locked := func(e effect.Effect[effect.Unit]) effect.Effect[effect.Unit] {
		return effect.Scoped(processlock.AcquireScoped(path, processlock.Wait()).AndThen(e))
	}
	worker := locked(effect.GenUnit(func(do *effect.Do) {
		inside++
		if inside != 1 {
			t.Errorf("%d are inside", inside)
		}
		do.Await(effect.YieldNow())
		inside--
		turns++
	}))
	work := effect.GenUnit(func(do *effect.Do) {
		holding := do.Await(effect.MakeDeferred[effect.Unit]())
		holder := do.Await(effect.ForkChild(locked(holding.Succeed(effect.Unit{}).AndThen(effect.Never[effect.Unit]()))))
		do.Await(holding.Await().RaceFirst(holder.Join()))
		waiter := do.Await(effect.ForkChild(worker, effect.StartImmediately()))
		do.Await(effect.YieldNow()) // while it waits
		do.Await(waiter.Interrupt())
		do.Await(holder.Interrupt())
		do.Await(effect.ForEachDiscard(make([]int, each), func(int, int) effect.Effect[effect.Unit] { return worker }, effect.Unbounded))
	}).Provide(platform.Live)
	fibers := make([]*effect.Fiber[effect.Unit], runtimes)
	for i := range fibers {
		fibers[i] = effect.RunSerialFork(t.Context(), work)
	}
	for _, fiber := range fibers {
		if _, err := effect.RunSerial(context.Background(), fiber.Join()); err != nil {
			t.Error(err)
		}
	}
	if turns != runtimes*each {
		t.Errorf("%d had their turn", turns)
	}
}
