package platform

import (
	"fmt"
	"math"
	"os"
	"sync/atomic"
)

// osProcess implements Process on the operating system.
type osProcess struct {
	// self is nil until a read succeeded. A failure is not kept: running out of
	// descriptors once must not leave the process without an identity for ever.
	self atomic.Pointer[Identity]
}

var _ Process = (*osProcess)(nil)

// PID implements Process.
func (p *osProcess) PID() int64 { return int64(os.Getpid()) }

// Self implements Process.
func (p *osProcess) Self() (Identity, error) {
	if known := p.self.Load(); known != nil {
		return *known, nil
	}
	self, err := readSelf()
	if err == nil {
		err = self.Validate()
	}
	if err != nil {
		return Identity{}, processFailure("identify this process", p.PID(), err)
	}
	// Two first calls at once read the same values; the first one stays.
	p.self.CompareAndSwap(nil, &self)
	return *p.self.Load(), nil
}

// Identify implements Process.
func (p *osProcess) Identify(pid int64) (id Identity, runs bool, err error) {
	const op = "identify process"
	// A larger one would be cut by the kernel to another process's pid, and 0 or
	// below means groups.
	if pid < 1 || pid > math.MaxInt32 {
		return Identity{}, false, &Failure{Op: op, PID: pid, Reason: ReasonInvalid, Cause: fmt.Errorf("a pid is from 1 to 2^31-1")}
	}
	self, err := p.Self()
	if err != nil {
		return Identity{}, false, err
	}
	start, runs, err := startTimeOf(pid)
	if err != nil {
		return Identity{}, false, processFailure(op, pid, err)
	}
	if !runs {
		return Identity{}, false, nil
	}
	id = self
	id.PID, id.StartTime = pid, start
	return id, true, nil
}

// processFailure keeps what the system answered, and where. A missing file of the
// kernel's is no file that anybody looked for: the system lacks it.
func processFailure(op string, pid int64, err error) *Failure {
	out := &Failure{Op: op, PID: pid, Reason: reasonOf(err), Cause: err}
	if f, ok := err.(*Failure); ok {
		out.Reason, out.Path = f.Reason, f.Path
		if f.Cause != nil {
			out.Cause = f.Cause
		}
	}
	if out.Reason == ReasonNotFound {
		out.Reason = ReasonUnsupported
		out.Cause = fmt.Errorf("%w; processes are told apart by /proc: mount it", out.Cause)
	}
	return out
}
