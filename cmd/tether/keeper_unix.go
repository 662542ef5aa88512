//go:build unix

package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/rivus/tether/errors"
)

// keeper is this process's, if it is one.
var keeper *frontLink

// frontLink is the keeper's side of what it and the front say to each other.
type frontLink struct {
	report *os.File
	// there gets a value whenever the front says that CMD may be started.
	there   chan struct{}
	ignored signalSet
	// onMain are to be called on the main thread. The kernel's "kill the child when its
	// parent ends" is about the thread that started it, and the main one is there as long as
	// the process is.
	onMain chan func()
}

// errFrontGone is why everything is stopped when the front was killed.
var errFrontGone = errors.New("the tool was killed")

// keep runs the command line in the keeper, on the main thread.
func keep(r role, args []string) int {
	syscall.CloseOnExec(r.control)
	syscall.CloseOnExec(r.report)
	k := &frontLink{report: os.NewFile(uintptr(r.report), "report"), there: make(chan struct{}, 1), onMain: make(chan func())}
	fmt.Fprintf(k.report, reportPlace, placeOfDispositions())
	control := os.NewFile(uintptr(r.control), "control")
	first := make([]byte, len(ignoredMessage(0)))
	if _, err := io.ReadFull(control, first); err != nil || first[0] != sayIgnored {
		return statusTrouble
	}
	k.ignored = signalSet(binary.LittleEndian.Uint64(first[1:]))
	k.ignored.ignore()
	keeper = k
	job := &signals{}
	keptSignals = job
	go k.listen(control, job)
	var status int
	go func() {
		defer close(k.onMain)
		status = execute(args)
	}()
	for f := range k.onMain {
		f()
	}
	if status < 0 {
		fmt.Fprintf(k.report, reportSignal, -status)
		return statusSignal - status
	}
	fmt.Fprintf(k.report, reportExit, status)
	return status
}

// keptSignals takes the signals in the keeper.
var keptSignals *signals

// listen hears what the front says.
func (k *frontLink) listen(control io.Reader, to *signals) {
	for message := make([]byte, 2); ; {
		if _, err := io.ReadFull(control, message[:1]); err != nil {
			to.frontGone()
			return
		}
		if message[0] == sayGo {
			select {
			case k.there <- struct{}{}:
			default:
			}
			continue
		}
		if _, err := io.ReadFull(control, message[1:]); err != nil {
			to.frontGone()
			return
		}
		to.got(syscall.Signal(message[1]), message[0] == sayGroup)
	}
}

// do calls f on the main thread and returns when f has.
func (k *frontLink) do(f func()) {
	done := make(chan struct{})
	k.onMain <- func() { defer close(done); f() }
	<-done
}

// patience is how long a lease that was just taken waits for a front that does not
// answer.
const patience = time.Second

// errAsleep says that the front was stopped before CMD was started: what was taken is
// given back meanwhile.
var errAsleep = errors.New("the tool is stopped")

// ask waits until the front says that it is there, and fails with errAsleep when that
// takes longer than a moment.
func (k *frontLink) ask(ctx context.Context) error {
	fmt.Fprint(k.report, reportAsk)
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-k.there:
		return nil
	case <-late.C:
		return errAsleep
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// awake waits for the answer that ask did not get.
func (k *frontLink) awake(ctx context.Context) error {
	select {
	case <-k.there:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
