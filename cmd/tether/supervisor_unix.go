//go:build unix

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// supervisor runs CMD in a process of its own, between the tool and CMD, and ends
// after all that CMD started has ended. A pipe that the tool holds tells it when the
// tool is gone, however it went.
//
//	          stopByte, or CMD ended            the grace period is over
//	running ─────────────────────────► stopping ─────────────────────────► killing
//	   └───────────────────────────────────┴─── the pipe ended ───────────────┘
type supervisor struct {
	pid    int // CMD's and its group's
	ended  bool
	status int
	phase  phase
	grace  time.Duration
	over   <-chan time.Time
	// told are those who got SIGTERM, once each: many programs take a second one for
	// impatience.
	told map[int]bool
}

type phase int

const (
	running  phase = iota
	stopping       // everybody got SIGTERM
	killing        // everybody got SIGKILL, and so does who appears
)

// supervise is the supervisor's process. args are the grace period, the program's
// file and CMD's arguments, its name first.
func supervise(args []string) int {
	if len(args) < 3 || !isPipe(3) || !isPipe(4) {
		fmt.Fprintf(os.Stderr, "tether: %s is what the tool starts itself with; use run or lock\n", superviseCommand)
		return statusTrouble
	}
	control, report := os.NewFile(3, "control"), os.NewFile(4, "report")
	// CMD must inherit neither: it would keep the tool waiting for the report's end.
	syscall.CloseOnExec(3)
	syscall.CloseOnExec(4)
	failed := func(err error) int {
		fmt.Fprintf(report, "failed %v\n", err)
		return statusTrouble
	}
	grace, err := time.ParseDuration(args[0])
	if err != nil {
		return failed(err)
	}
	// Caught, not ignored: CMD would inherit that.
	deaf := make(chan os.Signal, 1)
	for _, s := range append(passedOn, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU) {
		if !signal.Ignored(s) {
			signal.Notify(deaf, s)
		}
	}
	adoptOrphans()
	pid, err := syscall.ForkExec(args[1], args[2:], &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: childAttributes(),
	})
	if err != nil {
		return failed(err)
	}
	// CMD's own copies are what keeps a pipe's reader waiting.
	for fd := range 3 {
		_ = syscall.Close(fd)
	}
	fmt.Fprintf(report, "started %d\n", pid)
	s := &supervisor{pid: pid, grace: grace, told: make(map[int]bool)}
	s.loop(commands(control), reap())
	fmt.Fprintf(report, "ended %d\n", s.status)
	return 0
}

func isPipe(fd int) bool {
	var is syscall.Stat_t
	return syscall.Fstat(fd, &is) == nil && is.Mode&syscall.S_IFMT == syscall.S_IFIFO
}

// commands are the bytes that the tool writes; the channel is closed with the pipe.
func commands(control *os.File) <-chan byte {
	out := make(chan byte)
	go func() {
		defer close(out)
		for in := bufio.NewReader(control); ; {
			b, err := in.ReadByte()
			if err != nil {
				return
			}
			out <- b
		}
	}()
	return out
}

// change is what wait4 tells of one child.
type change struct {
	pid    int
	status syscall.WaitStatus
}

// reap waits for every child, orphans included, until there is none.
func reap() <-chan change {
	out := make(chan change)
	go func() {
		defer close(out)
		for {
			var c change
			pid, err := syscall.Wait4(-1, &c.status, syscall.WUNTRACED, nil)
			switch err {
			case nil:
				c.pid = pid
				out <- c
			case syscall.EINTR:
			default: // ECHILD
				return
			}
		}
	}()
	return out
}

func (s *supervisor) loop(commands <-chan byte, changes <-chan change) {
	var look <-chan time.Time
	for {
		select {
		case b, open := <-commands:
			switch {
			case !open:
				commands = nil
				s.kill()
			case b == stopByte:
				s.stop()
			default:
				s.signal(syscall.Signal(b))
			}
		case <-s.over:
			s.kill()
		case c, more := <-changes:
			if more {
				s.changed(c)
				continue
			}
			// No child is left. Where orphans are not adopted some may be in the group.
			changes = nil
			if orphansAreOurs || !groupLives(s.pid) {
				return
			}
			ticker := time.NewTicker(20 * time.Millisecond)
			defer ticker.Stop()
			look = ticker.C
		case <-look:
			if !groupLives(s.pid) {
				return
			}
		}
	}
}

func (s *supervisor) changed(c change) {
	switch {
	case c.status.Stopped():
		// Ctrl-Z: what holds a lease must not sleep on it.
		if c.pid == s.pid && c.status.StopSignal() == syscall.SIGTSTP {
			s.signal(syscall.SIGCONT)
		}
		return
	case c.pid == s.pid:
		s.ended = true
		s.status = c.status.ExitStatus()
		if c.status.Signaled() {
			s.status = statusSignal + int(c.status.Signal())
		}
		// What it left in the background must not outlive the lease.
		s.stop()
	}
	delete(s.told, c.pid)
	// The children of who just died are ours now, and may have been born since.
	switch s.phase {
	case running:
	case stopping:
		s.terminate()
	case killing:
		s.kill()
	}
}

// signal is for the group of a CMD that runs: later the number may be another's.
func (s *supervisor) signal(sig syscall.Signal) {
	if !s.ended || !orphansAreOurs {
		_ = syscall.Kill(-s.pid, sig)
	}
}

func (s *supervisor) stop() {
	if s.phase != running {
		return
	}
	s.phase = stopping
	s.over = time.After(s.grace)
	if !s.ended || !orphansAreOurs {
		for _, pid := range descendants(os.Getpid()) {
			s.told[pid] = s.told[pid] || inGroup(pid, s.pid)
		}
		s.signal(syscall.SIGTERM)
		s.signal(syscall.SIGCONT) // who is stopped hears nothing
	}
	s.terminate()
}

// terminate tells those who were not told yet.
func (s *supervisor) terminate() {
	for _, pid := range descendants(os.Getpid()) {
		if !s.told[pid] {
			s.told[pid] = true
			_ = syscall.Kill(pid, syscall.SIGTERM)
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}
}

func (s *supervisor) kill() {
	s.phase = killing
	s.signal(syscall.SIGKILL)
	for _, pid := range descendants(os.Getpid()) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// inGroup tells whether the group's signal reached the process.
func inGroup(pid, group int) bool {
	of, err := syscall.Getpgid(pid)
	return err == nil && of == group
}

func groupLives(group int) bool { return syscall.Kill(-group, 0) != syscall.ESRCH }
