//go:build linux

package processlock_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rivus/tether/processlock"
)

// racers are processes that start at one barrier: a pipe that all have inherited,
// from which each takes one byte.
type racers struct {
	t       *testing.T
	workers []*process
	gate    *os.File
}

func newRacers(t *testing.T, n int) *racers {
	t.Helper()
	barrier, gate, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r := &racers{t: t, gate: gate}
	for range n {
		r.workers = append(r.workers, start(t, barrier))
	}
	_ = barrier.Close()
	t.Cleanup(func() { _ = gate.Close() })
	return r
}

// race lets the first n start at once and gives who got the lock.
func (r *racers) race(n int, c command) (winner *process, replies []reply) {
	r.t.Helper()
	c.Do = "race"
	for _, w := range r.workers[:n] {
		w.Tell(c)
	}
	for _, w := range r.workers[:n] {
		w.Hear() // ready
	}
	if _, err := r.gate.Write(make([]byte, n)); err != nil {
		r.t.Fatal(err)
	}
	for _, w := range r.workers[:n] {
		a := w.Hear()
		replies = append(replies, a)
		switch {
		case a.OK && winner != nil:
			r.t.Fatalf("two winners of %d: %d and %d", n, winner.PID(), w.PID())
		case a.OK:
			winner = w
		case !a.Held:
			r.t.Fatalf("one of %d failed: %+v", n, a)
		}
	}
	if winner == nil {
		r.t.Fatalf("none of %d got it: %+v", n, replies)
	}
	return winner, replies
}

func TestK6_ExactlyOneOfSimultaneousStarters(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, _ ...processlock.Option) {
		r := newRacers(t, 16)
		path := filepath.Join(t.TempDir(), "l")
		total := rounds(500)
		for round := range total {
			n := 2 + round%15
			winner, replies := r.race(n, command{Path: path, File: file})
			for _, a := range replies {
				// A loser may ask before the winner has written its name, never
				// hear another one.
				if a.Held && a.Holder != 0 && a.Holder != winner.PID() {
					t.Fatalf("round %d: %d is named, %d holds", round, a.Holder, winner.PID())
				}
			}
			winner.must(command{Do: "release", Path: path})
		}
	})
}

// F1: the holder was killed, and eight try at once: one reclaims.
func TestF1_EightReclaimOneDeadHolder(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		r := newRacers(t, 8)
		dir := t.TempDir()
		path := filepath.Join(dir, "l")
		for range rounds(50) {
			victim := start(t, nil)
			victim.must(command{Do: "acquire", Path: path, File: file})
			victim.Kill()
			winner, _ := r.race(8, command{Path: path, File: file})
			if h := refused(t, path, options...); h.Holder.OrEmpty().PID != winner.PID() {
				t.Fatal(h)
			}
			winner.must(command{Do: "release", Path: path})
			if names := entries(t, dir); strings.Contains(names, "stale") || strings.Contains(names, "tmp") {
				t.Fatal("left: ", names)
			}
		}
	})
}

// K1: the kernel frees the lock of a killed holder; K5: a waiter finds out at the end
// of the pause that it is in. The times are reported, not judged: they are the
// scheduler's.
func TestK1_KillFreesAWaiter(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, _ ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		waiter := start(t, nil)
		var beyond, total []time.Duration
		for round := range rounds(60) {
			holder := start(t, nil)
			holder.must(command{Do: "acquire", Path: path, File: file})
			// The kill comes in the first to fifth pause.
			waiter.Tell(command{Do: "acquire", Path: path, File: file, Wait: true, Retry: time.Millisecond, Notify: 1 + round%5})
			if r := waiter.Hear(); r.Text != "pausing" {
				t.Fatalf("%+v", r)
			}
			killed := monotonic()
			holder.Kill()
			r := waiter.Hear()
			if !r.OK {
				t.Fatalf("%+v", r)
			}
			over := killed
			for _, p := range r.Pauses {
				if p.Begin <= killed && killed < p.End {
					over = p.End
				}
			}
			beyond = append(beyond, time.Duration(r.At-over))
			total = append(total, time.Duration(r.At-killed))
			waiter.must(command{Do: "release", Path: path})
		}
		slices.Sort(beyond)
		slices.Sort(total)
		n := len(beyond)
		t.Logf("%d kills -9: the waiter had the lock %v after its pause ended (median; worst %v), %v after the kill (median; worst %v)",
			n, beyond[n/2], beyond[n-1], total[n/2], total[n-1])
	})
}

func TestK1_StoppedHolderKeepsIt(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		holder := start(t, nil)
		holder.must(command{Do: "acquire", Path: path, File: file})
		holder.Stop()
		for range 20 {
			if h := refused(t, path, options...); h.Holder.OrEmpty().PID != holder.PID() {
				t.Fatal(h)
			}
			if !isHeld(t, path, options...) {
				t.Fatal("free")
			}
		}
		holder.Resume()
		if r := holder.Do(command{Do: "verify", Path: path}); !r.OK {
			t.Fatalf("%+v", r)
		}
		holder.must(command{Do: "release", Path: path})
		mustRelease(t, acquire(t, path, options...))
	})
}

// A waiter that is stopped misses its chances, disturbs nobody, and gets the lock when
// it goes on.
func TestK5_StoppedWaiter(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		lock := acquire(t, path, options...)
		waiter := start(t, nil)
		waiter.Tell(command{Do: "acquire", Path: path, File: file, Wait: true, Retry: 50 * time.Millisecond, Notify: 2})
		if r := waiter.Hear(); r.Text != "pausing" {
			t.Fatalf("%+v", r)
		}
		waiter.Stop()
		for range 20 {
			mustRelease(t, lock)
			if isHeld(t, path, options...) {
				t.Fatal("held")
			}
			lock = acquire(t, path, options...)
		}
		mustRelease(t, lock)
		waiter.Resume()
		if r := waiter.Hear(); !r.OK {
			t.Fatalf("%+v", r)
		}
		if h := refused(t, path, options...); h.Holder.OrEmpty().PID != waiter.PID() {
			t.Fatal(h)
		}
	})
}

// F16: killed but not reaped. The parent of the zombie is this process.
func TestF16_ZombieHolderIsDead(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		holder := start(t, nil)
		holder.must(command{Do: "acquire", Path: path, File: file})
		holder.Signal(syscall.SIGKILL)
		holder.AwaitZombie()
		mustRelease(t, acquire(t, path, options...))
	})
}

// K11, F19: what happens when some other part of the holder's program closes a
// descriptor of the database, and that the code here does not.
func TestK11_ForeignCloseDropsTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	holder, other := start(t, nil), start(t, nil)
	holder.must(command{Do: "acquire", Path: path})
	for range 3 { // everything of ours that looks at a lock
		holder.must(command{Do: "isheld", Path: path})
		holder.Do(command{Do: "acquire", Path: path})
		holder.must(command{Do: "verify", Path: path})
	}
	if r := other.Do(command{Do: "acquire", Path: path}); !r.Held {
		t.Fatalf("our own looks dropped it: %+v", r)
	}
	holder.must(command{Do: "foreign-close", Path: path})
	if r := other.Do(command{Do: "acquire", Path: path}); !r.OK {
		t.Skipf("POSIX locks are not dropped here: %+v", r)
	}
}
