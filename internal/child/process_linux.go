package child

import (
	"bufio"
	"encoding/json"
	"iter"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Process is a child as its test sees it: it takes commands C and gives replies R.
// What fails ends the test. One goroutine tells and one hears at a time.
type Process[C, R any] struct {
	t    testing.TB
	cmd  *exec.Cmd
	send *json.Encoder
	out  *json.Decoder
}

// Start starts a command, of Self or Behind, until the test ends.
func Start[C, R any](t testing.TB, cmd *exec.Cmd) *Process[C, R] {
	t.Helper()
	in, out := Pipes(t, cmd)
	return &Process[C, R]{t: t, cmd: cmd, send: json.NewEncoder(in), out: json.NewDecoder(bufio.NewReader(out))}
}

// PID is the process's id; a wrapper's, if there is one. Its type is that of a
// holder's in a record.
func (p *Process[C, R]) PID() int64 { return int64(p.cmd.Process.Pid) }

// Tell sends a command.
func (p *Process[C, R]) Tell(c C) {
	p.t.Helper()
	if err := p.send.Encode(c); err != nil {
		p.t.Fatal(err)
	}
}

// Hear waits for the next reply.
func (p *Process[C, R]) Hear() R {
	p.t.Helper()
	var r R
	if err := p.out.Decode(&r); err != nil {
		p.t.Fatal("the child is silent: ", err)
	}
	return r
}

// Do sends a command and waits for a reply.
func (p *Process[C, R]) Do(c C) R {
	p.t.Helper()
	p.Tell(c)
	return p.Hear()
}

// Replies are those to come, until the output ends: it is for one who listens all the
// time, to a child that may be killed meanwhile.
func (p *Process[C, R]) Replies() iter.Seq[R] {
	return func(yield func(R) bool) {
		for {
			var r R
			if p.out.Decode(&r) != nil || !yield(r) {
				return
			}
		}
	}
}

// Kill is kill -9, and the reaping. What was replied before can still be heard.
func (p *Process[C, R]) Kill() {
	p.t.Helper()
	p.Signal(os.Kill)
	_, _ = p.cmd.Process.Wait() // cmd.Wait would close the output under who listens
}

// Signal sends a signal.
func (p *Process[C, R]) Signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// Stop stops the process (SIGSTOP) and returns when the kernel says that it is.
func (p *Process[C, R]) Stop() {
	p.t.Helper()
	p.Signal(syscall.SIGSTOP)
	p.AwaitStopped()
}

// AwaitStopped returns when the kernel says that the process is stopped, by whomever.
func (p *Process[C, R]) AwaitStopped() {
	p.t.Helper()
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(p.cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || !status.Stopped() {
			p.t.Fatalf("wait: %v, %v", err, status)
		}
		return
	}
}

// Resume lets a stopped process go on (SIGCONT).
func (p *Process[C, R]) Resume() {
	p.t.Helper()
	p.Signal(syscall.SIGCONT)
}

// AwaitZombie returns when the process has ended, and leaves it unreaped. Its output
// ends earlier, when the kernel has closed its files.
func (p *Process[C, R]) AwaitZombie() {
	p.t.Helper()
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_PID, p.cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			p.t.Fatal(err)
		}
		return
	}
}
