//go:build unix

package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"syscall"

	"github.com/rivus/tether/errors"
	"golang.org/x/sys/unix"
)

// What the front writes to the keeper: a letter, and what belongs to it. The pipe's end
// says that the front is gone, however it went.
const (
	sayIgnored = 'i' // and a signalSet of 8 bytes; the first message
	sayGo      = 'g' // CMD may be started: the front is not stopped
	sayGroup   = 'p' // and a signal's number: the process group got it, and with it CMD
	saySent    = 's' // and a signal's number: it was sent to the front alone
)

func ignoredMessage(ignored signalSet) []byte {
	return binary.LittleEndian.AppendUint64([]byte{sayIgnored}, uint64(ignored))
}

// What the keeper reports, a line each.
const (
	reportPlace   = "place %x\n"   // of dispositions; the first line
	reportAsk     = "ask\n"        // whether the front is there
	reportStarted = "started %d\n" // CMD's pid
	reportExit    = "exit %d\n"    // all have ended, the lease is given back
	reportSignal  = "signal %d\n"  // the same; end by this signal
)

// front waits for the keeper and gives CMD's end. It has CMD's process group, and so is
// stopped and continued with CMD by the terminal and the shell, as flock is.
type front struct {
	control, report *os.File
	keeper          int // its pid
	ignored         signalSet

	called  chan struct{} // closed when there is a witness, or will be none
	witness *witness
}

// wait gives CMD's status, or the negative number of the signal that CMD died of.
func (f *front) wait() (int, error) {
	// What a killed keeper leaves behind.
	adoptOrphans()
	got := make(chan os.Signal, 64)
	forwarded.minus(f.ignored).notify(got)
	f.called = make(chan struct{})
	go f.call()
	go func() {
		for n := range got {
			f.pass(n.(syscall.Signal))
		}
	}()
	cmd, status, ended := 0, 0, false
	for lines := bufio.NewScanner(f.report); lines.Scan(); {
		var n int
		switch line := lines.Text() + "\n"; {
		case line == reportAsk:
			// The first signal that CMD gets has a witness, too.
			<-f.called
			_, _ = f.control.Write([]byte{sayGo})
		case scans(line, reportStarted, &n):
			cmd = n
		case scans(line, reportExit, &n):
			status, ended = n, true
		case scans(line, reportSignal, &n):
			status, ended = -n, true
		}
	}
	<-f.called
	if f.witness != nil {
		f.witness.end()
	}
	if !ended {
		killRest(cmd)
		return statusTrouble, errKeeperKilled
	}
	reap(f.keeper)
	return status, nil
}

func scans(line, form string, n *int) bool {
	read, _ := fmt.Sscanf(line, form, n)
	return read == 1
}

// call gets a witness.
func (f *front) call() {
	defer close(f.called)
	f.witness, _ = startWitness(f.ignored)
}

// pass tells the keeper of a signal.
func (f *front) pass(n syscall.Signal) {
	say := byte(saySent)
	if f.group(n) {
		say = sayGroup
	}
	_, _ = f.control.Write([]byte{say, byte(n)})
}

// group reports whether CMD's group got the signal.
func (f *front) group(n syscall.Signal) bool {
	<-f.called
	if f.witness != nil {
		if saw, alive := f.witness.sawToo(n); alive {
			return saw
		}
	}
	// Without one the keys are taken for what sent a signal that a key can send, in a
	// terminal's foreground.
	return (n == syscall.SIGINT || n == syscall.SIGQUIT || n == syscall.SIGWINCH) && inForeground()
}

func inForeground() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == syscall.Getpgrp()
}

var errKeeperKilled = errors.New("the process that keeps the lease was killed, and what CMD had started with it")

func reap(pid int) {
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); err != unix.EINTR {
			return
		}
	}
}
