package effect_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// On the parallel runtime fibers end side by side: JoinAll has every result, or
// the failure of one of them, and an interrupted JoinAll ends.
func TestJoinAllParallel(t *testing.T) {
	const n = 16
	fork := func(do *effect.Do, e func(i int) effect.Effect[int]) []*effect.Fiber[int] {
		fibers := make([]*effect.Fiber[int], n)
		for i := range fibers {
			fibers[i] = do.Await(effect.ForkChild(effect.YieldNow().FlatMap(func(effect.Unit) effect.Effect[int] { return e(i) })))
		}
		return fibers
	}
	got, err := effect.Run(context.Background(), effect.Gen(func(do *effect.Do) []int {
		return do.Await(effect.JoinAll(fork(do, effect.Succeed[int])...))
	}))
	if err != nil || len(got) != n {
		t.Fatalf("%v, %v", got, err)
	}
	for i, v := range got {
		if i != v {
			t.Fatalf("%v", got)
		}
	}
	boom := errors.New("boom")
	_, err = effect.Run(context.Background(), effect.Gen(func(do *effect.Do) []int {
		return do.Await(effect.JoinAll(fork(do, func(i int) effect.Effect[int] {
			if i%3 == 2 {
				return effect.Fail[int](boom)
			}
			return effect.Succeed(i)
		})...))
	}))
	if !errors.Is(err, boom) {
		t.Fatal(err)
	}
	exit := effect.RunExit(context.Background(), effect.Gen(func(do *effect.Do) scope.Exit[[]int] {
		fibers := fork(do, func(i int) effect.Effect[int] {
			if i == 0 {
				return effect.Never[int]()
			}
			return effect.Succeed(i)
		})
		j := do.Await(effect.ForkChild(effect.JoinAll(fibers...), effect.StartImmediately()))
		do.Await(j.Interrupt())
		return do.Await(j.Await())
	}))
	if x, ok := exit.Value(); !ok || !x.Cause().HasInterruptsOnly() {
		t.Fatal(exit)
	}
}

// An interruption of JoinAll at any step leaves no observer behind: the later
// defect of a fiber that it waited for counts as observed by nobody.
func TestJoinAllInterruptedEverywhere(t *testing.T) {
	ran := false
	program := func() effect.Effect[[]int] {
		ran = false
		return effect.Gen(func(do *effect.Do) []int {
			a := do.Await(effect.ForkDetach(effect.YieldNow().As(1)))
			b := do.Await(effect.ForkDetach(effect.SyncUnit(func() { ran = true }).
				AndThen(effect.Sleep(10)).AndThen(effect.Die[int]("later"))))
			return do.Await(effect.JoinAll(a, b))
		})
	}
	err := effect.InterruptEverywhere(program, effect.EverywhereConfig{}, func(step int, out effect.RunReport[[]int]) error {
		exit, ended := out.Exit.Get()
		if !ended || exit.IsSuccess() {
			return fmt.Errorf("%v", out.Exit)
		}
		if heard := exit.Cause().HasDies() || !ran; heard != (len(out.Unheard) == 0) {
			return fmt.Errorf("exit %v, unheard %v", exit, out.Unheard)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Children of a concurrent FilterMapEffect end side by side; none is lost.
func TestFilterMapEffectParallel(t *testing.T) {
	items := make([]int, 64)
	for i := range items {
		items[i] = i
	}
	got, err := effect.Run(context.Background(), effect.FilterMapEffect(items, func(i int) effect.Effect[mo.Option[int]] {
		return effect.YieldNow().As(mo.EmptyableToOption(i % 2))
	}, 8))
	if err != nil || len(got) != 32 {
		t.Fatalf("%d, %v", len(got), err)
	}
}

// OpenNow from a goroutine of its own, while fibers wait, leave and are let
// through: every one ends.
func TestLatchOpenNowFromOutside(t *testing.T) {
	gate := effect.NewLatch(false)
	asleep := make(chan struct{})
	done := make(chan bool)
	go func() {
		<-asleep
		done <- gate.OpenNow()
	}()
	_, err := effect.Run(context.Background(), effect.GenUnit(func(do *effect.Do) {
		var fibers []effect.AnyFiber
		var leaves *effect.Fiber[effect.Unit]
		for i := range 8 {
			fb := do.Await(effect.ForkChild(gate.Await(), effect.StartImmediately()))
			if i == 3 {
				leaves = fb
			}
			fibers = append(fibers, fb)
		}
		close(asleep)
		do.Await(gate.Release())
		do.Await(leaves.Interrupt())
		do.Await(effect.AwaitAll(fibers...))
	}))
	if err != nil || !<-done {
		t.Fatal(err)
	}
}
