package proptest

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/scope"
)

// Process is a simulated process of a World. Its methods are the test's, on the
// world's goroutine, unless they say otherwise.
type Process struct {
	w        *World
	name     string
	identity platform.Identity
	platform *platform.Platform
	state    atomic.Uint32 // a processState
	why      string        // of its end
	exit     *scope.Cause
	born     time.Duration
	rate     float64

	// turn and yielded hand control over: the world waits while a process runs.
	turn, yielded chan struct{}
	// budget is how many steps, or port operations, are left of the turn.
	budget int
	// late: the process was not run though it could have, so its clock jumps.
	late bool
	// cleanups run when it is gone: what the kernel frees.
	cleanups []func()
	body     processBody
	// raised is a panic of its code, which goes on in the world's goroutine.
	raised any
}

type processState = uint32

const (
	running processState = iota
	stopped
	gone
)

const unlimited = math.MaxInt

var errOnDemand = errors.New("on demand")

// processBody is how a process is run: fibers on a runtime, or plain code.
type processBody interface {
	// main is the process's goroutine, from its first turn to its end.
	main(p *Process)
	clock() scope.Clock
}

// ProcessOption changes a process before it starts.
type ProcessOption func(*Process)

// Rate is how fast a process's monotonic clock runs: 1.01 gains a hundredth.
func Rate(r float64) ProcessOption { return func(p *Process) { p.rate = r } }

// Start starts a process that runs a program of effects on a deterministic runtime
// of its own. It has a turn when the world advances. The process ends with the
// program, as a program's main does; fibers that it left are torn down.
func (w *World) Start(name string, program func(p *Process) effect.Effect[effect.Unit], options ...ProcessOption) *Process {
	return w.start(name, newFiberBody(w, program), options)
}

// StartCode starts a process that runs Go code. The code is stopped, and other
// processes have their turns, before each operation of its platform's ports, in
// Pause and in Yield; it must not wait for anything else.
func (w *World) StartCode(name string, code func(p *Process), options ...ProcessOption) *Process {
	return w.start(name, &codeBody{code: code}, options)
}

func (w *World) start(name string, body processBody, options []ProcessOption) *Process {
	w.mu.Lock()
	pid := int64(1)
	for w.procs[pid] != nil {
		pid++
	}
	w.ticks++
	p := &Process{
		w: w, name: name, rate: 1, born: w.now, body: body, budget: unlimited,
		identity: platform.Identity{Host: "world", BootID: fmt.Sprint("boot-", w.boot), PID: pid, StartTime: w.ticks},
		turn:     make(chan struct{}), yielded: make(chan struct{}),
	}
	for _, o := range options {
		o(p)
	}
	if c, ok := body.(*codeBody); ok {
		c.p = p
	}
	p.platform = &platform.Platform{FS: simulatedFS{p}, Process: simulatedProcess{p}, SQLite: simulatedSQLite{p}, Clock: body.clock()}
	w.procs[pid] = p
	w.started = append(w.started, p)
	w.mu.Unlock()
	w.Log("%v starts", p)
	go func() {
		<-p.turn
		defer func() {
			p.raised = recover()
			p.state.Store(gone)
			p.yielded <- struct{}{}
		}()
		body.main(p)
	}()
	return p
}

// String is the name and the pid.
func (p *Process) String() string { return fmt.Sprintf("%s(%d)", p.name, p.identity.PID) }

// Platform is the machine as this process sees it. Any code of the process may
// use it.
func (p *Process) Platform() *platform.Platform { return p.platform }

// Identity is who the process is.
func (p *Process) Identity() platform.Identity { return p.identity }

// Clock is the process's own. Only its own code may use it.
func (p *Process) Clock() scope.Clock { return p.body.clock() }

// Alive tells whether the process has not ended; a stopped one is alive.
func (p *Process) Alive() bool { return p.at() != gone }

func (p *Process) at() processState { return p.state.Load() }

// Stopped tells whether it is stopped.
func (p *Process) Stopped() bool { return p.at() == stopped }

// Exit is how the program of an ended process ended; nil for a success, and for
// one that was killed.
func (p *Process) Exit() *scope.Cause { return p.exit }

// Run lets the process take that many steps (operations of ports, for code),
// though no time passes, or all that are ready. What it has left it goes on with
// in its next turn.
func (p *Process) Run(steps int) {
	if p.at() == running {
		p.run(steps)
	}
}

// Stop stops the process where it is, as SIGSTOP does.
func (p *Process) Stop() {
	if p.at() == running {
		p.w.Log("%v is stopped", p)
		p.state.Store(stopped)
		p.late = true
	}
}

// Resume lets a stopped process go on, in its next turn.
func (p *Process) Resume() {
	if p.at() == stopped {
		p.w.Log("%v resumes", p)
		p.state.Store(running)
	}
}

// Kill ends the process where it is, as SIGKILL does: nothing of it runs any more
// that anybody could see. The kernel frees its locks and its pid.
func (p *Process) Kill() { p.end("killed") }

// JumpWall moves the process's wall clock, and nothing else.
func (p *Process) JumpWall(d time.Duration) {
	p.w.Log("the wall clock of %v jumps by %v", p, d)
	switch b := p.body.(type) {
	case *fiberBody:
		b.virtual().JumpWall(d)
	case *codeBody:
		b.wall += d
	}
}

// local is the process's monotonic time at the world's present.
func (p *Process) local() time.Duration {
	return time.Duration(float64(p.w.now-p.born) * p.rate)
}

// run gives the process a turn.
func (p *Process) run(steps int) {
	p.budget = steps
	p.switchTo()
	if !p.Alive() {
		p.why = "ended"
		p.w.Log("%v ends", p)
		p.vanish()
	}
}

func (p *Process) switchTo() {
	p.turn <- struct{}{}
	<-p.yielded
	if r := p.raised; r != nil {
		p.raised = nil
		panic(r)
	}
}

// park is the process's side: it hands control to the world.
func (p *Process) park() {
	p.yielded <- struct{}{}
	<-p.turn
}

// end makes the process a ghost, whose ports do nothing, and runs it to its end,
// so that its goroutines are gone.
func (p *Process) end(why string) {
	if !p.Alive() {
		return
	}
	p.w.Log("%v is %s", p, why)
	p.why = why
	p.state.Store(gone)
	p.vanish()
	p.switchTo()
}

// vanish frees what the kernel frees.
func (p *Process) vanish() {
	p.w.mu.Lock()
	delete(p.w.procs, p.identity.PID)
	cleanups := p.cleanups
	p.cleanups = nil
	p.w.mu.Unlock()
	for _, f := range cleanups {
		f()
	}
}

// onEnd has f called when the process is gone.
func (p *Process) onEnd(f func()) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.cleanups = append(p.cleanups, f)
}

// isGhost tells code of the process whether it is dead already.
func (p *Process) isGhost() bool { return p.at() == gone }
