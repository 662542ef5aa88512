package lanes_test

import (
	"context"
	"fmt"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lanes"
	"github.com/samber/mo"
)

// ExampleNew is the example of the design.
func ExampleNew() {
	reported := effect.NewDeferred[effect.Unit]()
	runTurn := func(key string) unit {
		return effect.SyncUnit(func() { fmt.Println("a turn of", key) })
	}
	report := func(exit lanes.ActivationExit) unit {
		tell := effect.SyncUnit(func() {
			switch exit := exit.(type) {
			case lanes.ActivationSucceeded:
				fmt.Println(exit.Key, "is done")
			case lanes.ActivationFailed:
				fmt.Println(exit.Key, "failed:", exit.Cause.Err())
			case lanes.ActivationInterrupted:
				fmt.Println(exit.Key, "was stopped:", exit.Reason)
			}
		})
		return tell.AndThen(reported.Succeed(effect.Unit{}).AsUnit())
	}
	program := effect.Scoped(effect.GenUnit(func(do *effect.Do) {
		board := do.Await(lanes.Make(lanes.Config{
			MaxConcurrent: 4, MaxQueued: mo.Some(32), TurnTimeout: 10 * time.Minute,
			Activate: runTurn, // func(key string) effect.Effect[effect.Unit]
			OnExit:   report,  // func(lanes.ActivationExit) effect.Effect[effect.Unit]
		}))
		outcome := do.Await(board.Wake("room:1")) // lanes.Started, lanes.Queued or lanes.Coalesced
		fmt.Println(outcome)
		do.Await(reported.Await())
	}))
	if _, err := effect.Run(context.Background(), program); err != nil {
		fmt.Println(err)
	}
	// Unordered output:
	// started
	// a turn of room:1
	// room:1 is done
}
