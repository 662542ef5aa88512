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
// CMD runs in the process group in which the tool was started, as it does with flock
// and with timeout --foreground. So the terminal, the shell's jobs, pipelines and
// scripts find what they would find without the tool: ^C and ^Z reach CMD and the
// tool at once, and who may read the terminal is the shell's to say.
//
//	shell ── tether ──► keeper ──► CMD ──► its children
//	           └──────── one group ────────────┘
//
// The keeper, a second process of this program, has the lease and is CMD's parent. It
// leaves the group and the session once CMD runs: what stops the job does not stop
// it, so that the lease goes on being renewed while CMD is stopped by ^Z, as a lock of
// flock goes on being held. A job that is stopped before CMD runs takes nothing.
//
// What is sent to the tool alone, by its pid, CMD gets once; what is sent to the whole
// group is not passed on, since CMD has it. A third process, the witness, stays in the
// group to tell the one from the other.
//
// When CMD has ended, or the lease is lost, everything that CMD started is told to
// end (SIGTERM), and is killed after the grace period. Then the lease or the lock is
// given back, and the tool ends as CMD did: with its status, or by the same signal.
//
// When the tool is killed by kill -9 the keeper kills everything that CMD started,
// gives back the lease, and ends. When the keeper is killed CMD dies with it
// (PR_SET_PDEATHSIG), and the tool kills the rest. On Linux that includes processes
// that left the group, with setsid or as daemons, and those that fork and exit faster
// than anybody can look: orphans are the keeper's children
// (PR_SET_CHILD_SUBREAPER), or else the tool's. A cgroup would do the same where there is
// one that this user may write; a PID namespace would show CMD other pids.
//
// Not guaranteed: that the rest dies when the tool and the keeper are killed in the
// same instant (CMD itself does); that processes of another user (sudo) can be killed:
// they are waited for, and the lease is kept. On macOS and the BSDs orphans are not found,
// so that what CMD leaves in the background runs on; CMD survives a kill -9 of the tool
// and the keeper both; and without a witness's answer a SIGINT to the tool alone, in
// the foreground, is taken for ^C. CMD finds a descriptor 0, 1 or 2 that was closed open on
// /dev/null. Windows has ls, show, watch and doctor only.
package main

import (
	"os"
	"runtime"
	"strings"
	"syscall"
)

func init() {
	if strings.HasPrefix(os.Getenv(roleVar), keeperRole+",") {
		runtime.LockOSThread() // see frontLink.onMain
	}
}

func main() { os.Exit(Main(os.Args)) }

// Main runs the program with its arguments, its own name first, and gives its exit
// status.
func Main(args []string) int {
	r, given, err := takeRole()
	switch {
	case err != nil:
		(&output{err: os.Stderr}).fail(err)
		return statusTrouble
	case !given:
		status := execute(args[1:])
		if status < 0 {
			dieOf(syscall.Signal(-status))
			return statusSignal - status
		}
		return status
	case r.name == witnessRole:
		return bearWitness(r)
	case r.name == keeperRole:
		return keep(r, args[1:])
	default:
		return becomeCommand(r, args[1:])
	}
}
