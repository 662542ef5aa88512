package main

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// realTime are the signals from SIGRTMIN to SIGRTMAX.
const realTime signalSet = (1<<64 - 1) &^ (1<<33 - 1)

// dieOf ends this process by the signal, if that is what the signal does.
func dieOf(n syscall.Signal) {
	runtime.LockOSThread()
	// The memory that is worth a look is CMD's.
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	setDefault(n)
	var mask unix.Sigset_t
	bits := int(unsafe.Sizeof(mask.Val[0])) * 8
	mask.Val[(int(n)-1)/bits] |= 1 << ((int(n) - 1) % bits)
	_ = unix.PthreadSigmask(unix.SIG_UNBLOCK, &mask, nil)
	_ = unix.Tgkill(os.Getpid(), unix.Gettid(), n)
}

// setDefault undoes whatever the runtime has set for the signal, which signal.Reset does
// not for all.
func setDefault(n syscall.Signal) {
	// Zeroes are the default action in every architecture's form of this.
	var zero [32]uint64
	size := uintptr(8)
	if runtime.GOARCH == "mips" || runtime.GOARCH == "mipsle" || runtime.GOARCH == "mips64" || runtime.GOARCH == "mips64le" {
		size = 16
	}
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(n), uintptr(unsafe.Pointer(&zero)), 0, size, 0, 0)
}
