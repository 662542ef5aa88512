//go:build linux

package processlock_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/internal/alone"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
)

// K12: no permission. Root may everything, so another user tries.
func TestK12_NoPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		dir := t.TempDir()
		t.Setenv("TETHER_DIR", dir)
		if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "readable"), "")
		write(t, filepath.Join(dir, "secret"), "")
		if err := errors.Join(os.Chmod(filepath.Join(dir, "readable"), 0o444), os.Chmod(filepath.Join(dir, "secret"), 0)); err != nil {
			t.Fatal(err)
		}
		if alone.Run(t, func(c *exec.Cmd) {
			c.Dir = "/"
			c.Env = append(c.Env, "TMPDIR=/tmp")
			c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}) {
			t.Fatal("still root")
		}
		if names := entries(t, dir); names != "[readable secret]" {
			t.Fatal(names)
		}
		return
	}
	dir := os.Getenv("TETHER_DIR")
	if dir == "" {
		t.Skip("needs root to prepare it")
	}
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		fails(t, filepath.Join(dir, "new"), platform.ReasonPermission, options...)
		fails(t, filepath.Join(dir, "secret"), platform.ReasonPermission, options...)
		if !file {
			fails(t, filepath.Join(dir, "readable"), platform.ReasonPermission, options...)
			if isHeld(t, filepath.Join(dir, "readable")) {
				t.Fatal("held")
			}
		}
	})
}

// F24: a full disk.
func TestK12_FullDisk(t *testing.T) {
	if !alone.WithMounts(t) {
		return
	}
	dir := t.TempDir()
	free := alone.FullDisk(t, dir)
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		path := filepath.Join(dir, fmt.Sprint("l-", file))
		fails(t, path, platform.ReasonNoSpace, options...)
		if names := entries(t, dir); strings.Contains(names, "holder") || strings.Contains(names, "tmp") {
			t.Fatal("left: ", names)
		}
		if isHeld(t, path, options...) {
			t.Fatal("held")
		}
	})
	free()
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		mustRelease(t, acquire(t, filepath.Join(dir, fmt.Sprint("l-", file)), options...))
	})
}

// F24: a file system that is mounted read-only.
func TestK12_ReadOnlyFileSystem(t *testing.T) {
	if !alone.WithMounts(t) {
		return
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "there"), "")
	alone.ReadOnly(t, dir)
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		fails(t, filepath.Join(dir, "new"), platform.ReasonReadOnly, options...)
		if !file { // an empty file is a lock file that waits for its stamp
			fails(t, filepath.Join(dir, "there"), platform.ReasonReadOnly, options...)
			if isHeld(t, filepath.Join(dir, "there")) {
				t.Fatal("held")
			}
		}
	})
}

// F24: no descriptor left, at every single one: never held, nothing half-written,
// nothing leaked.
func TestK12_TooManyFiles(t *testing.T) {
	if !alone.Run(t, func(*exec.Cmd) {}) {
		return
	}
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		dir := t.TempDir()
		path := filepath.Join(dir, "l")
		mustRelease(t, acquire(t, path, options...)) // what is opened once is open
		base := descriptors(t)
		var limit unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
			t.Fatal(err)
		}
		restore := limit
		failed, succeeded := 0, false
		for spare := uint64(0); spare < 10 && !succeeded; spare++ {
			limit.Cur = highest(t) + 1 + spare
			if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
				t.Fatal(err)
			}
			lock, err := processlock.Acquire(context.Background(), platform.OS(), path, options...).Get()
			if e := unix.Setrlimit(unix.RLIMIT_NOFILE, &restore); e != nil {
				t.Fatal(e)
			}
			if err == nil {
				succeeded = true
				mustRelease(t, lock)
			} else if reasonOf(err) != platform.ReasonTooManyFiles {
				t.Fatalf("%d spare: %v", spare, err)
			} else {
				failed++
			}
			if now := descriptors(t); now != base {
				t.Fatalf("%d descriptors, were %d", now, base)
			}
			if names := entries(t, dir); names != "[l]" && names != "[]" {
				t.Fatal("left: ", names)
			}
		}
		if failed == 0 || !succeeded {
			t.Fatal(failed, succeeded)
		}
	})
}

func descriptors(t testing.TB) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc: ", err)
	}
	return len(list)
}

// highest is the highest descriptor in use.
func highest(t testing.TB) uint64 {
	t.Helper()
	fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = unix.Close(fd)
	return uint64(fd) - 1
}

// F21: nothing is left open by thousands of locks, checks and refusals.
func TestF21_NoDescriptorLeaks(t *testing.T) {
	mechanisms(t, func(t *testing.T, _ bool, options ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		mustRelease(t, acquire(t, path, options...))
		before := descriptors(t)
		for range rounds(500) {
			lock := acquire(t, path, options...)
			refused(t, path, options...)
			isHeld(t, path, options...)
			mustRelease(t, lock)
			isHeld(t, path, options...)
		}
		if after := descriptors(t); after != before {
			t.Fatal(after, before)
		}
	})
}
