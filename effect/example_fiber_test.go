package effect_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// Two fibers work side by side. On the virtual clock their seconds are free.
func ExampleForkChild() {
	fetch := func(page string, d time.Duration) effect.Effect[string] { return effect.Sleep(d).As(page) }
	program := effect.Gen(func(do *effect.Do) string {
		head := do.Await(effect.ForkChild(fetch("head", 2*time.Second)))
		body := do.Await(effect.ForkChild(fetch("body", 3*time.Second)))
		return do.Await(head.Join()) + " " + do.Await(body.Join())
	})
	out := effect.RunDeterministic(program, effect.DeterministicConfig{})
	fmt.Println(out.Exit.MustGet(), "after", out.Now)
	// Output: Success(head body) after 3s
}

// Join ends as the fiber did, its failure included; Await gives that as a value.
func ExampleFiber_Join() {
	program := effect.GenUnit(func(do *effect.Do) {
		fiber := do.Await(effect.ForkChild(effect.Fail[int](errors.New("no route"))))
		fmt.Println("await:", do.Await(fiber.Await()))
		do.Await(fiber.Join())
		fmt.Println("not reached")
	})
	fmt.Println("program:", effect.RunDeterministic(program, effect.DeterministicConfig{}).Exit.MustGet())
	// Output:
	// await: Failure(Cause(Fail(no route)))
	// program: Failure(Cause(Fail(no route)))
}

// Interrupt waits until the fiber has ended, finalizers included.
func ExampleFiber_Interrupt() {
	upload := effect.Sleep(time.Hour).
		Ensuring(effect.Sleep(2 * time.Second).AndThen(effect.SyncUnit(func() { fmt.Println("partial file removed") })))
	program := effect.GenUnit(func(do *effect.Do) {
		fiber := do.Await(effect.ForkChild(upload))
		do.Await(effect.Sleep(time.Minute))
		do.Await(fiber.Interrupt())
		fmt.Println("ended at", do.Await(effect.Monotonic()))
	})
	effect.RunDeterministic(program, effect.DeterministicConfig{})
	// Output:
	// partial file removed
	// ended at 1m2s
}

// OnInterrupt runs for an interruption only, and knows who asked for it.
func ExampleEffect_OnInterrupt() {
	work := func(d time.Duration) effect.Effect[effect.Unit] {
		return effect.Sleep(d).OnInterrupt(func(by []scope.FiberID) effect.Effect[effect.Unit] {
			return effect.SyncUnit(func() { fmt.Println("interrupted by fiber", by) })
		})
	}
	program := effect.GenUnit(func(do *effect.Do) {
		do.Await(work(time.Second))
		fiber := do.Await(effect.ForkChild(work(time.Hour)))
		do.Await(effect.YieldNow())
		fmt.Println("this is fiber", do.Await(effect.FiberID()))
		do.Await(fiber.Interrupt())
	})
	effect.RunDeterministic(program, effect.DeterministicConfig{})
	// Output:
	// this is fiber 1
	// interrupted by fiber [1]
}

// The first to end decides, and the loser has ended when the race has. So a
// failure that comes first fails the race; Race would wait for a success.
func ExampleEffect_RaceFirst() {
	mirror := func(name string, d time.Duration) effect.Effect[string] {
		return effect.Sleep(d).As(name).OnInterrupt(func([]scope.FiberID) effect.Effect[effect.Unit] {
			return effect.SyncUnit(func() { fmt.Println(name, "cancelled") })
		})
	}
	down := effect.Fail[string](errors.New("mirror down")).Delay(time.Second)
	for _, e := range []effect.Effect[string]{
		mirror("near", 2*time.Second).RaceFirst(mirror("far", 5*time.Second)),
		mirror("near", 2*time.Second).RaceFirst(down),
		mirror("near", 2*time.Second).Race(down),
	} {
		out := effect.RunDeterministic(e, effect.DeterministicConfig{})
		fmt.Println(out.Exit.MustGet(), "after", out.Now)
	}
	// Output:
	// far cancelled
	// Success(near) after 2s
	// near cancelled
	// Failure(Cause(Fail(mirror down))) after 1s
	// Success(near) after 2s
}

// The work goes on until it ends or what it depends on is lost.
func ExampleEffect_StopOn() {
	lost := effect.Fail[effect.Nothing](errors.New("connection lost")).Delay(time.Minute)
	for _, d := range []time.Duration{time.Second, time.Hour} {
		work := effect.Sleep(d).As("done")
		out := effect.RunDeterministic(work.StopOn(lost), effect.DeterministicConfig{})
		fmt.Println(out.Exit.MustGet(), "after", out.Now)
	}
	// Output:
	// Success(done) after 1s
	// Failure(Cause(Fail(connection lost))) after 1m0s
}

// A timeout interrupts the work, waits for its end and fails with *TimeoutError.
func ExampleEffect_Timeout() {
	query := effect.Sleep(time.Minute).As("rows").
		Ensuring(effect.SyncUnit(func() { fmt.Println("query cancelled") }))
	program := query.Timeout(5 * time.Second).
		CatchTag(func(err *effect.TimeoutError) effect.Effect[string] {
			return effect.Succeed("nothing within " + err.After.String())
		})
	out := effect.RunDeterministic(program, effect.DeterministicConfig{})
	fmt.Println(out.Exit.MustGet())
	// Output:
	// query cancelled
	// Success(nothing within 5s)
}

// A map of fibers by key: a new one takes the place of the old one, and all end
// with the scope.
func ExampleFiberMap() {
	session := func(user string, d time.Duration) effect.Effect[effect.Unit] {
		return effect.Sleep(d).OnExit(func(exit scope.Exit[effect.Unit]) effect.Effect[effect.Unit] {
			return effect.SyncUnit(func() { fmt.Println(user, "ended well:", exit.IsSuccess()) })
		})
	}
	program := effect.Scoped(effect.GenUnit(func(do *effect.Do) {
		sessions := do.Await(effect.MakeFiberMap[string, effect.Unit]())
		do.Await(sessions.Run("ada", session("ada's first", time.Hour)))
		do.Await(sessions.Run("bob", session("bob's", time.Second)))
		do.Await(sessions.Run("ada", session("ada's second", time.Hour)))
		do.Await(effect.Sleep(time.Minute))
		fmt.Println("sessions:", sessions.Len())
	}))
	effect.RunDeterministic(program, effect.DeterministicConfig{})
	// Output:
	// ada's first ended well: false
	// bob's ended well: true
	// sessions: 1
	// ada's second ended well: false
}
