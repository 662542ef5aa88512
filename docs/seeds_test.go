package docs_test

import (
	"context"
	"log"
	"path/filepath"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/lanes"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
	"github.com/samber/mo"
)

// The seed programs of the design, as they were written before there was code.

func TestSeedOfTheLease(t *testing.T) {
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "leases.db")
	var saved lease.FencingToken
	saveResult := func(token lease.FencingToken) effect.Effect[effect.Unit] {
		return effect.SyncUnit(func() { saved = token })
	}
	longRunningWork := effect.Void()

	program := effect.Scoped(effect.GenUnit(func(do *effect.Do) {
		leases := do.Await(lease.MakeManager(lease.Config{TTL: time.Minute, Heartbeat: 15 * time.Second}))
		l := do.Await(leases.Acquire("task:42")) // fails with *lease.Held while another live holder renews it
		do.Await(l.RunFenced(saveResult))        // func(lease.FencingToken) effect.Effect[effect.Unit]
		do.Await(longRunningWork.StopOn(l.Lost()))
	}))
	exit := effect.RunExit(ctx, program.Provide(lease.SQLiteRepository(path).ProvideMerge(platform.Live)))

	if exit.IsFailure() || saved.Generation != 1 {
		t.Errorf("%v, saved by %v", exit, saved)
	}
}

func TestSeedOfTheLanes(t *testing.T) {
	ran := make(chan string, 1)
	runTurn := func(key string) effect.Effect[effect.Unit] { return effect.SyncUnit(func() { ran <- key }) }
	report := func(lanes.ActivationExit) effect.Effect[effect.Unit] { return effect.Void() }

	program := effect.Scoped(effect.GenUnit(func(do *effect.Do) {
		board := do.Await(lanes.Make(lanes.Config{
			MaxConcurrent: 4, MaxQueued: mo.Some(32), TurnTimeout: 10 * time.Minute,
			Activate: runTurn, // func(key string) effect.Effect[effect.Unit]
			OnExit:   report,  // func(lanes.ActivationExit) effect.Effect[effect.Unit]
		}))
		outcome := do.Await(board.Wake("room:1")) // lanes.Started, lanes.Queued or lanes.Coalesced
		if outcome != lanes.Started {
			t.Errorf("the wake was %v", outcome)
		}
		if key := <-ran; key != "room:1" {
			t.Errorf("%q ran", key)
		}
	}))
	if _, err := effect.Run(context.Background(), program); err != nil {
		t.Error(err)
	}
}

func TestSeedOfTheLock(t *testing.T) {
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "daemon.lock")

	lock, err := processlock.Acquire(ctx, platform.OS(), path).Get() // mo.Result[*processlock.Lock]
	if held, ok := errors.AsType[*processlock.Held](err); ok {
		log.Fatalf("already running: %v", held) // names the holder's pid, when it is known
	}
	if err != nil {
		log.Fatal(err)
	}
	busy, err := processlock.IsHeld(ctx, platform.OS(), path)
	if !busy || err != nil {
		t.Errorf("held: %v, %v", busy, err)
	}
	lock.Release()
	if busy, err := processlock.IsHeld(ctx, platform.OS(), path); busy || err != nil {
		t.Errorf("held after the release: %v, %v", busy, err)
	}
}
