//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// terminal is the one that CMD has from the tool while it runs: a process group in
// the background that reads from it would be stopped.
type terminal struct{ fd int }

// handOver makes group the terminal's, if stdin is a terminal that the tool has; nil
// otherwise.
func handOver(group int) *terminal {
	fd := int(os.Stdin.Fd())
	if !term.IsTerminal(fd) {
		return nil
	}
	if now, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || now != syscall.Getpgrp() {
		return nil
	}
	if unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, group) != nil {
		return nil
	}
	// It may have read too early.
	_ = syscall.Kill(-group, syscall.SIGCONT)
	return &terminal{fd: fd}
}

// takeBack gives the terminal back to the tool's group.
func (t *terminal) takeBack() {
	if t == nil {
		return
	}
	// From the background it takes this to be allowed. CMD, which would have
	// inherited it, has ended.
	signal.Ignore(syscall.SIGTTOU)
	_ = unix.IoctlSetPointerInt(t.fd, unix.TIOCSPGRP, syscall.Getpgrp())
}
