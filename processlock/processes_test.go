//go:build linux

package processlock_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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
		w.tell(c)
	}
	for _, w := range r.workers[:n] {
		w.hear() // ready
	}
	if _, err := r.gate.Write(make([]byte, n)); err != nil {
		r.t.Fatal(err)
	}
	for _, w := range r.workers[:n] {
		a := w.hear()
		replies = append(replies, a)
		switch {
		case a.OK && winner != nil:
			r.t.Fatalf("two winners of %d: %d and %d", n, winner.pid, w.pid)
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
				if a.Held && a.Holder != 0 && a.Holder != winner.pid {
					t.Fatalf("round %d: %d is named, %d holds", round, a.Holder, winner.pid)
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
			victim.kill()
			winner, _ := r.race(8, command{Path: path, File: file})
			if h := refused(t, path, options...); h.Holder.OrEmpty().PID != winner.pid {
				t.Fatal(h)
			}
			winner.must(command{Do: "release", Path: path})
			if names := entries(t, dir); strings.Contains(names, "stale") || strings.Contains(names, "tmp") {
				t.Fatal("left: ", names)
			}
		}
	})
}

// K1: the kernel frees the lock of a killed holder; K5: a waiter finds out at its
// next try.
func TestK1_KillFreesAWaiter(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, _ ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		const retry = time.Millisecond
		var late []time.Duration
		for range rounds(20) {
			holder, waiter := start(t, nil), start(t, nil)
			holder.must(command{Do: "acquire", Path: path, File: file})
			if r := waiter.do(command{Do: "acquire", Path: path, File: file}); !r.Held {
				t.Fatalf("%+v", r)
			}
			waiter.tell(command{Do: "acquire", Path: path, File: file, Wait: true, Retry: retry})
			killed := monotonic()
			holder.kill()
			r := waiter.hear()
			if !r.OK {
				t.Fatalf("%+v", r)
			}
			late = append(late, time.Duration(r.At-killed))
			waiter.must(command{Do: "release", Path: path})
		}
		slices.Sort(late)
		median := late[len(late)/2]
		t.Logf("kill -9 to the waiter's lock: median %v, worst %v (pauses are up to 20ms)", median, late[len(late)-1])
		// The goal is 20 ms beyond the pause, 40 in all, on a machine that has a
		// processor to give; on a crowded one the scheduler alone takes more.
		if most := 400 * time.Millisecond; median > most {
			t.Errorf("median %v, more than %v", median, most)
		}
	})
}

func TestK1_StoppedHolderKeepsIt(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		holder := start(t, nil)
		holder.must(command{Do: "acquire", Path: path, File: file})
		holder.stop()
		for range 20 {
			if h := refused(t, path, options...); h.Holder.OrEmpty().PID != holder.pid {
				t.Fatal(h)
			}
			if !isHeld(t, path, options...) {
				t.Fatal("free")
			}
		}
		holder.signal(syscall.SIGCONT)
		if r := holder.do(command{Do: "verify", Path: path}); !r.OK {
			t.Fatalf("%+v", r)
		}
		holder.must(command{Do: "release", Path: path})
		mustRelease(t, acquire(t, path, options...))
	})
}

// F16: killed but not reaped. The parent of the zombie is this process.
func TestF16_ZombieHolderIsDead(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		holder := start(t, nil)
		holder.must(command{Do: "acquire", Path: path, File: file})
		holder.signal(syscall.SIGKILL)
		// Its output ends when the kernel has closed its files, before it is a
		// zombie; waitid with WNOWAIT returns when it is one and leaves it so.
		awaitZombie(t, holder.pid)
		mustRelease(t, acquire(t, path, options...))
	})
}

// K10: children that start while the lock is held do not keep it alive.
func TestK10_ChildDoesNotKeepIt(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		lock := acquire(t, path, options...)
		child := exec.Command("cat")
		in, err := child.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = in.Close(); _ = child.Wait() }()
		links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", child.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range links {
			if to, _ := os.Readlink(l); to == path {
				t.Fatal("the child has inherited the lock's descriptor")
			}
		}
		mustRelease(t, lock)
		if r := start(t, nil).do(command{Do: "acquire", Path: path, File: file}); !r.OK {
			t.Fatalf("%+v", r)
		}
	})
}

