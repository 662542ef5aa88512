//go:build linux

package processlock_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
)

func TestK5_ContextEndsTheWait(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		cause := errors.New("enough")
		options = append(options, processlock.Wait(), processlock.Retry(time.Millisecond))
		wait := func(p *platform.Platform, started func(func())) error {
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			started(func() { cancel(cause) })
			return processlock.Acquire(ctx, p, path, options...).Error()
		}
		if err := wait(platform.OS(), func(cancel func()) { cancel() }); !errors.Is(err, cause) {
			t.Fatal("before it began: ", err)
		}
		// In line behind a holder in this process.
		lock := acquire(t, path, options...)
		if err := wait(platform.OS(), func(cancel func()) { time.AfterFunc(time.Millisecond, cancel) }); !errors.Is(err, cause) {
			t.Fatal("in line: ", err)
		}
		mustRelease(t, lock)
		// Between two tries against a holder in another process.
		other := start(t, nil)
		other.must(command{Do: "acquire", Path: path, File: file})
		clock := &cancellingClock{Clock: platform.OS().Clock}
		p := *platform.OS()
		p.Clock = clock
		if err := wait(&p, func(cancel func()) { clock.cancel = cancel }); !errors.Is(err, cause) {
			t.Fatal("between tries: ", err)
		}
		if clock.pauses.Load() != 3 {
			t.Fatal(clock.pauses.Load(), " pauses")
		}
		other.must(command{Do: "release", Path: path})
		mustRelease(t, acquire(t, path, options...))
	})
}

// K5: a lock that is taken when the context has ended is given back first.
func TestK5_TakenAfterTheEndIsGivenBack(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "l")
	cause := errors.New("too late")
	ctx, cancel := context.WithCancelCause(context.Background())
	p := *platform.OS()
	p.Process = cancellingProcess{p.Process, func() { cancel(cause) }}
	if err := processlock.Acquire(ctx, &p, path).Error(); !errors.Is(err, cause) {
		t.Fatal(err)
	}
	if got := entries(t, dir); got != "[l]" {
		t.Fatal("it left ", got)
	}
	if r := start(t, nil).Do(command{Do: "acquire", Path: path}); !r.OK {
		t.Fatalf("%+v", r)
	}
}
