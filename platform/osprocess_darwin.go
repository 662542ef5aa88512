package platform

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// zombie is SZOMB of <sys/proc.h>.
const zombie = 5

func readSelf() (Identity, error) {
	var out Identity
	var err error
	if out.Host, err = os.Hostname(); err != nil {
		return out, err
	}
	if out.BootID, err = unix.Sysctl("kern.bootsessionuuid"); err != nil {
		return out, err
	}
	out.PID = int64(os.Getpid())
	start, runs, err := startTimeOf(out.PID)
	if err == nil && !runs {
		err = syscall.ESRCH
	}
	out.StartTime = start
	return out, err
}

// startTimeOf asks the kernel for the process's record; it has no more than a
// second's precision that the TypeScript package can see, too.
func startTimeOf(pid int64) (start int64, runs bool, err error) {
	if syscall.Kill(int(pid), 0) == syscall.ESRCH {
		return 0, false, nil
	}
	info, err := unix.SysctlKinfoProc("kern.proc.pid", int(pid))
	if err != nil {
		if syscall.Kill(int(pid), 0) == syscall.ESRCH { // it ended between the two looks
			return 0, false, nil
		}
		return 0, false, err
	}
	if info.Proc.P_stat == zombie {
		// A zombie of macOS has no threads: it becomes one when the last has ended.
		return 0, false, nil
	}
	return info.Proc.P_starttime.Sec * 1000, true, nil
}
