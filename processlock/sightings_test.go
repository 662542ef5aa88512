//go:build linux

package processlock_test

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
	"github.com/rivus/tether/scope"
)

// movedClock is ahead of the platform's by as much as the test says, and makes no
// pauses: it moves on by them.
type movedClock struct {
	scope.Clock
	ahead *atomic.Int64
}

func (c movedClock) Monotonic() time.Duration {
	return c.Clock.Monotonic() + time.Duration(c.ahead.Load())
}

func (c movedClock) AfterFunc(d time.Duration, f func()) scope.Timer {
	c.ahead.Add(int64(d))
	return c.Clock.AfterFunc(0, f)
}

// F48: a lock file without a stamp that is dated a day, or a century, ahead is held
// for 30 s as this process sees it, and for 30 s more when it has changed.
func TestF48_UnstampedFileOfTheFuture(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"a day": 24 * time.Hour, "a century": 100 * 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "l")
			p := *platform.OS()
			moved := &atomic.Int64{}
			p.Clock = movedClock{p.Clock, moved}
			future := time.Now().Add(ahead)
			date := func() {
				if err := os.Chtimes(path, future, future); err != nil {
					t.Fatal(err)
				}
			}
			sees := func(held bool) {
				t.Helper()
				got, err := processlock.IsHeld(context.Background(), &p, path, processlock.WithoutSQLite())
				if err != nil || got != held {
					t.Fatal(got, err)
				}
				if held {
					err := processlock.Acquire(context.Background(), &p, path, processlock.WithoutSQLite()).Error()
					if _, ok := errors.AsType[*processlock.Held](err); !ok {
						t.Fatal(err)
					}
				}
			}
			write(t, path, "")
			date()
			sees(true)
			moved.Add(int64(29 * time.Second))
			sees(true)
			write(t, path, "{") // its maker goes on
			date()
			sees(true)
			moved.Add(int64(29 * time.Second))
			sees(true)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			sees(false)
			write(t, path, "{")
			date()
			moved.Add(int64(2 * time.Second))
			sees(true) // another one
			began := p.Clock.Monotonic()
			lock, err := processlock.Acquire(context.Background(), &p, path, processlock.WithoutSQLite(), processlock.Wait()).Get()
			if err != nil {
				t.Fatal(err)
			}
			if waited := p.Clock.Monotonic() - began; waited < 29*time.Second || waited > time.Minute {
				t.Fatal("it waited ", waited)
			}
			mustRelease(t, lock)
			sees(false)
		})
	}
}
