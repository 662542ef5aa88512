//go:build unix

package main

import (
	"context"
	"os"
	"syscall"

	"github.com/rivus/tether/effect"
	"golang.org/x/sys/unix"
)

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
			// No event is asked for: the end of the other side is told in any case.
			polled := []unix.PollFd{{Fd: int32(fd)}}
			switch n, err := unix.Poll(polled, -1); {
			case err != nil && err != unix.EINTR && err != unix.EAGAIN:
				<-ctx.Done() // a write will tell
				return never, context.Cause(ctx)
			case n > 0:
				return never, syscall.EPIPE
			}
		}
	})
}
