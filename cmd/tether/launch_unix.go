//go:build unix

package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/rivus/tether/errors"
	"golang.org/x/sys/unix"
)

// launch starts the keeper, which calls the same command line, and is the front then.
func launch() (int, error) {
	seen := visiblyIgnored()
	program, err := self()
	if err != nil {
		return statusTrouble, err
	}
	control, report, err := twoPipes()
	if err != nil {
		return statusTrouble, err
	}
	keeper, err := startKeeper(program, control.read, report.write)
	if err != nil {
		return statusTrouble, err
	}
	_ = unix.Close(control.read)
	_ = unix.Close(report.write)
	var place uint64
	if _, err := fmt.Sscanf(readLine(report.read), "place %x", &place); err != nil {
		return statusTrouble, errors.New("the process that keeps the lease ended as it began")
	}
	f := &front{
		control: os.NewFile(uintptr(control.write), "control"), report: os.NewFile(uintptr(report.read), "report"),
		keeper: keeper, ignored: inheritedIgnored(seen, place),
	}
	f.ignored.ignore()
	if _, err := f.control.Write(ignoredMessage(f.ignored)); err != nil {
		return statusTrouble, err
	}
	return f.wait()
}

type pipe struct{ read, write int }

func twoPipes() (control, report pipe, err error) {
	for _, p := range []*pipe{&control, &report} {
		r, w, err := os.Pipe()
		if err != nil {
			return control, report, err
		}
		// What os.File closes when it is forgotten must stay open until the end.
		if p.read, err = unix.FcntlInt(r.Fd(), unix.F_DUPFD_CLOEXEC, 3); err != nil {
			return control, report, err
		}
		if p.write, err = unix.FcntlInt(w.Fd(), unix.F_DUPFD_CLOEXEC, 3); err != nil {
			return control, report, err
		}
		_ = r.Close()
		_ = w.Close()
	}
	return control, report, nil
}

// startKeeper starts it with every descriptor that this process was started with, by
// the same number, and two more. Those are free numbers: CMD, which gets the same
// descriptors, must miss none, and finds none that it does not know.
func startKeeper(program string, control, report int) (pid int, err error) {
	defer markKeeper()()
	for _, fd := range []int{control, report} {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil {
			return 0, err
		}
	}
	r := role{name: keeperRole, control: control, report: report}
	return syscall.ForkExec(program, os.Args, &syscall.ProcAttr{
		Env: append(os.Environ(), roleVar+"="+r.String()), Files: []uintptr{0, 1, 2},
	})
}

// readLine reads no byte beyond the line's end: what follows is the front's.
func readLine(fd int) string {
	var line []byte
	for b := make([]byte, 1); ; {
		n, err := unix.Read(fd, b)
		switch {
		case err == unix.EINTR:
		case n != 1 || b[0] == '\n':
			return string(line)
		default:
			line = append(line, b[0])
		}
	}
}

// ignore has this process, and those that it starts, ignore the signals.
func (s signalSet) ignore() {
	s.all(func(n int) { signal.Ignore(syscall.Signal(n)) })
}
