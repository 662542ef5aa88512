package effect_test

import (
	"context"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
)

// On the live runtimes a racer that never really waits keeps nobody from stopping it:
// neither one that yields nor one that only computes.
func TestTimeoutStopsWhatNeverWaits(t *testing.T) {
	var endless func(n int) effect.Effect[effect.Unit]
	endless = func(n int) effect.Effect[effect.Unit] {
		return effect.Succeed(n + 1).FlatMap(endless)
	}
	nothing := effect.SyncUnit(func() {})
	ref := effect.NewRef(0)
	for name, work := range map[string]effect.Effect[effect.Unit]{
		"computes":   endless(0),
		"Forever":    nothing.Forever().AsUnit(),
		"Sleep(0)":   effect.Sleep(0).Forever().AsUnit(),
		"Ref":        ref.Update(func(n int) int { return n + 1 }).Forever().AsUnit(),
		"Repeat":     nothing.Repeat(effect.ScheduleForever()).AsUnit(),
		"in a racer": nothing.Forever().AsUnit().RaceFirst(effect.Never[effect.Unit]()),
		"yields in Gen": effect.GenUnit(func(do *effect.Do) {
			for {
				do.Await(effect.YieldNow())
			}
		}),
		"steps in Gen": effect.GenUnit(func(do *effect.Do) {
			for {
				do.Await(nothing)
			}
		}),
		"in a FiberMap": inFiberMap(nothing.Forever().AsUnit()),
		"in a child":    effect.ForkChild(endless(0), effect.StartImmediately()).FlatMap(func(f *effect.Fiber[effect.Unit]) effect.Effect[effect.Unit] { return f.Join() }),
		"in Each":       effect.ForEachDiscard([]int{1, 2}, func(int, int) effect.Effect[effect.Unit] { return endless(0) }, 2),
	} {
		for runtime, run := range map[string]func(context.Context, effect.Effect[effect.Unit]) (effect.Unit, error){
			"parallel": effect.Run[effect.Unit], "serial": effect.RunSerial[effect.Unit],
		} {
			t.Run(name+"/"+runtime, func(t *testing.T) {
				t.Parallel()
				_, err := run(context.Background(), work.Timeout(20*time.Millisecond))
				if _, ok := errors.AsType[*effect.TimeoutError](err); !ok {
					t.Errorf("it ended with %v", err)
				}
			})
		}
	}
}

func inFiberMap(work effect.Effect[effect.Unit]) effect.Effect[effect.Unit] {
	return effect.Scoped(effect.GenUnit(func(do *effect.Do) {
		m := do.Await(effect.MakeFiberMap[string, effect.Unit]())
		fb := do.Await(m.Run("k", work))
		do.Await(fb.Join())
	}))
}

// A request for no permits waits only while permits are owed; paying the debt
// back wakes it, on both runtimes.
func TestSemaphoreTakeOfNothing(t *testing.T) {
	program := effect.GenUnit(func(do *effect.Do) {
		s := effect.NewSemaphore(2)
		do.Await(s.Take(2))
		do.Await(s.Resize(1))
		fb := do.Await(effect.ForkChild(s.Take(0), effect.StartImmediately()))
		do.Await(s.Release(1))
		do.Await(fb.Join())
	})
	onBoth(t, program, func(t *testing.T, exit scope.Exit[effect.Unit]) { succeeds(t, exit) })
}
