//go:build linux

package processlock_test

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
	"github.com/rivus/tether/scope"
)

// busySQLite is in the way of the first attempts, as contenders are.
type busySQLite struct {
	platform.SQLite
	busy   atomic.Int64 // attempts that are still to fail
	probes atomic.Int64
	held   bool // what the probes see
}

var errBusy = &platform.Failure{Op: "test", Reason: platform.ReasonBusy}

func (s *busySQLite) TryLock(path string) (platform.SQLiteLock, error) {
	if s.busy.Add(-1) >= 0 {
		return nil, errBusy
	}
	return s.SQLite.TryLock(path)
}

func (s *busySQLite) Probe(string) error {
	s.probes.Add(1)
	if s.held {
		return errBusy
	}
	return nil
}

// skippingClock lets pauses pass at once, and its time with them; each calls pause.
type skippingClock struct {
	scope.Clock
	now   atomic.Int64
	pause func(n int)
	n     int
}

func (c *skippingClock) Monotonic() time.Duration { return time.Duration(c.now.Load()) }

func (c *skippingClock) AfterFunc(d time.Duration, f func()) scope.Timer {
	c.now.Add(int64(d))
	c.n++
	if c.pause != nil {
		c.pause(c.n)
	}
	return c.Clock.AfterFunc(0, f)
}

// K6: Held only if a probe sees a holder, too; else it tries again, for a second.
func TestK6_LoserProbesBeforeItReports(t *testing.T) {
	for name, c := range map[string]struct {
		busy   int64
		held   bool
		reason platform.Reason // of a Failure
		probes int64           // at least
	}{
		"contenders that are gone": {5, false, "", 5},
		"a holder":                 {1, true, "", 1},
		"contention without end":   {1 << 40, false, processlock.ReasonContended, 50},
	} {
		t.Run(name, func(t *testing.T) {
			sqlite := &busySQLite{SQLite: platform.OS().SQLite, held: c.held}
			sqlite.busy.Store(c.busy)
			clock := &skippingClock{Clock: platform.OS().Clock}
			p := *platform.OS()
			p.SQLite, p.Clock = sqlite, clock
			lock, err := processlock.Acquire(context.Background(), &p, filepath.Join(t.TempDir(), "l")).Get()
			_, held := errors.AsType[*processlock.Held](err)
			if held != c.held || reasonOf(err) != c.reason || (lock != nil) != (!c.held && c.reason == "") {
				t.Fatal(lock, err)
			}
			if n := sqlite.probes.Load(); n < c.probes {
				t.Fatal(n, " probes")
			}
			if c.reason != "" && clock.Monotonic() < time.Second || clock.Monotonic() > 1100*time.Millisecond {
				t.Fatal("it tried for ", clock.Monotonic())
			}
			if lock != nil {
				mustRelease(t, lock)
			}
		})
	}
}

// K9: the first attempt waits a check out, and keeps new ones out meanwhile; a later
// one of a waiter lets go.
func TestK9_FirstAttemptKeepsItsPlaceBeforeReaders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	read := func() platform.SQLiteConn {
		conn, err := platform.OS().SQLite.Open(path, platform.OpenOrCreate)
		if err == nil {
			err = conn.Exec("BEGIN; SELECT * FROM sqlite_master")
		}
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	reader := read()
	defer reader.Close()
	checker := start(t, nil)
	p := *platform.OS()
	p.Clock = &skippingClock{Clock: p.Clock, pause: func(n int) {
		switch n {
		case 1, 2:
			if r := checker.Do(command{Do: "isheld", Path: path}); !r.OK || !r.Held {
				t.Errorf("a new check passed the one who is ahead: %+v", r)
			}
		case 3:
			_ = reader.Close()
		case 4:
			t.Error("it did not take the lock when the reader was gone")
		}
	}}
	lock, err := processlock.Acquire(context.Background(), &p, path).Get()
	if err != nil {
		t.Fatal(err)
	}
	mustRelease(t, lock)

	// A holder makes the first attempt a wait; a reader then hinders a later one.
	holder := start(t, nil)
	holder.must(command{Do: "acquire", Path: path})
	var late platform.SQLiteConn
	p.Clock = &skippingClock{Clock: platform.OS().Clock, pause: func(n int) {
		switch n {
		case 1:
			holder.must(command{Do: "release", Path: path})
			late = read()
		case 2, 3:
			if r := checker.Do(command{Do: "isheld", Path: path}); !r.OK || r.Held {
				t.Errorf("a later attempt keeps checks out: %+v", r)
			}
		case 4:
			_ = late.Close()
		}
	}}
	lock, err = processlock.Acquire(context.Background(), &p, path, processlock.Wait()).Get()
	if err != nil {
		t.Fatal(err)
	}
	mustRelease(t, lock)
}
