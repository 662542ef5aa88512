package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/rivus/tether/errors"
)

// role is what a process of run or lock is for. The shell starts the first, which
// starts the keeper and is the front then.
//
//	shell ── front ──► keeper ──► CMD ──► its children
//	          └───── one process group ─────┘
//
// The front stands for CMD where the shell looks: it is stopped and continued with
// CMD, and ends as CMD does. The keeper has the lease and CMD. It has left the
// process group by the time that CMD runs, so that nothing that stops or kills a
// job reaches it.
type role struct {
	name string
	// control takes the front's bytes to the keeper, report the keeper's lines back.
	control, report int
	front           int // the first process's pid
	ignored         signalSet
}

const (
	roleVar     = "TETHER_ROLE"
	keeperRole  = "keeper"
	witnessRole = "witness"
	execRole    = "exec"
)

// String is what parseRole reads.
func (r role) String() string {
	return fmt.Sprintf("%s,%d,%d,%d,%x", r.name, r.control, r.report, r.front, uint64(r.ignored))
}

var errRole = errors.New(roleVar + " is how the tool's processes tell each other what they are; do not set it")

func parseRole(text string) (r role, err error) {
	name, rest, _ := strings.Cut(text, ",")
	r.name = name
	var ignored uint64
	if n, err := fmt.Sscanf(rest, "%d,%d,%d,%x", &r.control, &r.report, &r.front, &ignored); err != nil || n != 4 {
		return r, errRole
	}
	r.ignored = signalSet(ignored)
	if name != keeperRole && name != witnessRole && name != execRole {
		return r, errRole
	}
	return r, nil
}

// takeRole is the role of this process, and takes it out of the environment: CMD may
// be this program, too. There is none in the process that a user starts.
func takeRole() (r role, given bool, err error) {
	text, given := os.LookupEnv(roleVar)
	if !given {
		return r, false, nil
	}
	_ = os.Unsetenv(roleVar)
	r, err = parseRole(text)
	return r, true, err
}

// self is the file of this program, also when it was replaced meanwhile.
func self() (string, error) {
	const linux = "/proc/self/exe"
	if _, err := os.Stat(linux); err == nil {
		return linux, nil
	}
	return os.Executable()
}

// signalSet has the bit n-1 for signal n.
type signalSet uint64

func (s signalSet) has(n int) bool { return n >= 1 && n <= 64 && s&(1<<(n-1)) != 0 }

func setOf(numbers ...int) (s signalSet) {
	for _, n := range numbers {
		s |= 1 << (n - 1)
	}
	return s
}

// all calls f with each number of the set.
func (s signalSet) all(f func(n int)) {
	for n := 1; n <= 64; n++ {
		if s.has(n) {
			f(n)
		}
	}
}

// setFromHex reads what /proc/PID/status has after "SigIgn:".
func setFromHex(text string) (signalSet, error) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 16, 64)
	return signalSet(n), err
}
