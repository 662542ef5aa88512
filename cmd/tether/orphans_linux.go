package main

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// orphansAreOurs: a process whose parent dies becomes the child of its nearest ancestor that
// adopts: the supervisor, or the tool when that is dead.
const orphansAreOurs = true

// adoptOrphans makes this process adopt. It works since Linux 3.4.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// descendants are the children of the process, and theirs.
func descendants(of int) (found []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if line, err := os.ReadFile("/proc/" + entry.Name() + "/stat"); err == nil {
			if parent, ok := parentIn(line); ok {
				children[parent] = append(children[parent], pid)
			}
		}
	}
	for next := children[of]; len(next) > 0; {
		pid := next[0]
		next = append(next[1:], children[pid]...)
		found = append(found, pid)
	}
	return found
}

// parentIn takes the parent's pid, field 4, from a line of /proc/PID/stat. The
// program's name before it may contain anything.
func parentIn(line []byte) (int, bool) {
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return parent, err == nil
}
