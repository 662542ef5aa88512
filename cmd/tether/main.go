// Command tether holds a lease or a process lock while a command runs, and shows
// who holds what.
//
//	tether run --lease leases.db nightly -- ./report.sh
//	tether lock /tmp/deploy.lock --wait -- make deploy
//	tether ls leases.db
//
// README.md has the exit statuses, what --json writes, and the completion of keys.
//
// # What is guaranteed
//
// CMD runs as the leader of a process group of its own, under a supervisor: a
// second process of this program that watches a pipe whose other end only the tool
// has.
//
//	tether ──pipe──► supervisor ──► CMD ──► its children
//
// When the tool ends, by kill -9 or otherwise, the supervisor kills everything that
// CMD started, and ends. On Linux that includes processes that left the group, with
// setsid or as daemons: orphans are the supervisor's children. When the supervisor
// is killed, CMD dies with it (PR_SET_PDEATHSIG), and the tool kills the group.
//
// The lease, or the lock, is given back after the last of these processes has ended:
// what CMD leaves in the background is stopped, too.
//
// Not guaranteed: that a successor waits for the last of a killed tool's processes,
// since the kernel frees the fence with the tool, and the supervisor needs some
// milliseconds (a resource that checks the token is safe even then); that
// grandchildren die when the tool and the supervisor are killed
// in the same instant; that processes of another user (sudo) can be killed: they are
// waited for. On macOS and the BSDs only the process group is killed, so that a
// daemon escapes, and CMD survives a kill -9 of the tool and the supervisor both.
// Windows has ls, show and watch only.
package main

import (
	"os"
	"runtime"
)

func init() {
	if supervising(os.Args) {
		// The kernel's "kill the child when its parent ends" is about the thread that
		// started it. The main thread is there as long as the process is.
		runtime.LockOSThread()
	}
}

func main() { os.Exit(Main(os.Args)) }

// Main runs the program with its arguments, its own name first, and gives its exit
// status.
func Main(args []string) int {
	if supervising(args) {
		return supervise(args[2:])
	}
	return execute(args[1:])
}

// superviseCommand is the first argument of the supervisor's process.
const superviseCommand = "__supervise"

func supervising(args []string) bool { return len(args) > 1 && args[1] == superviseCommand }
