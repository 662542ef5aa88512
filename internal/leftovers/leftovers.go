// Package leftovers fails a package's tests when they leave a goroutine or a file
// descriptor behind.
package leftovers

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Verify runs the tests and ends the process. last, if given, runs after them and
// before the look at what is left.
func Verify(m *testing.M, last ...func()) {
	before := descriptors()
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		for _, fn := range last {
			fn()
		}
		for fd, file := range descriptors() {
			if before[fd] == file || ours(file) {
				continue
			}
			fmt.Fprintf(os.Stderr, "a file descriptor is left: %s, %s\n", fd, file)
			code = max(code, 1)
		}
		os.Exit(code)
	}))
}

// ours tells what the Go runtime keeps for itself: the poller's descriptors.
func ours(file string) bool {
	return file == "anon_inode:[eventpoll]" || file == "anon_inode:[eventfd]"
}
