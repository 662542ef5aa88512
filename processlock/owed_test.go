//go:build linux

package processlock_test

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
)

// K8: a lock file that could not be removed at its release belongs to a living
// process that does not hold it. Who takes the lock next in that process removes it;
// its lock is not lost to a second release of the first.
func TestK8_ReleaseThatFailed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	p := *platform.OS()
	sticks := &atomic.Bool{}
	p.FS = sometimesSticky{p.FS, sticks}
	take := func() (*processlock.Lock, error) {
		return processlock.Acquire(context.Background(), &p, path, processlock.WithoutSQLite()).Get()
	}
	first, err := take()
	if err != nil {
		t.Fatal(err)
	}
	sticks.Store(true)
	if err := first.Release(); err == nil {
		t.Fatal("released")
	}
	if _, err := take(); reasonOf(err) != platform.ReasonIO {
		t.Fatal("while it cannot be removed: ", err)
	}
	other := start(t, nil)
	if r := other.Do(command{Do: "acquire", Path: path, File: true}); !r.Held {
		t.Fatalf("%+v", r)
	}
	sticks.Store(false)
	second, err := take()
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if ok, err := second.Verify(); !ok || err != nil {
		t.Fatal("the first release took the second lock: ", ok, err)
	}
	mustRelease(t, second)
	other.must(command{Do: "acquire", Path: path, File: true})
}

// K8: the same after a failure in the middle of an acquisition.
func TestK8_AcquisitionThatFailedHalfway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	p := *platform.OS()
	sticks := &atomic.Bool{}
	p.FS = unreadable{sometimesSticky{p.FS, sticks}, sticks}
	sticks.Store(true)
	err := processlock.Acquire(context.Background(), &p, path, processlock.WithoutSQLite()).Error()
	if failure, ok := errors.AsType[*processlock.Failure](err); !ok || failure.Reason != platform.ReasonIO {
		t.Fatal(err)
	}
	sticks.Store(false)
	lock, err := processlock.Acquire(context.Background(), &p, path, processlock.WithoutSQLite()).Get()
	if err != nil {
		t.Fatal(err)
	}
	mustRelease(t, lock)
}

// sometimesSticky cannot remove anything while it sticks.
type sometimesSticky struct {
	platform.FS
	sticks *atomic.Bool
}

func (s sometimesSticky) Remove(path string) error {
	if s.sticks.Load() {
		return stickyFS{}.Remove(path)
	}
	return s.FS.Remove(path)
}

// unreadable cannot read a file that is there, meanwhile.
type unreadable struct {
	platform.FS
	sticks *atomic.Bool
}

func (u unreadable) ReadFile(path string, limit int64) ([]byte, error) {
	data, err := u.FS.ReadFile(path, limit)
	if err == nil && u.sticks.Load() {
		return nil, &platform.Failure{Op: "read file", Path: path, Reason: platform.ReasonIO}
	}
	return data, err
}
