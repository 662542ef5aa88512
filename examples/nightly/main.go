// Nightly makes a report, in one process at a time, however many are started.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
)

func main() {
	dir := flag.String("dir", os.TempDir(), "the folder of the leases and the report")
	takes := flag.Duration("takes", time.Second, "how long the work takes")
	flag.Parse()
	// Ctrl-C ends the work, and the lease is released.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := run(ctx, *dir, *takes).(type) {
	case nil:
	case *lease.Held:
		log.Print("not tonight: ", err) // another one is at it, and that is fine
	default:
		log.Fatal(err)
	}
}

func run(ctx context.Context, dir string, takes time.Duration) error {
	repository := lease.NewSQLiteRepository(platform.OS(), filepath.Join(dir, "nightly-leases.db"))
	defer repository.Close()
	leases, err := lease.NewManager(platform.OS(), repository, lease.Config{
		TTL: time.Minute, Heartbeat: 15 * time.Second, // a crash costs nobody a TTL, a process that is stopped a minute
		Observer: lease.SlogObserver(slog.Default()),
	})
	if err != nil {
		return err
	}
	// Without lease.Wait() it fails at once with *lease.Held when another process is at it.
	return leases.Hold(ctx, "nightly", func(ctx context.Context, token lease.FencingToken) error {
		lines, err := count(ctx, takes)
		if err != nil {
			return err
		}
		return save(filepath.Join(dir, "nightly-report.json"), report{Token: token, Lines: lines})
	})
}

// count is the work. ctx ends when the lease is lost, with why as its cause.
func count(ctx context.Context, takes time.Duration) (lines int, err error) {
	for end := time.Now().Add(takes); time.Now().Before(end); lines++ {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
	return lines, nil
}

// report is what the work makes, with the token of the one who made it.
type report struct {
	Token lease.FencingToken `json:"token"`
	Lines int                `json:"lines"`
}

// save replaces the report, unless a later holder of the lease has written one: a
// process that was stopped in the middle and comes back too late changes nothing.
func save(path string, next report) error {
	var last report
	old, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(old, &last)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := next.Token.CheckAfter(last.Token); err != nil {
		return err
	}
	data, err := json.Marshal(next)
	if err != nil {
		return err
	}
	log.Printf("saving %s", data)
	return platform.OS().FS.WriteAtomic(path, data)
}
