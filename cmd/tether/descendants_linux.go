package main

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// orphansAreOurs: a process whose parent dies becomes the child of its nearest ancestor that
// adopts: the keeper, or the front when that is dead.
const orphansAreOurs = true

// adoptOrphans makes this process adopt. It works since Linux 3.4.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// eachDescendant calls see with the children of the process and theirs, each as soon as
// it is found: one that forks and ends is there for a moment only.
func eachDescendant(of int, see func(pid int)) {
	if _, err := os.Stat("/proc/self/task/" + strconv.Itoa(os.Getpid()) + "/children"); err != nil {
		eachBelow(of, see)
		return
	}
	seen := map[int]bool{of: true}
	for next := []int{of}; len(next) > 0; {
		pid := next[0]
		next = next[1:]
		for _, child := range childrenOf(pid) {
			if !seen[child] {
				seen[child] = true
				see(child)
				next = append(next, child)
			}
		}
	}
}

// childrenOf are those of all threads of the process.
func childrenOf(pid int) (found []int) {
	tasks := "/proc/" + strconv.Itoa(pid) + "/task"
	dir, err := os.Open(tasks)
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		list, err := os.ReadFile(tasks + "/" + name + "/children")
		if err != nil {
			continue
		}
		for field := range bytes.FieldsSeq(list) {
			if child, err := strconv.Atoi(string(field)); err == nil {
				found = append(found, child)
			}
		}
	}
	return found
}

// eachBelow is eachDescendant for a kernel that does not list children.
func eachBelow(of int, see func(pid int)) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return
	}
	children := map[int][]int{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if parent, ok := parentOf(pid); ok {
			children[parent] = append(children[parent], pid)
		}
	}
	for next := children[of]; len(next) > 0; {
		pid := next[0]
		next = append(next[1:], children[pid]...)
		see(pid)
	}
}

func parentOf(pid int) (int, bool) {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	return parentIn(line)
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
