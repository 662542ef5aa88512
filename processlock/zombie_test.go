//go:build linux

package processlock_test

import (
	"testing"

	"golang.org/x/sys/unix"
)

// awaitZombie returns when the child has ended, and leaves it unreaped.
func awaitZombie(t *testing.T, pid int64) {
	t.Helper()
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_PID, int(pid), &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
}
