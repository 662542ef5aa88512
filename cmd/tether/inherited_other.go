//go:build unix && !linux

package main

import (
	"os/signal"
	"syscall"
)

func markKeeper() (done func()) { return func() {} }

func placeOfDispositions() uint64 { return 0 }

func inheritedIgnored(seen signalSet, _ uint64) signalSet { return seen }

// visiblyIgnored: what the runtime of Go leaves ignored can be seen. A shell without job
// control starts a job in the background with SIGINT and SIGQUIT ignored.
func visiblyIgnored() (set signalSet) {
	for _, n := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(n) {
			set |= setOf(int(n))
		}
	}
	if set.has(int(syscall.SIGINT)) {
		set |= setOf(int(syscall.SIGQUIT))
	}
	return set
}
