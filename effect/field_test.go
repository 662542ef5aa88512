package effect_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// F25: the middle one of five finalizers panics, or calls Goexit. All run, in
// order, and the defect is reported; the same for parallel scopes.
func TestF25FinalizersThatPanicOrExit(t *testing.T) {
	for _, strategy := range []scope.Strategy{scope.Sequential, scope.Parallelly} {
		for name, middle := range map[string]func(){
			"panic":  func() { panic("boom") },
			"Goexit": runtime.Goexit,
		} {
			t.Run(fmt.Sprintf("%d/%s", strategy, name), func(t *testing.T) {
				var mu sync.Mutex
				var ran []int
				program := effect.GenUnit(func(do *effect.Do) {
					s := do.Await(effect.MakeScope(strategy))
					for i := range 5 {
						do.Await(effect.AddFinalizerTo(s, func(scope.Exit[any]) effect.Effect[effect.Unit] {
							return effect.SyncUnit(func() {
								mu.Lock()
								ran = append(ran, i)
								mu.Unlock()
								if i == 2 {
									middle()
								}
							})
						}))
					}
					do.Await(effect.CloseScope(s, scope.ExitSucceed(1)))
				})
				check := func(runtime string, c *scope.Cause) {
					t.Helper()
					if strategy == scope.Parallelly {
						slices.Sort(ran)
						slices.Reverse(ran)
					}
					if !slices.Equal(ran, []int{4, 3, 2, 1, 0}) {
						t.Errorf("%s: ran %v", runtime, ran)
					}
					if !c.HasDies() {
						t.Errorf("%s: the defect is lost: %v", runtime, c)
					}
					ran = nil
				}
				out := effect.RunDeterministic(program, effect.DeterministicConfig{})
				check("deterministic", out.Exit.MustGet().Cause())
				fb := effect.RunFork(context.Background(), program)
				exit, err := effect.Run(context.Background(), fb.Await())
				if err != nil {
					t.Fatal(err)
				}
				check("parallel", exit.Cause())
			})
		}
	}
}

// F28: two racers complete at the same moment. The loser's finalizers have run
// when the race returns, and never more are alive than there are racers.
func TestF28RacersThatEndTogether(t *testing.T) {
	rounds := 5000
	if testing.Short() {
		rounds = 500
	}
	var alive, most atomic.Int32
	racer := func(gate *effect.Deferred[int]) effect.Effect[int] {
		return effect.AcquireUseRelease(
			effect.SyncUnit(func() {
				n := alive.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
			}),
			func(effect.Unit) effect.Effect[int] { return gate.Await() },
			func(effect.Unit, scope.Exit[int]) effect.Effect[effect.Unit] {
				return effect.SyncUnit(func() { alive.Add(-1) })
			})
	}
	program := effect.GenUnit(func(do *effect.Do) {
		for i := range rounds {
			gate := do.Await(effect.MakeDeferred[int]())
			opener := do.Await(effect.ForkChild(gate.Succeed(i)))
			if got := do.Await(racer(gate).RaceFirst(racer(gate))); got != i {
				do.Fail(fmt.Errorf("round %d gave %d", i, got))
			}
			if n := alive.Load(); n != 0 {
				do.Fail(fmt.Errorf("round %d: %d alive after the race", i, n))
			}
			do.Await(opener.Join())
		}
	})
	if _, err := effect.Run(context.Background(), program); err != nil {
		t.Fatal(err)
	}
	if most.Load() > 2 {
		t.Fatalf("%d racers were alive at once", most.Load())
	}
}

// F29: a fiber is interrupted at the moment it parks, before, and while it is
// woken. It ends, once.
func TestF29InterruptedAroundAPark(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	program := effect.GenUnit(func(do *effect.Do) {
		for i := range rounds {
			d := do.Await(effect.MakeDeferred[int]())
			var ends atomic.Int32
			fb := do.Await(effect.ForkChild(d.Await().Ensuring(effect.SyncUnit(func() { ends.Add(1) })), effect.StartImmediately()))
			waker := do.Await(effect.ForkChild(d.Succeed(i), effect.StartImmediately()))
			do.Await(fb.Interrupt())
			do.Await(waker.Join())
			exit, _ := fb.Exited()
			if v, ok := exit.Value(); ok && v != i || !ok && !exit.Cause().HasInterruptsOnly() {
				do.Fail(fmt.Errorf("round %d: %v", i, exit))
			}
			if n := ends.Load(); n > 1 || n == 0 && exit.IsSuccess() {
				do.Fail(fmt.Errorf("round %d ended %d times", i, n))
			}
		}
	})
	if _, err := effect.Run(context.Background(), program); err != nil {
		t.Fatal(err)
	}
}

