//go:build linux

package processlock_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
)

// begin joins the line and gives the attempt with the channel of its turn.
func begin(t testing.TB, path string, options ...processlock.Option) (*processlock.Attempt, <-chan struct{}) {
	t.Helper()
	a, err := processlock.Begin(platform.OS(), path, append(options, processlock.Wait())...)
	if err != nil {
		t.Fatal(err)
	}
	turn := make(chan struct{})
	a.OnTurn(func() { close(turn) })
	return a, turn
}

func TestK7_FIFO(t *testing.T) {
	mechanisms(t, func(t *testing.T, _ bool, options ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		first := acquire(t, path, options...)
		const n = 100
		attempts, turns := make([]*processlock.Attempt, n), make([]<-chan struct{}, n)
		for i := range n {
			attempts[i], turns[i] = begin(t, path, options...)
		}
		var left []int
		for i := range n {
			if i%3 == 1 { // some leave from the middle of the line
				attempts[i].Cancel()
			} else {
				left = append(left, i)
			}
		}
		mustRelease(t, first)
		for _, i := range left {
			select {
			case <-turns[i]:
			default:
				t.Fatal(i, " is next, and was not woken")
			}
			for _, later := range left[slices.Index(left, i)+1:] {
				if attempts[later].HasTurn() {
					t.Fatal("two have the turn: ", i, later)
				}
			}
			step := attempts[i].Try()
			if step.Lock == nil {
				t.Fatalf("%d: %+v", i, step)
			}
			mustRelease(t, step.Lock)
		}
	})
}

func TestK7_HeldOrAttemptedGivesHeldAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	a, turn := begin(t, path)
	<-turn
	// a has the turn and has not tried yet: "being attempted".
	if h := refused(t, path); h.Holder.IsPresent() {
		t.Fatal(h)
	}
	if isHeld(t, path) {
		t.Fatal("an attempt is no holder")
	}
	a.Cancel()
	mustRelease(t, acquire(t, path))
}

