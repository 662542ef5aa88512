package effect_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// An item that is made while the iteration is being interrupted can be interrupted:
// it does not inherit the mask in which the iteration puts itself in order.
func TestForEachItemMadeDuringItsInterruption(t *testing.T) {
	gate, inFn := effect.NewDeferred[effect.Unit](), make(chan struct{})
	fiber := effect.RunFork(context.Background(), effect.WithFiber(func(f *scope.Fiber) effect.Effect[effect.Unit] {
		return effect.ForEachDiscard([]int{0, 1, 2}, func(item, _ int) effect.Effect[effect.Unit] {
			switch item {
			case 0:
				return gate.Await()
			case 1:
				// Runs when the iteration has nothing left to do but wait: before, it
				// might call this function itself, whose masks it does not enter then.
				return effect.SyncUnit(func() { gate.CompleteNow(effect.Void()) }).AndThen(effect.Never[effect.Unit]())
			default: // on item 0's goroutine
				close(inFn)
				for f.Interruptible() {
					runtime.Gosched()
				}
				return effect.Never[effect.Unit]()
			}
		}, 2)
	}))
	<-inFn
	fiber.InterruptNow(1)
	exit := effect.RunExit(context.Background(), fiber.Await())
	if v, _ := exit.Value(); !v.Cause().HasInterruptsOnly() {
		t.Errorf("the exit is %v", exit)
	}
}

// A function that panics while an interruption is pending leaves nothing running.
func TestForEachPanicWhileInterrupted(t *testing.T) {
	var ended atomic.Bool
	fiber := effect.RunFork(context.Background(), effect.WithFiber(func(f *scope.Fiber) effect.Effect[effect.Unit] {
		runs := make(chan struct{})
		return effect.ForEachDiscard([]int{0, 1}, func(item, _ int) effect.Effect[effect.Unit] {
			if item == 1 {
				<-runs
				f.Interrupt(0) // as any other goroutine may just now
				panic("boom")
			}
			return effect.SyncUnit(func() { close(runs) }).
				AndThen(effect.Never[effect.Unit]()).
				Ensuring(effect.SyncUnit(func() { ended.Store(true) }))
		}, 2)
	}))
	effect.RunExit(context.Background(), fiber.Await())
	if !ended.Load() {
		t.Error("an item runs on")
	}
}

// The function may wait for any item that was made before, also where it is called on
// the goroutine of one that has ended while another one's end waits to be heard.
func TestForEachFunctionWaitsForAnItem(t *testing.T) {
	gates := [2]*effect.Deferred[effect.Unit]{effect.NewDeferred[effect.Unit](), effect.NewDeferred[effect.Unit]()}
	ended1, ran2 := make(chan struct{}), make(chan struct{})
	fiber := effect.RunFork(context.Background(), effect.ForEachDiscard([]int{0, 1, 2, 3}, func(item, _ int) effect.Effect[effect.Unit] {
		switch item {
		case 0:
			return gates[0].Await()
		case 1:
			return effect.WithFiber(func(f *scope.Fiber) effect.Effect[effect.Unit] {
				// It comes after the iteration's own.
				f.Observe(scope.NewObserver(func(*scope.Fiber) { close(ended1) }))
				gates[0].CompleteNow(effect.Void())
				return gates[1].Await()
			})
		case 2:
			gates[1].CompleteNow(effect.Void())
			<-ended1
			return effect.SyncUnit(func() { close(ran2) })
		default:
			<-ran2
			return effect.Void()
		}
	}, 2))
	effect.RunExit(context.Background(), fiber.Await())
}

// What the items' finalizers die of is in the cause when the function panics.
func TestForEachPanicReportsFinalizers(t *testing.T) {
	fin := errors.New("finalizer")
	for range 300 {
		var parked atomic.Int32
		gate := effect.NewDeferred[effect.Unit]()
		exit := effect.RunExit(context.Background(), effect.ForEachDiscard(make([]int, 5), func(_, i int) effect.Effect[effect.Unit] {
			switch i {
			case 0:
				return gate.Await()
			case 4:
				panic("boom")
			}
			return effect.SyncUnit(func() {
				if parked.Add(1) == 3 {
					gate.CompleteNow(effect.Void())
				}
			}).AndThen(effect.Never[effect.Unit]()).Ensuring(effect.Die[effect.Unit](fin))
		}, 4))
		if !slices.ContainsFunc(exit.Cause().Reasons(), func(r scope.Reason) bool {
			die, ok := r.(scope.Die)
			return ok && die.Defect == any(fin)
		}) {
			t.Fatalf("the exit is %v", exit)
		}
	}
}

// The defect of an item is the iteration's.
func TestForEachDefectIsHeard(t *testing.T) {
	out := effect.RunDeterministic(effect.ForEachDiscard(make([]int, 2), func(int, int) effect.Effect[effect.Unit] {
		return effect.SyncUnit(func() { panic("boom") })
	}, 2), effect.DeterministicConfig{})
	if len(out.Unheard) > 0 {
		t.Errorf("unheard: %v", out.Unheard)
	}
}

// Racers that end beside the race's interruption (for the race detector).
func TestRaceInterruptedWhileRacersEnd(t *testing.T) {
	for i := range 2000 {
		fiber := effect.RunFork(context.Background(), effect.YieldNow().RaceFirst(effect.Never[effect.Unit]()))
		for range i % 30 {
			runtime.Gosched()
		}
		fiber.InterruptNow(1)
		effect.RunExit(context.Background(), fiber.Await())
	}
}

// The iteration's own goroutine takes in that an item has ended, and the function calls
// Goexit there: what was started ends with the iteration.
func TestForEachExitsOnTheIterationsGoroutine(t *testing.T) {
	told, runs := make(chan struct{}), make(chan struct{})
	var ended atomic.Bool
	fiber := effect.RunFork(context.Background(), effect.ForEachDiscard([]int{0, 1, 2}, func(item, _ int) effect.Effect[effect.Unit] {
		switch item {
		case 0:
			return effect.Direct(func(f *scope.Fiber) (effect.Unit, *scope.Cause) {
				// After the iteration's own observer.
				f.Observe(scope.NewObserver(func(*scope.Fiber) { close(told) }))
				return effect.Unit{}, nil
			})
		case 1:
			<-told // the iteration is at work: the end of item 0 is left to it
		case 2:
			<-runs
			runtime.Goexit()
		}
		return effect.SyncUnit(func() { close(runs) }).
			AndThen(effect.Never[effect.Unit]()).
			Ensuring(effect.SyncUnit(func() { ended.Store(true) }))
	}, 2))
	effect.RunExit(context.Background(), fiber.Await())
	if !ended.Load() {
		t.Error("an item runs on")
	}
}
