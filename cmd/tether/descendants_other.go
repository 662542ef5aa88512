//go:build unix && !linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"syscall"
)

// orphansAreOurs: here orphans are init's, and only those whose parents live are known.
const orphansAreOurs = false

func adoptOrphans() {}

func childAttributes() *syscall.SysProcAttr { return nil }

// eachDescendant calls see with the children of the process, and theirs.
func eachDescendant(of int, see func(pid int)) {
	// How ps ended, who reaps all children may have learned in its place.
	list, _ := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	children := map[int][]int{}
	for lines := bufio.NewScanner(bytes.NewReader(list)); lines.Scan(); {
		var pid, parent int
		if n, _ := fmt.Sscan(lines.Text(), &pid, &parent); n == 2 {
			children[parent] = append(children[parent], pid)
		}
	}
	for next := children[of]; len(next) > 0; {
		pid := next[0]
		next = append(next[1:], children[pid]...)
		see(pid)
	}
}
