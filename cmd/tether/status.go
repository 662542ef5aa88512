package main

import (
	"context"
	"io/fs"
	"os/exec"
	"syscall"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/processlock"
)

// Exit statuses of run and lock beside CMD's own. 75 is EX_TEMPFAIL of sysexits.h; the
// others are those of env, timeout and the shells.
const (
	statusHeld       = 75  // somebody else holds it, or it was lost before CMD began
	statusTrouble    = 125 // the tool itself failed
	statusCannotExec = 126 // CMD is there and cannot be run
	statusNotFound   = 127 // CMD was not found
	statusSignal     = 128 // and a signal's number
)

// runStatuses is what the help of run and lock says of them.
const runStatuses = `Exit status: that of CMD, or its signal, of which the tool dies, too (the shell shows
128+n); and when CMD was not run:
   75  somebody else holds it, also after --wait, or it was lost before CMD began
  125  the tool failed, or was called wrongly
  126  CMD is there and cannot be run
  127  CMD was not found
a signal: it ended the wait`

// Exit statuses of everything else. As with grep, 1 is an answer and 2 is trouble.
const (
	statusNoSuchKey   = 1 // and a lease that doctor finds cannot be had
	statusLookTrouble = 2
	statusNoReader    = statusSignal + int(syscall.SIGPIPE)
)

// lookStatuses is what the help of ls and watch says of them.
const lookStatuses = `Exit status: 0; 2 when the tool failed, or was called wrongly; 141 when nobody
reads its output any more.`

// statusOfLook is the exit status of what failed and runs no CMD.
func statusOfLook(err error) int {
	if _, missing := errors.AsType[*noSuchKey](err); missing || errors.Is(err, errNotToBeHad) {
		return statusNoSuchKey
	}
	// Only a pipe or socket that is written to answers that: stdout.
	if errors.Is(err, syscall.EPIPE) {
		return statusNoReader
	}
	return statusLookTrouble
}

// statusOf is the exit status of run and lock that failed before CMD ended.
func statusOf(err error) int {
	if isHeld(err) {
		return statusHeld
	}
	if _, lost := errors.AsType[*lease.Lost](err); lost {
		return statusHeld
	}
	if _, late := errors.AsType[*lease.FenceRejected](err); late {
		return statusHeld
	}
	if _, late := errors.AsType[*stillHeld](err); late {
		return statusHeld
	}
	if signalled, ok := errors.AsType[*signalled](err); ok {
		return statusSignal + int(signalled.signal)
	}
	if _, ok := errors.AsType[*cannotRun](err); ok {
		// The first for a name, the second for a path.
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			return statusNotFound
		}
		return statusCannotExec
	}
	return statusTrouble
}

// isHeld tells whether somebody else holds it.
func isHeld(err error) bool {
	_, held := errors.AsType[*lease.Held](err)
	_, locked := errors.AsType[*processlock.Held](err)
	return held || locked
}

// cannotRun says that CMD could not be started.
type cannotRun struct {
	command string
	cause   error
}

func (e *cannotRun) Error() string { return e.command + ": " + e.cause.Error() }
func (e *cannotRun) Unwrap() error { return e.cause }

// causeOf is what interrupted the program, when a signal did.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		return cause
	}
	return err
}