// K10: a storm of short children while locks are taken and given back.
func TestK10_ForkStorm(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		other := start(t, nil)
		var storm sync.WaitGroup
		over := make(chan struct{})
		storm.Go(func() {
			defer close(over)
			for range rounds(200) {
				if err := exec.Command("true").Run(); err != nil {
					t.Error(err)
				}
			}
		})
		for going := true; going; {
			select {
			case <-over:
				going = false
			default:
			}
			lock := acquire(t, path, options...)
			if r := other.do(command{Do: "acquire", Path: path, File: file}); !r.Held {
				t.Fatalf("held, and given to another: %+v", r)
			}
			mustRelease(t, lock)
			if r := other.do(command{Do: "acquire", Path: path, File: file}); !r.OK {
				t.Fatalf("released, and still refused: %+v", r)
			}
			other.must(command{Do: "release", Path: path})
		}
		storm.Wait()
	})
}

// K9: checks in a loop never make a free lock refuse, nor see a held one free.
func TestK9_ChecksDisturbNobody(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		mustRelease(t, acquire(t, path, options...)) // so that it exists
		var checkers []*process
		for range 8 {
			checkers = append(checkers, start(t, nil))
		}
		const repeat = 60
		check := command{Do: "isheld", Path: path, File: file, Repeat: repeat}
		for range rounds(20) {
			for _, c := range checkers {
				c.tell(check)
			}
			// Free as far as holders go: each attempt must succeed.
			for range 20 {
				mustRelease(t, acquire(t, path, options...))
			}
			for _, c := range checkers {
				if r := c.hear(); !r.OK {
					t.Fatalf("%+v", r)
				}
			}
		}
		lock := acquire(t, path, options...)
		for _, c := range checkers {
			c.tell(check)
		}
		for _, c := range checkers {
			if r := c.hear(); !r.OK || r.Holder != repeat {
				t.Fatalf("seen held %d times of %d: %+v", r.Holder, repeat, r)
			}
		}
		mustRelease(t, lock)
		for _, c := range checkers {
			c.tell(check)
		}
		for _, c := range checkers {
			if r := c.hear(); !r.OK || r.Holder != 0 {
				t.Fatalf("checks saw each other as a holder %d times: %+v", r.Holder, r)
			}
		}
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
		holder.do(command{Do: "acquire", Path: path})
		holder.must(command{Do: "verify", Path: path})
	}
	if r := other.do(command{Do: "acquire", Path: path}); !r.Held {
		t.Fatalf("our own looks dropped it: %+v", r)
	}
	holder.must(command{Do: "foreign-close", Path: path})
	if r := other.do(command{Do: "acquire", Path: path}); !r.OK {
		t.Skipf("POSIX locks are not dropped here: %+v", r)
	}
}

// Interchange with another SQLite, the sqlite3 shell.
func TestK1_Sqlite3Shell(t *testing.T) {
	shell, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("no sqlite3 shell on this machine")
	}
	path := filepath.Join(t.TempDir(), "l")

	lock := acquire(t, path)
	out, err := exec.Command(shell, path, "PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE;").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "locked") {
		t.Fatalf("the shell got our lock: %s, %v", out, err)
	}
	mustRelease(t, lock)

	cmd := exec.Command(shell, path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = cmd.Wait() }()
	lines := bufio.NewReader(stdout)
	say := func(sql, until string) {
		t.Helper()
		if _, err := io.WriteString(in, sql+"\nSELECT '"+until+"';\n"); err != nil {
			t.Fatal(err)
		}
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if strings.TrimSpace(line) == until {
				return
			}
		}
	}
	say("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE;", "taken")
	if h := refused(t, path); h.Holder.IsPresent() {
		t.Fatal(h)
	}
	if !isHeld(t, path) {
		t.Fatal("free")
	}
	// Another process of ours is refused, too.
	if r := start(t, nil).do(command{Do: "acquire", Path: path}); !r.Held {
		t.Fatalf("%+v", r)
	}
	say("ROLLBACK; PRAGMA locking_mode=NORMAL; SELECT count(*) FROM sqlite_master;", "given back")
	mustRelease(t, acquire(t, path))
}
