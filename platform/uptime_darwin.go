package platform

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// User implements SharedClock.
func (p *osProcess) User() int64 { return int64(os.Geteuid()) }

// Uptime implements SharedClock.
func (p *osProcess) Uptime() (time.Duration, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_UPTIME_RAW, &now); err != nil {
		return 0, processFailure("read the uptime for process", p.PID(), err)
	}
	return time.Duration(now.Nano()), nil
}
