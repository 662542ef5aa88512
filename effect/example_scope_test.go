package effect_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// What was acquired is released when the scope closes, the last first, however
// the program ended.
func ExampleAcquireRelease() {
	open := func(name string) effect.Effect[string] {
		return effect.AcquireRelease(
			effect.Sync(func() string {
				fmt.Println("open", name)
				return name
			}),
			func(name string, exit scope.Exit[any]) effect.Effect[effect.Unit] {
				return effect.SyncUnit(func() { fmt.Println("close", name, "after", exit) })
			},
		)
	}
	program := effect.Scoped(effect.GenUnit(func(do *effect.Do) {
		do.Await(open("database"))
		do.Await(open("journal"))
		do.Fail(errors.New("disk full"))
	}))
	_, err := effect.Run(context.Background(), program)
	fmt.Println(err)
	// Output:
	// open database
	// open journal
	// close journal after Failure(Cause(Fail(disk full)))
	// close database after Failure(Cause(Fail(disk full)))
	// disk full
}

// A finalizer that looks at the scope's exit ends a transaction.
func ExampleAddFinalizer() {
	transfer := func(amount int) effect.Effect[int] {
		return effect.Scoped(effect.Gen(func(do *effect.Do) int {
			do.Await(effect.AddFinalizer(func(exit scope.Exit[any]) effect.Effect[effect.Unit] {
				return effect.SyncUnit(func() {
					if exit.IsSuccess() {
						fmt.Println("commit")
					} else {
						fmt.Println("roll back:", exit.Err())
					}
				})
			}))
			if amount > 100 {
				do.Fail(errors.New("the account has 100"))
			}
			return 100 - amount
		}))
	}
	both := transfer(30).AndThen(transfer(500))
	effect.RunExit(context.Background(), both)
	// Output:
	// commit
	// roll back: the account has 100
}

// A background fiber that lives as long as the scope.
func ExampleForkScoped() {
	heartbeat := effect.Monotonic().
		Tap(func(at time.Duration) effect.Effect[effect.Unit] {
			return effect.SyncUnit(func() { fmt.Println("alive at", at) })
		}).
		Repeat(effect.ScheduleSpaced(10 * time.Second)).
		OnInterrupt(func([]scope.FiberID) effect.Effect[effect.Unit] {
			return effect.SyncUnit(func() { fmt.Println("heartbeat stopped") })
		})
	program := effect.Scoped(effect.GenUnit(func(do *effect.Do) {
		do.Await(effect.ForkScoped(heartbeat))
		do.Await(effect.Sleep(25 * time.Second))
		fmt.Println("work done")
	})).Tap(func(effect.Unit) effect.Effect[effect.Unit] {
		return effect.SyncUnit(func() { fmt.Println("scope closed") })
	})
	effect.RunDeterministic(program, effect.DeterministicConfig{})
	// Output:
	// alive at 0s
	// alive at 10s
	// alive at 20s
	// work done
	// heartbeat stopped
	// scope closed
}

// OnExit sees every end: a success, a failure, a defect and an interruption.
func ExampleEffect_OnExit() {
	watched := func(e effect.Effect[int]) effect.Effect[int] {
		return e.OnExit(func(exit scope.Exit[int]) effect.Effect[effect.Unit] {
			return effect.SyncUnit(func() { fmt.Println(exit) })
		})
	}
	for _, e := range []effect.Effect[int]{
		effect.Succeed(1),
		effect.Fail[int](errors.New("refused")),
		effect.Sync(func() int { panic("a bug") }),
		effect.Sleep(time.Hour).As(1).Timeout(time.Second),
		effect.Interrupt[int](),
	} {
		effect.RunDeterministic(watched(e), effect.DeterministicConfig{})
	}
	// Output:
	// Success(1)
	// Failure(Cause(Fail(refused)))
	// Failure(Cause(Die(a bug)))
	// Failure(Cause(Fail(timed out after 1s)))
	// Failure(Cause(Interrupt(#1)))
}

// The message is taken and acknowledged, or neither: only the wait for it can be
// interrupted.
func ExampleUninterruptibleMask() {
	inbox := effect.NewUnboundedQueue[string]()
	handle := effect.UninterruptibleMask(func(restore effect.Restore) effect.Effect[effect.Unit] {
		return effect.GenUnit(func(do *effect.Do) {
			message := do.Await(inbox.TakeRestoring(restore))
			do.Await(effect.Sleep(time.Second))
			fmt.Println("acknowledged", message)
		})
	})
	program := effect.GenUnit(func(do *effect.Do) {
		worker := do.Await(effect.ForkChild(handle))
		do.Await(inbox.Offer("first"))
		do.Await(effect.Sleep(time.Millisecond))
		do.Await(worker.Interrupt()) // in the middle of the work: it waits
		fmt.Println("worker:", do.Await(worker.Await()))

		idle := do.Await(effect.ForkChild(handle))
		do.Await(effect.Sleep(time.Millisecond))
		do.Await(idle.Interrupt()) // in the wait: it ends at once
		do.Await(inbox.Offer("second"))
		fmt.Println("left in the inbox:", do.Await(inbox.Size()))
	})
	out := effect.RunDeterministic(program, effect.DeterministicConfig{})
	fmt.Println(out.Now)
	// Output:
	// acknowledged first
	// worker: Failure(Cause(Interrupt(#1)))
	// left in the inbox: 1
	// 1.001s
}
