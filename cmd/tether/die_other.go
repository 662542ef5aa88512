//go:build unix && !linux

package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// realTime: they have no numbers here that all systems share.
const realTime = signalSet(0)

func dieOf(n syscall.Signal) {
	signal.Reset(n)
	_ = syscall.Kill(os.Getpid(), n)
	time.Sleep(100 * time.Millisecond) // it is on its way, if it ends a program in Go
}

func setDefault(syscall.Signal) {}
