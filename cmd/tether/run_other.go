//go:build !unix

package main

import (
	"context"
	"os"
	"syscall"
	"time"

	"github.com/rivus/tether/errors"
)

// Without process groups and signals CMD could not be stopped.

var errNoGroups = errors.New("this system has no process groups, which stopping a command needs; only ls, show, watch and doctor work here")

func launch() (int, error) { return statusTrouble, errNoGroups }

func bearWitness(role) int { return statusTrouble }

func keep(role, []string) int { return statusTrouble }

func becomeCommand(role, []string) int { return statusTrouble }

func dieOf(syscall.Signal) {}

type family struct{ pid int }

func (*family) wait(context.Context) (int, error) { return 0, errNoGroups }
func (*family) stop()                             {}

func startFamily(string, []string, []string, time.Duration) (*family, error) { return nil, errNoGroups }

type signalled struct{ signal syscall.Signal }

func (e *signalled) Error() string { return "stopped by a signal: " + e.signal.String() }

type signals struct{}

func (*signals) listen(context.CancelCauseFunc) {}
func (*signals) begin() error                   { return nil }
func (*signals) to(*family)                     {}
func (*signals) ended()                         {}

type frontLink struct{ report *os.File }

func (*frontLink) ask(context.Context) error   { return nil }
func (*frontLink) awake(context.Context) error { return nil }

var (
	keeper       *frontLink
	keptSignals  *signals
	errAsleep    = errors.New("the tool is stopped")
	errFrontGone = errors.New("the tool was killed")
)

const reportStarted = "started %d\n"

func inForeground() bool { return true }
