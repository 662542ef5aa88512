package platform

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// User implements SharedClock.
func (p *osProcess) User() int64 { return int64(os.Geteuid()) }

// Uptime implements SharedClock. A time namespace shifts the clock; the shift, which
// the kernel tells, is taken off again, since its inode, by which else one would know
// it, may be another one's after its end.
func (p *osProcess) Uptime() (time.Duration, error) {
	shift := p.shift.Load()
	if shift == nil {
		d, err := monotonicShift()
		if err != nil {
			return 0, processFailure("read the uptime for process", p.PID(), err)
		}
		shift = &d
		p.shift.Store(shift)
	}
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0, processFailure("read the uptime for process", p.PID(), err)
	}
	return time.Duration(now.Nano()) - *shift, nil
}

// initialTimeNs is the inode of the time namespace that the machine starts with
// (PROC_TIME_INIT_INO).
const initialTimeNs = 0xEFFFFFFA

func monotonicShift() (time.Duration, error) {
	own, err := namespace(proc + "/self/ns/time")
	if err != nil || own == 0 || own == initialTimeNs { // 0: the kernel has no such namespaces
		return 0, err
	}
	// The offsets that can be read are those of the children's namespace.
	children, err := namespace(proc + "/self/ns/time_for_children")
	if err != nil {
		return 0, err
	}
	if children != own {
		return 0, fmt.Errorf("the time namespace of children is another one, and the own one's offset cannot be read")
	}
	text, err := readProc(proc + "/self/timens_offsets")
	if err != nil {
		return 0, err
	}
	return parseShift(text)
}

// parseShift reads the line "monotonic SECONDS NANOSECONDS".
func parseShift(text []byte) (time.Duration, error) {
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line)
		if len(fields) != 3 || string(fields[0]) != "monotonic" {
			continue
		}
		seconds, err := strconv.ParseInt(string(fields[1]), 10, 33)
		nanoseconds, failed := strconv.ParseInt(string(fields[2]), 10, 33)
		if err == nil && failed == nil {
			return time.Duration(seconds)*time.Second + time.Duration(nanoseconds), nil
		}
	}
	return 0, &Failure{Op: "parse timens_offsets", Reason: ReasonInvalid, Cause: fmt.Errorf("%.100q has no monotonic offset", text)}
}
