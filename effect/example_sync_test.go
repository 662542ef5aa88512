package effect_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rivus/tether/effect"
)

// A server tells the port that it has got; a client waits for that.
func ExampleDeferred() {
	program := effect.GenUnit(func(do *effect.Do) {
		ready := do.Await(effect.MakeDeferred[int]())
		server := effect.GenUnit(func(do *effect.Do) {
			do.Await(effect.Sleep(time.Second))
			fmt.Println("listening")
			do.Await(ready.Succeed(8080))
		})
		do.Await(effect.ForkChild(server))
		fmt.Println("connecting to", do.Await(ready.Await()))
		fmt.Println("completed twice:", do.Await(ready.Fail(errors.New("too late"))))
	})
	effect.RunDeterministic(program, effect.DeterministicConfig{})
	// Output:
	// listening
	// connecting to 8080
	// completed twice: false
}

// Five calls share two connections. The permits come back however a call ends.
func ExampleSemaphore_WithPermits() {
	pool := effect.NewSemaphore(2)
	call := func(n, _ int) effect.Effect[effect.Unit] {
		return pool.WithPermits(1, effect.GenUnit(func(do *effect.Do) {
			fmt.Println("call", n, "at", do.Await(effect.Monotonic()))
			do.Await(effect.Sleep(time.Second))
			if n == 1 {
				do.Fail(errors.New("refused"))
			}
		})).Ignore()
	}
	program := effect.ForEachDiscard([]int{1, 2, 3, 4, 5}, call, effect.Unbounded)
	effect.RunDeterministic(program, effect.DeterministicConfig{})
	fmt.Println("free:", pool.Free())
	// Output:
	// call 1 at 0s
	// call 2 at 0s
	// call 3 at 1s
	// call 4 at 1s
	// call 5 at 2s
	// free: 2
}

// A worker can be paused between two steps.
func ExampleLatch() {
	running := effect.NewLatch(true)
	step := effect.Monotonic().FlatMap(func(at time.Duration) effect.Effect[effect.Unit] {
		return effect.SyncUnit(func() { fmt.Println("step at", at) })
	})
	program := effect.GenUnit(func(do *effect.Do) {
		do.Await(effect.ForkChild(running.WhenOpen(step).Repeat(effect.ScheduleSpaced(10 * time.Second))))
		do.Await(effect.Sleep(15 * time.Second))
		do.Await(running.Close())
		fmt.Println("paused")
		do.Await(effect.Sleep(time.Minute))
		do.Await(running.Open())
		do.Await(effect.Sleep(time.Second))
	})
	effect.RunDeterministic(program, effect.DeterministicConfig{})
	// Output:
	// step at 0s
	// step at 10s
	// paused
	// step at 1m15s
}

// The producer waits while the queue is full. End lets the consumer take what is
// left, and then ends it.
func ExampleQueue() {
	program := effect.GenUnit(func(do *effect.Do) {
		jobs := do.Await(effect.BoundedQueue[string](1))
		produce := effect.GenUnit(func(do *effect.Do) {
			for _, job := range []string{"a", "b", "c"} {
				do.Await(jobs.Offer(job))
				fmt.Println("offered", job, "at", do.Await(effect.Monotonic()))
			}
			do.Await(jobs.End())
		})
		consume := effect.GenUnit(func(do *effect.Do) {
			for {
				job := do.Await(jobs.Take())
				do.Await(effect.Sleep(time.Second))
				fmt.Println("did", job)
			}
		}).CatchTag(func(*effect.Done) effect.Effect[effect.Unit] { return effect.Void() })
		do.Await(effect.ForkChild(produce))
		do.Await(consume)
	})
	out := effect.RunDeterministic(program, effect.DeterministicConfig{})
	fmt.Println(out.Exit.MustGet().IsSuccess(), out.Now)
	// Output:
	// offered a at 0s
	// offered b at 0s
	// did a
	// offered c at 1s
	// did b
	// did c
	// true 3s
}

// Every subscriber gets every message that is published after it subscribed.
func ExamplePubSub() {
	program := effect.Scoped(effect.GenUnit(func(do *effect.Do) {
		news := do.Await(effect.UnboundedPubSub[string]())
		early := do.Await(news.Subscribe())
		do.Await(news.Publish("one"))
		late := do.Await(news.Subscribe())
		do.Await(news.Publish("two"))
		fmt.Println("early:", strings.Join(do.Await(early.TakeAll()), ", "))
		fmt.Println("late:", strings.Join(do.Await(late.TakeAll()), ", "))
	}))
	effect.RunDeterministic(program, effect.DeterministicConfig{})
	// Output:
	// early: one, two
	// late: two
}

// A thousand updates from as many goroutines, and none is lost.
func ExampleRef() {
	hits := effect.NewRef(0)
	hit := hits.Update(func(n int) int { return n + 1 })
	program := effect.ReplicateEffectDiscard(hit, 1000, effect.Unbounded).AndThen(hits.Get())
	fmt.Println(effect.Run(context.Background(), program))
	// Output: 1000 <nil>
}

// Three that want it at once and one that comes later share one run.
func ExampleCached() {
	load := effect.GenUnit(func(do *effect.Do) {
		fmt.Println("loading")
		do.Await(effect.Sleep(time.Second))
	}).As("settings")
	program := effect.Gen(func(do *effect.Do) string {
		settings := do.Await(effect.Cached(load))
		do.Await(effect.ReplicateEffectDiscard(settings, 3, effect.Unbounded))
		return do.Await(settings)
	})
	out := effect.RunDeterministic(program, effect.DeterministicConfig{})
	fmt.Println(out.Exit.MustGet(), "after", out.Now)
	// Output:
	// loading
	// Success(settings) after 1s
}
