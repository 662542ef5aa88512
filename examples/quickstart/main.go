// Quickstart takes a lease, writes under its fence, and works until it is lost. Ctrl-C
// ends the work, and the lease is released.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
)

// saveResult writes with its token: a resource that checks it refuses old ones.
func saveResult(token lease.FencingToken) effect.Effect[effect.Unit] {
	return effect.SyncUnit(func() { fmt.Println("saved by", token) })
}

func main() {
	path := flag.String("leases", filepath.Join(os.TempDir(), "tether-quickstart.db"), "the database of the leases")
	takes := flag.Duration("takes", time.Second, "how long the work takes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	longRunningWork := effect.Sleep(*takes).AndThen(effect.SyncUnit(func() { fmt.Println("worked") }))
	program := effect.Scoped(effect.GenUnit(func(do *effect.Do) {
		leases := do.Await(lease.MakeManager(lease.Config{TTL: time.Minute, Heartbeat: 15 * time.Second}))
		l := do.Await(leases.Acquire("task:42"))   // fails with *lease.Held while another live holder renews it
		do.Await(l.RunFenced(saveResult))          // func(lease.FencingToken) effect.Effect[effect.Unit]
		do.Await(longRunningWork.StopOn(l.Lost())) // raceFirst with an effect that never succeeds
	}))
	_, err := effect.Run(ctx, program.Provide(lease.SQLiteRepository(*path).ProvideMerge(platform.Live)))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
