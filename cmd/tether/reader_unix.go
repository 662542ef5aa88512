//go:build unix

package main

import (
	"context"
	"os"
	"syscall"
	"time"

	"github.com/rivus/tether/effect"
	"golang.org/x/sys/unix"
)

// readBand is POLLRDBAND, which x/sys has for some systems only: the same number on
// Linux, macOS and the BSDs.
const readBand = 0x80

// readerGone fails with EPIPE when f is a pipe or a socket that nobody reads any more.
// Who writes seldom would not learn of it for long. Its poll, once begun, ends
// with the process.
func readerGone(f *os.File) effect.Effect[effect.Nothing] {
	return effect.TryPromise(func(ctx context.Context) (never effect.Nothing, err error) {
		fd := int(f.Fd())
		var is unix.Stat_t
		if err := unix.Fstat(fd, &is); err != nil || is.Mode&unix.S_IFMT != unix.S_IFIFO && is.Mode&unix.S_IFMT != unix.S_IFSOCK {
			<-ctx.Done()
			return never, context.Cause(ctx)
		}
		for {
			// The end of the other side is told in any case; but macOS and illumos tell
			// nothing to who asks for nothing.
			polled := []unix.PollFd{{Fd: int32(fd), Events: readBand}}
			_, err := unix.Poll(polled, -1)
			switch {
			case err == unix.EINTR || err == unix.EAGAIN:
			case err == nil && polled[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0:
				return never, syscall.EPIPE
			default: // a write will tell
				<-ctx.Done()
				return never, context.Cause(ctx)
			}
		}
	})
}

// computed is the time that this process has computed: on a busy machine a look takes
// longer, and costs no more.
func computed() time.Duration {
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
