package proptest

import (
	"time"

	"github.com/rivus/tether/scope"
)

// codeBody runs Go code, which parks in the ports.
type codeBody struct {
	code func(*Process)
	p    *Process
	wall time.Duration // how far the wall clock has jumped
}

// killed is panicked through the code of a process that was killed.
type killed struct{}

func (b *codeBody) clock() scope.Clock { return codeClock{b} }

func (b *codeBody) main(p *Process) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(killed); !ok {
				panic(r)
			}
		}
	}()
	if !p.isGhost() {
		b.code(p)
	}
}

// Pause lets d pass by the process's clock. Only the code of the process may call
// it, that was started by StartCode.
func (p *Process) Pause(d time.Duration) {
	for until := p.local() + d; p.local() < until; {
		p.budget = 0
		p.Yield()
	}
}

// Yield gives the other processes a turn when this one's is used up. Only the
// code of a process may call it, that was started by StartCode.
func (p *Process) Yield() {
	if p.isGhost() {
		return // on its way out already
	}
	if p.budget > 0 {
		p.budget--
		return
	}
	p.park()
	if p.isGhost() {
		panic(killed{})
	}
	p.budget--
}

// codeClock is the clock of plain code, which can be read but not waited for.
type codeClock struct{ b *codeBody }

func (c codeClock) Now() time.Time {
	return epoch.Add(c.b.p.born + c.b.p.local() + c.b.wall)
}

func (c codeClock) Monotonic() time.Duration { return c.b.p.local() }

// AfterFunc implements scope.Clock by refusing: nothing can call f while the code
// of a process runs.
func (c codeClock) AfterFunc(time.Duration, func()) scope.Timer {
	panic("proptest: the code of a simulated process waits with Pause, not with timers")
}
