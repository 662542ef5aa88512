//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/rivus/tether/errors"
)

// child is CMD, its supervisor and all that CMD starts, as the tool sees them.
type child struct {
	pid        int // CMD's, and its process group's
	grace      time.Duration
	supervisor *exec.Cmd
	control    *os.File // what is written goes to the supervisor; closing it kills
	terminal   *terminal

	// done is closed when all of them have ended; then status and err are set.
	done   chan struct{}
	status int
	err    error
}

// stopByte has the supervisor stop CMD; every other byte is a signal to pass on.
const stopByte = 0

// startChild starts CMD under a supervisor. When it fails nothing runs.
func startChild(program string, argv, env []string, grace time.Duration) (*child, error) {
	self := "/proc/self/exe" // also when the file was replaced meanwhile
	if _, err := os.Stat(self); err != nil {
		if self, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	controlled, control, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	report, reported, err := os.Pipe()
	if err != nil {
		_ = controlled.Close()
		_ = control.Close()
		return nil, err
	}
	cmd := &exec.Cmd{
		Path: self, Args: append([]string{os.Args[0], superviseCommand, grace.String(), program}, argv...),
		Env:   append(os.Environ(), env...),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		ExtraFiles: []*os.File{controlled, reported},
		// What kills the tool's group must not kill the supervisor, too.
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	adoptOrphans() // in case that the supervisor dies
	err = cmd.Start()
	_ = controlled.Close()
	_ = reported.Close()
	if err != nil {
		_ = control.Close()
		_ = report.Close()
		return nil, err
	}
	c := &child{supervisor: cmd, control: control, grace: grace, done: make(chan struct{})}
	lines := bufio.NewScanner(report)
	if err := c.began(lines); err != nil {
		_ = control.Close()
		_ = report.Close()
		_ = cmd.Wait()
		c.killRest()
		return nil, err
	}
	c.terminal = handOver(c.pid)
	go c.watch(report, lines)
	return c, nil
}

// began reads the supervisor's first line.
func (c *child) began(lines *bufio.Scanner) error {
	if !lines.Scan() {
		return errors.New("the supervisor ended before it started the command")
	}
	if text, failed := strings.CutPrefix(lines.Text(), "failed "); failed {
		return errors.New(text)
	}
	_, err := fmt.Sscanf(lines.Text(), "started %d", &c.pid)
	return err
}

// watch waits for the end.
func (c *child) watch(report *os.File, lines *bufio.Scanner) {
	if !lines.Scan() {
		c.err = errors.New("the command's supervisor was killed")
	} else if _, err := fmt.Sscanf(lines.Text(), "ended %d", &c.status); err != nil {
		c.err = err
	}
	_ = report.Close()
	_ = c.supervisor.Wait()
	if c.err != nil {
		c.killRest()
	}
	c.terminal.takeBack()
	close(c.done)
}

// killRest ends what a supervisor that was killed left behind, which is the tool's
// now. CMD itself died with the supervisor, maybe before its pid was known.
func (c *child) killRest() {
	if c.pid != 0 {
		_ = syscall.Kill(-c.pid, syscall.SIGKILL)
	}
	if !orphansAreOurs {
		return
	}
	for {
		for _, pid := range descendants(os.Getpid()) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if _, err := syscall.Wait4(-1, nil, 0, nil); err != nil && err != syscall.EINTR {
			return
		}
	}
}

// wait gives CMD's exit status.
func (c *child) wait(ctx context.Context) (int, error) {
	select {
	case <-c.done:
		return c.status, c.err
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// signal passes a signal on to CMD's group.
func (c *child) signal(s syscall.Signal) { _, _ = c.control.Write([]byte{byte(s)}) }

// stop stops CMD and all that it started, and returns when they have ended.
func (c *child) stop() {
	defer c.control.Close()
	select {
	case <-c.done:
		return
	default:
	}
	_, _ = c.control.Write([]byte{stopByte})
	// The supervisor keeps the grace period. One that was itself stopped does not.
	late := time.NewTimer(c.grace + 5*time.Second)
	defer late.Stop()
	select {
	case <-c.done:
	case <-late.C:
		_ = syscall.Kill(-c.pid, syscall.SIGKILL)
		_ = syscall.Kill(c.supervisor.Process.Pid, syscall.SIGCONT)
		<-c.done
	}
}