func TestK7_ThousandGoroutines(t *testing.T) {
	mechanisms(t, func(t *testing.T, _ bool, options ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		var inside, most, done atomic.Int64
		var all sync.WaitGroup
		n := rounds(1000)
		for range n {
			all.Go(func() {
				lock, err := processlock.Acquire(context.Background(), platform.OS(), path, append(options, processlock.Wait())...).Get()
				if err != nil {
					t.Error(err)
					return
				}
				if inside.Add(1) > 1 {
					most.Store(2)
				}
				runtime.Gosched()
				inside.Add(-1)
				done.Add(1)
				if err := lock.Release(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if most.Load() > 1 || done.Load() != int64(n) {
			t.Fatal(most.Load(), done.Load())
		}
		if lines := processlock.InProcessLines(); lines != 0 {
			t.Fatal(lines, " lines are left")
		}
	})
}

// Cancelling any waiter, at any moment, leaves everybody else's turn as it was.
func TestK7_CancelAnywhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	var all sync.WaitGroup
	var took, cancelled atomic.Int64
	cause := errors.New("given up")
	n := rounds(500)
	for i := range n {
		ctx, cancel := context.WithCancelCause(context.Background())
		all.Go(func() {
			defer cancel(nil)
			lock, err := processlock.Acquire(ctx, platform.OS(), path, processlock.Wait()).Get()
			switch {
			case err == nil:
				took.Add(1)
				if err := lock.Release(); err != nil {
					t.Error(err)
				}
			case errors.Is(err, cause):
				cancelled.Add(1)
			default:
				t.Error(err)
			}
		})
		if i%2 == 0 {
			all.Go(func() {
				for range rand.IntN(200) {
					runtime.Gosched()
				}
				cancel(cause)
			})
		}
	}
	all.Wait()
	if took.Load()+cancelled.Load() != int64(n) || took.Load() < int64(n/2) {
		t.Fatal(took.Load(), cancelled.Load())
	}
	if lines := processlock.InProcessLines(); lines != 0 {
		t.Fatal(lines, " lines are left")
	}
	mustRelease(t, acquire(t, path))
}

func TestK7_PathsOfOneLock(t *testing.T) {
	mechanisms(t, func(t *testing.T, _ bool, options ...processlock.Option) {
		root := t.TempDir()
		dir, link := filepath.Join(root, "dir"), filepath.Join(root, "link")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(dir, link); err != nil {
			t.Fatal(err)
		}
		lock := acquire(t, filepath.Join(dir, "l"), options...)
		t.Chdir(dir)
		for _, path := range []string{"l", "./l", "../dir/l", filepath.Join(link, "l"), filepath.Join(link, "..", "dir", ".", "l")} {
			if h := refused(t, path, options...); h.Holder != lock.Holder() || h.Path != path {
				t.Fatal(path, h)
			}
			if !isHeld(t, path, options...) {
				t.Fatal(path)
			}
		}
		mustRelease(t, acquire(t, filepath.Join(link, "other"), options...))
		mustRelease(t, lock)
		mustRelease(t, acquire(t, filepath.Join(link, "l"), options...))
	})
}

// K7: a hard link is another line, and one lock all the same, through SQLite.
func TestK7_HardLinkMeetsInSQLite(t *testing.T) {
	dir := t.TempDir()
	path, second := filepath.Join(dir, "l"), filepath.Join(dir, "second")
	lock := acquire(t, path)
	if err := os.Link(path, second); err != nil {
		t.Fatal(err)
	}
	refused(t, second)
	if !isHeld(t, second) {
		t.Fatal("free")
	}
	other := start(t, nil)
	if r := other.Do(command{Do: "acquire", Path: path}); !r.Held {
		t.Fatalf("the look through the second name dropped the lock: %+v", r)
	}
	mustRelease(t, lock)
	mustRelease(t, acquire(t, second))
}

// K7: another platform value is another copy: they meet in SQLite.
func TestK7_OtherPlatformValueMeetsInSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	copied := *platform.OS()
	lock := acquire(t, path)
	for range 20 {
		result := processlock.Acquire(context.Background(), &copied, path)
		if _, ok := errors.AsType[*processlock.Held](result.Error()); !ok {
			t.Fatal(result)
		}
	}
	if r := start(t, nil).Do(command{Do: "acquire", Path: path}); !r.Held {
		t.Fatalf("a refused copy dropped the lock: %+v", r)
	}
	mustRelease(t, lock)
}

// K7, K11: the other mechanism must not open the database of a lock that is held,
// or about to be, in this process.
func TestK11_OtherMechanismDoesNotOpenTheDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	acquire(t, path)
	refused(t, path, processlock.WithoutSQLite())
	if !isHeld(t, path, processlock.WithoutSQLite()) {
		t.Fatal("free")
	}
	if r := start(t, nil).Do(command{Do: "acquire", Path: path}); !r.Held {
		t.Fatalf("the lock was dropped: %+v", r)
	}
}

// K11: nor while the one of this process is between taking and having it.
func TestK11_OtherMechanismDoesNotOpenWhatIsAttempted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	p := *platform.OS()
	looked := false
	p.Process = cancellingProcess{p.Process, func() {
		if looked {
			return
		}
		looked = true // the kernel's lock is taken, and nobody knows yet
		result := processlock.Acquire(context.Background(), &p, path, processlock.WithoutSQLite())
		if held, ok := errors.AsType[*processlock.Held](result.Error()); !ok || held.Holder.IsPresent() {
			t.Error(result)
		}
		if held, err := processlock.IsHeld(context.Background(), &p, path, processlock.WithoutSQLite()); !held || err != nil {
			t.Error(held, err)
		}
	}}
	lock, err := processlock.Acquire(context.Background(), &p, path).Get()
	if err != nil || !looked {
		t.Fatal(err, looked)
	}
	if r := start(t, nil).Do(command{Do: "acquire", Path: path}); !r.Held {
		t.Fatalf("the lock was dropped: %+v", r)
	}
	mustRelease(t, lock)
}
