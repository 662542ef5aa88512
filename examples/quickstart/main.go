// Quickstart takes a lease, writes under its fence, and works until it is lost.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
)

var longRunningWork = effect.Sleep(100 * time.Millisecond).AndThen(effect.SyncUnit(func() { fmt.Println("worked") }))

// saveResult writes with its token: a resource that checks it refuses old ones.
func saveResult(token lease.FencingToken) effect.Effect[effect.Unit] {
	return effect.SyncUnit(func() { fmt.Println("saved by", token) })
}

func main() {
	ctx := context.Background()
	program := effect.Scoped(effect.GenUnit(func(do *effect.Do) {
		leases := do.Await(lease.MakeManager(lease.Config{TTL: time.Minute, Heartbeat: 15 * time.Second}))
		l := do.Await(leases.Acquire("task:42"))   // fails with *lease.Held while another live holder renews it
		do.Await(l.RunFenced(saveResult))          // func(lease.FencingToken) effect.Effect[effect.Unit]
		do.Await(longRunningWork.StopOn(l.Lost())) // raceFirst with an effect that never succeeds
	}))
	path := filepath.Join(os.TempDir(), "tether-quickstart.db")
	exit := effect.RunExit(ctx, program.Provide(lease.SQLiteRepository(path).ProvideMerge(platform.Live)))
	if exit.IsFailure() {
		fmt.Fprintln(os.Stderr, exit)
		os.Exit(1)
	}
}
