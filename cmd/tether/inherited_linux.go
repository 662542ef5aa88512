package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"unsafe"
)

// CMD ignores the signals that were ignored when the tool was started: nohup, "trap
// '' TERM", the shell's background jobs and systemd's services count on it. The
// runtime of Go overwrites that, but for a few signals, before the first line of Go
// runs. It keeps what it found, one word for each signal, and tells nobody.
//
// Where it keeps that is the same place in every process of one program. So the first
// process ignores some signals that nobody uses, in a pattern, and starts the keeper,
// which looks for the pattern in its own memory and says where that is. There the first
// process finds what it was started with.

// pattern are real-time signals without an order: no other words are like theirs.
var pattern = []int{35, 38, 39, 43, 44, 45, 50, 52, 57, 58, 61, 64}

const (
	patternFrom = 35
	lastSignal  = 64
)

// markKeeper has a process that is started now carry the pattern, until the result is
// called.
func markKeeper() (done func()) {
	numbers := make([]os.Signal, len(pattern))
	for i, n := range pattern {
		numbers[i] = syscall.Signal(n)
	}
	signal.Ignore(numbers...)
	return func() { signal.Reset(numbers...) }
}

// placeOfDispositions is where a process that carries the pattern finds it, as the
// distance from the program's beginning; 0: nowhere, or in more than one place.
func placeOfDispositions() uint64 {
	base, regions, err := ownData()
	if err != nil {
		return 0
	}
	mem, err := os.Open("/proc/self/mem")
	if err != nil {
		return 0
	}
	defer mem.Close()
	marks := setOf(pattern...)
	var found []uint64
	for _, r := range regions {
		data := make([]byte, r.to-r.from)
		if _, err := io.ReadFull(io.NewSectionReader(mem, int64(r.from), int64(len(data))), data); err != nil {
			continue
		}
		for at := 0; at+(lastSignal+1)*wordSize <= len(data); at += wordSize {
			// Most of it is zeroes.
			if wordAt(data[at:], patternFrom) != 1 {
				continue
			}
			set, ok := dispositions(data[at:])
			if ok && set>>(patternFrom-1) == marks>>(patternFrom-1) {
				found = append(found, r.from+uint64(at)-base)
			}
		}
	}
	if len(found) != 1 {
		return 0
	}
	return found[0]
}

// inheritedIgnored are the signals that this process was started with as ignored:
// what was seen of them at first, and what is at the place that the keeper told.
func inheritedIgnored(seen signalSet, place uint64) signalSet {
	if place == 0 {
		return guessed(seen)
	}
	base, _, err := ownData()
	if err != nil {
		return guessed(seen)
	}
	mem, err := os.Open("/proc/self/mem")
	if err != nil {
		return guessed(seen)
	}
	defer mem.Close()
	data := make([]byte, (lastSignal+1)*wordSize)
	if _, err := mem.ReadAt(data, int64(base+place)); err != nil {
		return guessed(seen)
	}
	set, ok := dispositions(data)
	if !ok {
		return guessed(seen)
	}
	return (set | seen) &^ setOf(cannotIgnore...)
}

// cannotIgnore: of its children's ends the tool must hear, as flock must; two are the
// runtime's own.
var cannotIgnore = []int{int(syscall.SIGCHLD), 32, 33}

// guessed is what the visible ones say of one that is not: a shell without job control
// starts a job in the background with SIGINT and SIGQUIT ignored.
func guessed(seen signalSet) signalSet {
	if seen.has(int(syscall.SIGINT)) {
		seen |= setOf(int(syscall.SIGQUIT))
	}
	return seen
}

// visiblyIgnored are those that the runtime leaves ignored, if it is called before
// anything is asked of os/signal.
func visiblyIgnored() signalSet {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "SigIgn:")
	line, _, _ := strings.Cut(rest, "\n")
	set, _ := setFromHex(line)
	return set &^ setOf(cannotIgnore...)
}

const wordSize = int(unsafe.Sizeof(uintptr(0)))

// dispositions reads a word for each signal from 0 on, which is 1 when the signal was
// ignored and 0 when not: a process that was just started knows no other.
func dispositions(data []byte) (set signalSet, ok bool) {
	for n := range lastSignal + 1 {
		switch word := wordAt(data, n); {
		case word > 1, n == 0 && word == 1:
			return 0, false
		case word == 1:
			set |= setOf(n)
		}
	}
	return set, true
}

func wordAt(data []byte, n int) uint64 {
	if wordSize == 8 {
		return binary.NativeEndian.Uint64(data[n*8:])
	}
	return uint64(binary.NativeEndian.Uint32(data[n*4:]))
}

type region struct{ from, to uint64 }

// ownData is where the program begins in memory, and where its variables are: the
// parts of its file that may be written, and what follows them.
func ownData() (base uint64, found []region, err error) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0, nil, err
	}
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return 0, nil, err
	}
	var end uint64 // of the last part of the file
	for line := range bytes.Lines(maps) {
		var from, to uint64
		var mode, offset, device, inode string
		if n, _ := fmt.Sscanf(string(line), "%x-%x %s %s %s %s", &from, &to, &mode, &offset, &device, &inode); n != 6 {
			continue
		}
		own := strings.HasSuffix(strings.TrimRight(string(line), "\n"), " "+program)
		switch {
		case own && end == 0:
			base = from
		case !own && (from != end || inode != "0"):
			continue
		}
		end = to
		if strings.HasPrefix(mode, "rw") {
			found = append(found, region{from, to})
		}
	}
	return base, found, nil
}
