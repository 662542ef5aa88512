package effect_test

import (
	"context"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// F59: a publisher is interrupted while whoever takes a message admits its own. Run
// with -race; besides, every message that was published is taken, and no other.
func TestF59_PublisherInterruptedWhileItIsAdmitted(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	round := effect.Scoped(effect.GenUnit(func(do *effect.Do) {
		p := do.Await(effect.BoundedPubSub[int](1))
		waits, lags := do.Await(p.Subscribe()), do.Await(p.Subscribe())
		do.Await(p.Publish(1))
		do.Await(waits.Take())
		waiting := do.Await(effect.ForkChild(waits.Take(), effect.StartImmediately()))
		second := do.Await(effect.ForkChild(p.Publish(2), effect.StartImmediately()))
		// Taking makes room for the second message, which wakes who waits for it before
		// it tells the publisher.
		taker := do.Await(effect.ForkChild(lags.Take()))
		do.Await(second.Interrupt())
		do.Await(taker.Join())
		exit, _ := second.Exited()
		published, _ := exit.Value()
		left := do.Await(lags.Remaining())
		if published && left != 1 {
			do.FailCause(scope.CauseDie("published, and not there"))
		}
		if left == 1 {
			do.Await(waiting.Join())
		}
	}))
	program := effect.GenUnit(func(do *effect.Do) {
		for range rounds {
			do.Await(round)
		}
	})
	if _, err := effect.Run(context.Background(), program); err != nil {
		t.Fatal(err)
	}
}