// F30: many waiters, some interrupted while it completes. Every other one wakes,
// none twice, and no permit is lost.
func TestF30ManyWaiters(t *testing.T) {
	const waiters, rounds = 64, 30
	program := effect.GenUnit(func(do *effect.Do) {
		for round := range rounds {
			d := do.Await(effect.MakeDeferred[int]())
			s := do.Await(effect.MakeSemaphore(3))
			var woken atomic.Int32
			wait := d.Await().Tap(func(int) effect.Effect[effect.Unit] { return effect.SyncUnit(func() { woken.Add(1) }) })
			var fibers []*effect.Fiber[int]
			for i := range waiters {
				e := wait
				if i%2 == 0 {
					e = s.WithPermits(1+i%3, wait)
				}
				fibers = append(fibers, do.Await(effect.ForkChild(e, effect.StartImmediately())))
			}
			killer := do.Await(effect.ForkChild(effect.ForEachDiscard(fibers, func(fb *effect.Fiber[int], i int) effect.Effect[effect.Unit] {
				if i%5 == 0 {
					return fb.Interrupt()
				}
				return effect.Void()
			}, 8)))
			do.Await(d.Succeed(round))
			do.Await(killer.Join())
			succeeded := int32(0)
			for i, fb := range fibers {
				exit := do.Await(fb.Await())
				if exit.IsSuccess() {
					succeeded++
				} else if i%5 != 0 {
					do.Fail(fmt.Errorf("round %d: fiber %d ended with %v", round, i, exit))
				}
			}
			if woken.Load() < succeeded || s.Free() != 3 {
				do.Fail(fmt.Errorf("round %d: woken %d, succeeded %d, free %d", round, woken.Load(), succeeded, s.Free()))
			}
		}
	})
	if _, err := effect.Run(context.Background(), program); err != nil {
		t.Fatal(err)
	}
}

// F32: a panic on a fiber that nobody joins is reported, the program goes on and
// the fiber's scope closes.
func TestF32PanicOnAnUnobservedFiber(t *testing.T) {
	closed := false
	program := effect.GenUnit(func(do *effect.Do) {
		do.Await(effect.ForkDetach(effect.Scoped(
			effect.AddFinalizer(func(scope.Exit[any]) effect.Effect[effect.Unit] {
				return effect.SyncUnit(func() { closed = true })
			}).AndThen(effect.SyncUnit(func() { panic("lost") })))))
		do.Await(effect.Sleep(time.Second))
	})
	out := effect.RunDeterministic(program, effect.DeterministicConfig{})
	if !closed || out.Exit.MustGet().IsFailure() {
		t.Fatalf("closed %t, exit %v", closed, out.Exit)
	}
	if len(out.Unheard) != 1 {
		t.Fatalf("unheard: %v", out.Unheard)
	}
	die, _ := out.Unheard[0].Cause.Defect()
	if die.Defect != "lost" || len(die.Stack()) == 0 {
		t.Fatalf("defect %v, stack %d bytes", die.Defect, len(die.Stack()))
	}
}

// F33: ten thousand forks, races, timeouts and interrupts leave no goroutine.
func TestF33NothingIsLeft(t *testing.T) {
	n := 10_000
	if testing.Short() {
		n = 1000
	}
	before := runtime.NumGoroutine()
	ready := effect.Succeed(1)
	one := func(i int) effect.Effect[effect.Unit] {
		switch i % 4 {
		case 0:
			return effect.ForkChild(ready).FlatMap(func(fb *effect.Fiber[int]) effect.Effect[int] { return fb.Join() }).AsUnit()
		case 1:
			return ready.RaceFirst(effect.Never[int]()).AsUnit()
		case 2:
			return effect.Never[int]().TimeoutOrElse(time.Microsecond, func() effect.Effect[int] { return ready }).AsUnit()
		default:
			return effect.ForkChild(effect.Never[int]()).FlatMap(func(fb *effect.Fiber[int]) effect.Effect[effect.Unit] { return fb.Interrupt() })
		}
	}
	items := make([]int, n)
	for i := range items {
		items[i] = i
	}
	if _, err := effect.Run(context.Background(), effect.ForEachDiscard(items, func(i, _ int) effect.Effect[effect.Unit] { return one(i) }, 16)); err != nil {
		t.Fatal(err)
	}
	// Ended fibers' goroutines leave right after their exit is published; wait
	// for them by giving them the processor, bounded.
	for i := 0; runtime.NumGoroutine() > before && i < 1_000_000; i++ {
		runtime.Gosched()
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Fatalf("%d goroutines before, %d after", before, after)
	}
}

// A right-nested chain of 10^7 and a left-nested one of 10^6 run; one that is
// too deep gives a defect.
func TestDepth(t *testing.T) {
	var loop func(n int) effect.Effect[int]
	loop = func(n int) effect.Effect[int] {
		if n == 0 {
			return effect.Succeed(7)
		}
		return effect.Succeed(n - 1).FlatMap(loop)
	}
	right := 10_000_000
	if testing.Short() {
		right = 1_000_000
	}
	if v, err := effect.Run(context.Background(), loop(right)); v != 7 || err != nil {
		t.Fatalf("right-nested: %d, %v", v, err)
	}
	left := effect.Succeed(0)
	for range 1_000_000 {
		left = left.FlatMap(func(i int) effect.Effect[int] { return effect.Succeed(i + 1) })
	}
	if v, err := effect.Run(context.Background(), left); v != 1_000_000 || err != nil {
		t.Fatalf("left-nested: %d, %v", v, err)
	}
	// Built as it runs, so that it takes no memory beforehand: 10^8 levels.
	var dig func(n int) effect.Effect[int]
	dig = func(n int) effect.Effect[int] {
		if n == 0 {
			return effect.Succeed(0)
		}
		return effect.Suspend(func() effect.Effect[int] { return dig(n - 1) }).Map(func(i int) int { return i + 1 })
	}
	_, err := effect.Run(context.Background(), dig(100_000_000))
	var deep scope.TooDeep
	if !errors.As(err, &deep) {
		t.Fatalf("10^8 levels: %v", err)
	}
}
