package platform

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/rivus/tether/errors"
)

// proc is where the kernel tells of processes. Only the linker sets it: qemu-user
// answers for /proc/self itself, and gets the stat line wrong, but lets /proc/. through,
// so that the tests for other processors see the kernel's (make arm64).
var proc = "/proc"

func readSelf() (Identity, error) {
	var out Identity
	var err error
	if out.Host, err = os.Hostname(); err != nil {
		return out, err
	}
	boot, err := readProc(proc + "/sys/kernel/random/boot_id")
	if err != nil {
		return out, err
	}
	out.BootID = strings.TrimSpace(string(boot))
	// Not /proc/self: with the proc of another PID namespace mounted, self's
	// entry is not the one of our pid, and a lookup by pid would find a stranger.
	line, err := readProc(proc + "/self/stat")
	if err != nil {
		return out, err
	}
	stat, err := ParseProcStat(line)
	if err != nil {
		return out, err
	}
	out.PID = int64(os.Getpid())
	if stat.PID != out.PID {
		return out, fmt.Errorf("/proc is of another PID namespace: it knows this process as %d, not as %d", stat.PID, out.PID)
	}
	out.StartTime = stat.StartTime
	if out.PIDNs, err = namespace(proc + "/self/ns/pid"); err != nil {
		return out, err
	}
	out.TimeNs, err = namespace(proc + "/self/ns/time")
	return out, err
}

// namespace is the inode of one of the own namespaces, 0 where the kernel has no
// such kind. Whatever else is in the way of the look is a failure: who knows no
// namespace of its own takes every pid for one of its own, and the living holder
// of another namespace for dead.
func namespace(path string) (uint64, error) {
	var stat unix.Stat_t
	for {
		switch err := unix.Stat(path, &stat); err {
		case nil:
			return stat.Ino, nil
		case unix.EINTR:
		case unix.ENOENT:
			return 0, nil
		default:
			return 0, &Failure{Op: "look at namespace", Path: path, Reason: reasonOf(err), Cause: err}
		}
	}
}

// startTimeOf looks at pid twice where the first look finds nothing in /proc:
// only the kernel's own ESRCH is proof, a hidden /proc (hidepid) looks the same
// as a missing process.
func startTimeOf(pid int64) (start int64, runs bool, err error) {
	if gone(pid) {
		return 0, false, nil
	}
	dir := proc + "/" + strconv.FormatInt(pid, 10)
	line, err := readProc(dir + "/stat")
	if err != nil {
		if gone(pid) { // it ended between the two looks
			return 0, false, nil
		}
		return 0, false, err
	}
	stat, err := ParseProcStat(line)
	if err != nil {
		return 0, false, err
	}
	if stat.PID != pid {
		return 0, false, fmt.Errorf("%s/stat is about process %d", dir, stat.PID)
	}
	if !stat.Ended() {
		return stat.StartTime, true, nil
	}
	// The main thread is gone. Others may still run, and hold what they hold.
	alone, err := lastThread(dir + "/task")
	switch {
	case err != nil && gone(pid):
		return 0, false, nil
	case err != nil:
		return 0, false, err
	case alone:
		return 0, false, nil
	}
	return stat.StartTime, true, nil
}

func gone(pid int64) bool { return syscall.Kill(int(pid), 0) == syscall.ESRCH }

// lastThread tells whether no thread besides the ended one is left. A thread
// that has ended itself is not listed.
func lastThread(dir string) (bool, error) {
	file, err := os.Open(dir)
	if err != nil {
		return false, err
	}
	defer file.Close()
	names, err := file.Readdirnames(2)
	if err != nil && err != io.EOF {
		return false, err
	}
	return len(names) < 2, nil
}

// readProc reads a small file of /proc in one system call, as far as it is
// small: the kernel makes the content at the first read, so that it is of one
// moment.
func readProc(path string) ([]byte, error) {
	fd, err := openProc(path)
	if err != nil {
		return nil, &Failure{Op: "read", Path: path, Reason: reasonOf(err), Cause: err}
	}
	defer syscall.Close(fd)
	buffer := make([]byte, 4096)
	for {
		n, err := syscall.Read(fd, buffer)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return nil, &Failure{Op: "read", Path: path, Reason: reasonOf(err), Cause: err}
		}
		if n == 0 {
			return nil, &Failure{Op: "read", Path: path, Reason: ReasonInvalid, Cause: errors.New("it is empty")}
		}
		return buffer[:n], nil
	}
}

func openProc(path string) (int, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err != syscall.EINTR {
			return fd, err
		}
	}
}
