package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
)

// Two nights, and a second process in the second one.
func TestNightly(t *testing.T) {
	dir := t.TempDir()
	read := func() (r report) {
		data, err := os.ReadFile(filepath.Join(dir, "nightly-report.json"))
		if err == nil {
			err = json.Unmarshal(data, &r)
		}
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if err := run(t.Context(), dir, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if r := read(); r.Token.Generation != 1 {
		t.Errorf("%+v", r)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	first := make(chan error)
	go func() { first <- run(ctx, dir, time.Hour) }()
	// Another one that came now might have the lease first, and the first one not wait.
	for !held(t, dir) {
		select {
		case err := <-first:
			t.Fatal(err)
		default:
		}
	}
	if err := run(t.Context(), dir, 0); !isHeld(err) {
		t.Fatal(err)
	}
	before := read()
	why := errors.New("ctrl-C")
	stop(why)
	if err := <-first; !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	if r := read(); r != before {
		t.Errorf("it saved %+v though it was stopped", r)
	}
	// It is free again, and a token of before is refused.
	if err := run(t.Context(), dir, 0); err != nil {
		t.Error(err)
	}
	_, rejected := errors.AsType[*lease.FenceRejected](save(filepath.Join(dir, "nightly-report.json"), before))
	if !rejected {
		t.Error("an old token overwrites a new report")
	}
}

func isHeld(err error) bool {
	_, ok := errors.AsType[*lease.Held](err)
	return ok
}

// held reports whether somebody has the lease now.
func held(t *testing.T, dir string) bool {
	t.Helper()
	repository := lease.NewSQLiteRepository(platform.OS(), filepath.Join(dir, "nightly-leases.db"))
	defer repository.Close()
	leases, err := lease.NewManager(platform.OS(), repository, lease.Config{TTL: time.Minute, Heartbeat: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	record, found, err := leases.Lookup(t.Context(), "nightly")
	if err != nil {
		t.Fatal(err)
	}
	return found && !record.IsTombstone()
}
