package proptest

import (
	"github.com/rivus/tether/platform"
)

// enter is the beginning of every operation of a port: the place where code is
// stopped or killed, and where errors come from. It answers the error.
func (p *Process) enter(name, path string) error {
	if _, code := p.body.(*codeBody); code {
		p.Yield()
	}
	o := Op{p, name, path}
	if p.isGhost() {
		return ioFailure(o)
	}
	p.w.mu.Lock()
	fault := p.w.fault
	p.w.mu.Unlock()
	if fault != nil {
		return fault(o)
	}
	return nil
}

// FailWith is an error for OnOp with this reason.
func FailWith(o Op, reason platform.Reason) error {
	return &platform.Failure{Op: o.Name, Path: o.Path, Reason: reason, Cause: errOnDemand}
}

// simulatedProcess is the Process port.
type simulatedProcess struct{ p *Process }

// PID implements platform.Process.
func (s simulatedProcess) PID() int64 { return s.p.identity.PID }

// Self implements platform.Process.
func (s simulatedProcess) Self() (platform.Identity, error) {
	return s.p.identity, s.p.enter("Self", "")
}

// Identify implements platform.Process.
func (s simulatedProcess) Identify(pid int64) (id platform.Identity, runs bool, err error) {
	if err := s.p.enter("Identify", ""); err != nil {
		return id, false, err
	}
	s.p.w.mu.Lock()
	defer s.p.w.mu.Unlock()
	if p := s.p.w.procs[pid]; p != nil {
		return p.identity, true, nil
	}
	return id, false, nil
}
