//go:build linux

package processlock_test

import "golang.org/x/sys/unix"

// monotonic is CLOCK_MONOTONIC in nanoseconds, which is one for all processes.
func monotonic() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return ts.Nano()
}
