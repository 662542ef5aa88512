package proptest

import (
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// fiberBody runs a program on a deterministic runtime. The runtime is stopped, on
// its own goroutine, before a step when the turn's budget is used up, and by a
// timer at the world's present when nothing is left to do before it.
type fiberBody struct {
	rt      *scope.Deterministic
	program func(*Process) effect.Effect[effect.Unit]
	p       *Process
	// root is the main fiber, from its first step on.
	root  *scope.Fiber
	ended bool
	// busy: there was a step since the runtime last came to the present.
	busy   bool
	ghosts map[*scope.Fiber]struct{}
}

// mostSteps bounds what one process does, and so what the ghost of one that never
// ends costs.
const mostSteps = 2_000_000

// epoch is the wall time at which every process's clock starts.
var epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func newFiberBody(w *World, program func(*Process) effect.Effect[effect.Unit]) *fiberBody {
	b := &fiberBody{program: program, ghosts: map[*scope.Fiber]struct{}{}}
	b.rt = scope.NewDeterministic(effect.DeterministicConfig{
		Order: scope.ExploreOrder, Choose: w.Choose, MaxSteps: mostSteps, OnStep: b.step, OnEnd: b.end, Start: epoch.Add(w.now),
	})
	return b
}

func (b *fiberBody) clock() scope.Clock { return b.rt.Clock() }

func (b *fiberBody) virtual() *scope.VirtualClock { return b.rt.Clock().(*scope.VirtualClock) }

func (b *fiberBody) main(p *Process) {
	b.p = p
	b.catchUp()
	b.untilPresent()
	effect.RunDeterministicOn(b.rt, effect.Suspend(func() effect.Effect[effect.Unit] { return b.program(p) }))
}

// end hears of the main fiber's end.
func (b *fiberBody) end(main *scope.Fiber) {
	b.ended = true
	if !b.p.isGhost() {
		b.p.exit, _ = main.Exited()
		b.p.state.Store(gone)
	}
}

// step is called on a fiber before each of its steps.
func (b *fiberBody) step(_ int, f *scope.Fiber) {
	if b.root == nil {
		b.root = f
	}
	b.busy = true
	if b.p.isGhost() {
		b.haunt(f)
		return
	}
	if b.p.budget > 0 {
		b.p.budget--
		return
	}
	b.p.park()
	if b.p.isGhost() {
		b.haunt(f)
		return
	}
	b.p.budget--
	b.catchUp()
}

// haunt ends what a dead process still runs.
func (b *fiberBody) haunt(f *scope.Fiber) {
	b.haunted()
	if _, done := b.ghosts[f]; !done {
		b.ghosts[f] = struct{}{}
		f.Interrupt(0)
	}
}

// untilPresent sets the timer that stops the runtime when it has come to the
// world's present. It fires when nothing is ready and no earlier timer is set.
func (b *fiberBody) untilPresent() {
	left := max(b.p.local()-b.clock().Monotonic(), 0)
	b.clock().AfterFunc(left, b.present)
}

func (b *fiberBody) present() {
	// Nothing but the end sets no timer: a process whose main has ended, or a
	// ghost, runs out by itself.
	if b.p.isGhost() || b.ended {
		return
	}
	if b.p.local() <= b.clock().Monotonic() {
		if b.busy {
			// Timers that were set for this very instant come first: a process that
			// was stopped may find all of its deadlines in the past.
			b.busy = false
			b.clock().AfterFunc(0, b.present)
			return
		}
		b.p.park()
		if b.p.isGhost() {
			b.haunted()
			return
		}
		if b.p.late {
			b.catchUp()
		}
	}
	b.untilPresent()
}

// haunted ends the main fiber of a process that died; the others are ended by
// their scopes, or at their next steps.
func (b *fiberBody) haunted() {
	if _, done := b.ghosts[b.root]; !done && b.root != nil {
		b.ghosts[b.root] = struct{}{}
		b.root.Interrupt(0)
	}
}

// catchUp moves the clock of a process that was kept from running.
func (b *fiberBody) catchUp() {
	b.p.late = false
	b.virtual().Skip(b.p.local() - b.clock().Monotonic())
}
