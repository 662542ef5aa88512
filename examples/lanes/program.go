package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lanes"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

type options struct {
	lasts             time.Duration
	rooms, concurrent int
	turn              time.Duration
	in                io.Reader
	out               io.Writer
	redraw            bool
}

type unit = effect.Effect[effect.Unit]

// program is the whole worker. Everything that it starts ends with its scope.
func program(o options) unit {
	house := newHouse(o.rooms)
	show := &display{house: house, out: o.out, redraw: o.redraw}
	work := effect.Scoped(effect.GenUnit(func(do *effect.Do) {
		var board *lanes.Lanes
		board = do.Await(lanes.Make(lanes.Config{
			MaxConcurrent: o.concurrent,
			MaxQueued:     mo.Some(2),
			TurnTimeout:   o.turn,
			Activate:      func(key string) unit { return turn(house.room(key)) },
			OnExit: func(exit lanes.ActivationExit) unit {
				return effect.Suspend(func() unit { return again(board, house.room(exit.Lane()).ended(exit), exit) })
			},
		}))
		do.Await(effect.ForkScoped(show.refresh(board).Delay(200 * time.Millisecond).Forever()))
		do.Await(effect.ForkScoped(moderate(board, o.in)))
		for range o.rooms {
			do.Await(effect.ForkScoped(write(house, board).Forever()))
		}
		if o.lasts > 0 {
			do.Await(effect.Sleep(o.lasts))
		} else {
			do.Await(effect.Never[effect.Unit]())
		}
	}))
	// After the lanes have closed, however.
	return work.Ensuring(effect.SyncUnit(show.sum))
}

// turn answers what is in the room, message by message, until nothing is left.
func turn(r *room) unit {
	return effect.GenUnit(func(do *effect.Do) {
		for r.take() {
			think := effect.Sleep(time.Duration(20+rand.IntN(60)) * time.Millisecond)
			do.Await(think.OnInterrupt(func([]scope.FiberID) unit { return effect.SyncUnit(func() { r.answer(false) }) }))
			if rand.IntN(60) == 0 {
				do.Fail(fmt.Errorf("no answer to message %d", r.answer(false)))
			}
			r.answer(true)
		}
	})
}

// again wakes the room of a turn that ended too early for what is left. A wake
// from OnExit comes while the lane still runs, so it is never refused for a full
// queue.
func again(board *lanes.Lanes, left int, exit lanes.ActivationExit) unit {
	stopped, _ := exit.(lanes.ActivationInterrupted)
	if left == 0 || stopped.Reason == lanes.StopCancel || stopped.Reason == lanes.StopClose {
		return effect.Void()
	}
	return board.Wake(exit.Lane()).Ignore()
}

// write puts a few messages into some room and wakes it. A room whose turn runs
// gets one more; a room that waits keeps its place.
func write(house *house, board *lanes.Lanes) effect.Effect[effect.Unit] {
	return effect.Suspend(func() unit {
		r := house.some()
		r.post(1 + rand.IntN(5))
		return board.Wake(r.key).AsUnit().
			CatchTag(func(*lanes.QueueFull) unit { return effect.SyncUnit(r.refuse) }).
			OrDie().
			AndThen(effect.Sleep(time.Duration(100+rand.IntN(300)) * time.Millisecond))
	})
}

// moderate cancels the turns of the rooms that are typed in.
func moderate(board *lanes.Lanes, in io.Reader) unit {
	lines := bufio.NewScanner(in)
	// A read cannot be interrupted: TryPromise leaves it behind when the program
	// ends.
	next := effect.TryPromise(func(context.Context) (bool, error) { return lines.Scan(), lines.Err() })
	return effect.GenUnit(func(do *effect.Do) {
		for do.Await(next) {
			if key := strings.TrimSpace(lines.Text()); key != "" {
				do.Await(board.Cancel(key))
			}
		}
	}).Ignore()
}
