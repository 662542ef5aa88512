//go:build !unix

package main

import (
	"context"
	"syscall"
	"time"

	"github.com/rivus/tether/errors"
)

// Without process groups and signals CMD could not be stopped.

type child struct{}

func (*child) wait(context.Context) (int, error) { return 0, errNoChildren }
func (*child) stop()                             {}

var errNoChildren = errors.New("this system has no process groups, which stopping a command needs; only ls, show and watch work here")

func startChild(string, []string, []string, time.Duration) (*child, error) { return nil, errNoChildren }

func supervise([]string) int { return statusTrouble }

type signalled struct{ signal syscall.Signal }

func (e *signalled) Error() string { return "stopped by a signal: " + e.signal.String() }

type signals struct{}

func (signals) listen(context.CancelCauseFunc) {}
func (signals) begin() error                   { return nil }
func (signals) to(*child)                      {}
func (signals) over()                          {}
func (signals) ignore()                        {}
