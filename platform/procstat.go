package platform

import (
	"bytes"
	"fmt"
	"strconv"
)

// ProcStat is what the module takes from a line of Linux's /proc/PID/stat.
type ProcStat struct {
	PID       int64
	State     byte  // 'R', 'S', 'Z', ...
	StartTime int64 // clock ticks after boot
}

// Ended reports whether the state is that of a process whose main thread is
// gone: a zombie, or dead and about to vanish. Other threads may still run.
func (s ProcStat) Ended() bool { return s.State == 'Z' || s.State == 'X' || s.State == 'x' }

// ParseProcStat parses such a line. Field 2 is the program's name in
// parentheses, as the program chose it: it may contain spaces, newlines and
// parentheses, so the fields are counted from the last ')'. A malformed line is
// a *Failure with ReasonInvalid.
func ParseProcStat(line []byte) (ProcStat, error) {
	var out ProcStat
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 2 || end < open || line[open-1] != ' ' {
		return out, malformedStat("no name in parentheses")
	}
	pid, ok := statNumber(line[:open-1])
	if !ok || pid < 1 {
		return out, malformedStat("field 1 is no pid")
	}
	rest := line[end+1:]
	for field := 3; ; field++ {
		if len(rest) < 2 || rest[0] != ' ' {
			return out, malformedStat(fmt.Sprintf("it ends before field %d", field))
		}
		rest = rest[1:]
		stop := bytes.IndexAny(rest, " \n")
		if stop < 0 {
			stop = len(rest)
		}
		value := rest[:stop]
		rest = rest[stop:]
		switch field {
		case 3:
			if len(value) != 1 || value[0] < 'A' || value[0] > 'z' {
				return out, malformedStat("field 3 is no state")
			}
			out.State = value[0]
		case 22:
			start, ok := statNumber(value)
			if !ok {
				return out, malformedStat("field 22 is no number up to 2^53-1")
			}
			out.PID, out.StartTime = pid, start
			return out, nil
		}
	}
}

func statNumber(digits []byte) (int64, bool) {
	if len(digits) == 0 || digits[0] < '0' || digits[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseInt(string(digits), 10, 64)
	return n, err == nil && n <= MaxSafeInteger
}

func malformedStat(why string) *Failure {
	return &Failure{Op: "parse /proc/PID/stat", Reason: ReasonInvalid, Cause: fmt.Errorf("%s", why)}
}
