//go:build unix

package main

import (
	"context"
	"os"
	"strconv"
	"syscall"
	"time"
)

// family is CMD and all that it starts. The keeper alone reaps them.
//
//	          stop, or CMD ended                the grace period is over
//	running ─────────────────────────► stopping ─────────────────────────► killing
//	   └───────────────────────────────────┴─────────── kill ────────────────┘
type family struct {
	pid   int // CMD's
	grace time.Duration

	passed chan syscall.Signal
	end    chan phase // what to go on to

	// The loop's own.
	phase phase
	cmd   bool // CMD runs
	over  <-chan time.Time
	sweep sweeper

	// done is closed when all have ended; then status is CMD's, or the negative number of
	// the signal that it died of.
	done   chan struct{}
	status int
}

type phase int

const (
	running  phase = iota
	stopping       // everybody got SIGTERM
	killing        // everybody got SIGKILL, and so does who appears
)

// startFamily starts CMD in this process's group, and then leaves that: what comes from
// the terminal and the shell is CMD's, and must not stop who keeps the lease.
func startFamily(program string, argv, env []string, grace time.Duration) (*family, error) {
	adoptOrphans()
	var pid int
	var err error
	keeper.do(func() {
		// Until now a message of this process in the background stopped nobody.
		if !keeper.ignored.has(int(syscall.SIGTTOU)) {
			setDefault(syscall.SIGTTOU)
		}
		program, argv, env, files := activated(program, argv, env)
		pid, err = syscall.ForkExec(program, argv, &syscall.ProcAttr{Env: env, Files: files, Sys: childAttributes()})
		if err == nil {
			_, _ = syscall.Setsid()
		}
	})
	if err != nil {
		return nil, err
	}
	f := &family{
		pid: pid, grace: grace, cmd: true,
		passed: make(chan syscall.Signal), end: make(chan phase), done: make(chan struct{}),
	}
	go f.loop()
	return f, nil
}

// activated is the command as systemd's sockets need it: they are for the process whose
// pid is in LISTEN_PID, which is CMD's only when CMD itself sets it.
func activated(program string, argv, env []string) (string, []string, []string, []uintptr) {
	files := []uintptr{0, 1, 2}
	front := strconv.Itoa(os.Getppid())
	if os.Getenv("LISTEN_PID") != front && os.Getenv("WATCHDOG_PID") != front {
		return program, argv, env, files
	}
	this, err := self()
	if err != nil {
		return program, argv, env, files
	}
	r := role{name: execRole, front: os.Getppid(), ignored: keeper.ignored}
	return this, append([]string{os.Args[0], program}, argv...), append(env, roleVar+"="+r.String()), files
}

// becomeCommand is what an activated command begins with. args are the program and
// CMD's arguments, its name first.
func becomeCommand(r role, args []string) int {
	r.ignored.ignore()
	for _, name := range []string{"LISTEN_PID", "WATCHDOG_PID"} {
		if os.Getenv(name) == strconv.Itoa(r.front) {
			_ = os.Setenv(name, strconv.Itoa(os.Getpid()))
		}
	}
	err := &cannotRun{args[1], syscall.Exec(args[0], args[1:], os.Environ())}
	(&output{err: os.Stderr}).fail(err)
	return statusOf(err)
}

// signal passes a signal on to CMD.
func (f *family) signal(n syscall.Signal) {
	select {
	case f.passed <- n:
	case <-f.done:
	}
}

// stop stops all of them, and returns when they have ended.
func (f *family) stop() { f.to(stopping) }

// kill kills all of them, and returns when they have ended.
func (f *family) kill() { f.to(killing) }

func (f *family) to(p phase) {
	select {
	case f.end <- p:
		<-f.done
	case <-f.done:
	}
}

// wait gives CMD's status when all have ended.
func (f *family) wait(ctx context.Context) (int, error) {
	select {
	case <-f.done:
		return f.status, nil
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// ended is what wait4 tells of one child.
type ended struct {
	pid    int
	status syscall.WaitStatus
}

// reapAll waits for every child, orphans included, until there is none.
func reapAll() <-chan ended {
	out := make(chan ended, 1024)
	go func() {
		defer close(out)
		for {
			var e ended
			pid, err := syscall.Wait4(-1, &e.status, 0, nil)
			switch err {
			case nil:
				e.pid = pid
				out <- e
			case syscall.EINTR:
			default: // ECHILD
				return
			}
		}
	}()
	return out
}

func (f *family) loop() {
	defer close(f.done)
	reaped := reapAll()
	var look *time.Timer
	due := make(<-chan time.Time)
	for {
		select {
		case n := <-f.passed:
			if f.cmd {
				_ = syscall.Kill(f.pid, n)
			}
			continue
		case p := <-f.end:
			f.advance(p)
		case <-f.over:
			f.advance(killing)
		case e, more := <-reaped:
			if !more {
				return
			}
			f.buried(e, reaped)
		case <-due:
			f.sweep.signal(f.phase)
		}
		if f.phase == running {
			continue
		}
		if look != nil {
			look.Stop()
		}
		look = time.NewTimer(f.sweep.wait())
		due = look.C
	}
}

// buried is called for one that was reaped, and takes those that were since: to look
// for their children after each would take a time of the square of their number.
func (f *family) buried(e ended, more <-chan ended) {
	for {
		if e.pid == f.pid && f.cmd {
			f.cmd = false
			f.status = e.status.ExitStatus()
			if e.status.Signaled() {
				f.status = -int(e.status.Signal())
			}
			// What it left in the background must not outlive the lease.
			f.advance(stopping)
		}
		// Its children are ours now, and may have been born since.
		f.sweep.soon()
		select {
		case next, open := <-more:
			if !open {
				return
			}
			e = next
		default:
			return
		}
	}
}

func (f *family) advance(to phase) {
	if to <= f.phase {
		return
	}
	f.phase = to
	f.sweep.soon()
	f.over = nil
	if to == stopping {
		f.over = time.After(f.grace)
	}
}
