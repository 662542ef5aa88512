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
	for {
		err := run(t.Context(), dir, 0)
		if _, held := errors.AsType[*lease.Held](err); held {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
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
