package effect

import (
	"math"
	"sync"

	"github.com/rivus/tether/scope"
)

// RunOption says how a collection of fibers runs an effect.
type RunOption func(runConfig) runConfig

type runConfig struct{ onlyIfMissing, propagate, later bool }

// OnlyIfMissing does not run the effect while there is a fiber in its place.
func OnlyIfMissing() RunOption {
	return func(c runConfig) runConfig { c.onlyIfMissing = true; return c }
}

// PropagateInterruption makes Join fail with an interruption of the fiber, too,
// unless the collection itself interrupted it.
func PropagateInterruption() RunOption {
	return func(c runConfig) runConfig { c.propagate = true; return c }
}

// StartLater starts the fiber when the one that runs it lets go (TypeScript:
// startImmediately: false).
func StartLater() RunOption {
	return func(c runConfig) runConfig { c.later = true; return c }
}

func runConfigOf(options []RunOption) (c runConfig) {
	for _, o := range options {
		c = o(c)
	}
	return c
}

// CollectionFiber is who interrupts when a FiberMap, FiberSet or FiberHandle
// does (TypeScript: fiber id -1).
const CollectionFiber = scope.FiberID(math.MaxUint64)

// fiberGroup is what the collections of fibers have in common: every fiber that
// is alive, also those that were replaced, and the first failure.
type fiberGroup[A any] struct {
	// mu guards the collection; nothing is woken or interrupted while it is held.
	mu     sync.Mutex
	closed bool
	alive  lineup[*member[A]]
	failed Deferred[Unit]
}

// member is a fiber in a collection.
type member[A any] struct {
	seat[*member[A]]
	fiber *Fiber[A]
	o     runConfig
}

func newMember[A any](fiber *Fiber[A], o runConfig) *member[A] {
	m := &member[A]{fiber: fiber, o: o}
	m.owner = m
	return m
}

// observe has ended called when m's fiber has ended, or now if it has. Its failure is
// looked at by those who join g, if anybody does.
func (m *member[A]) observe[_ onUse](g *fiberGroup[A], ended func(*member[A])) {
	k := &m.fiber.kernel
	if !k.Observe(scope.NewBystander(func(*scope.Fiber) { ended(m) }, g.failed.awaited)) {
		ended(m)
	}
}

// heard passes m's failure on to those who join the collection.
func (g *fiberGroup[A]) heard[_ onUse](m *member[A]) {
	c, _ := m.fiber.kernel.Exited()
	if c == nil {
		return
	}
	if m.o.propagate {
		for _, id := range c.Interruptors() {
			if id == CollectionFiber {
				return
			}
		}
	} else if c.HasInterruptsOnly() {
		return
	}
	g.failed.CompleteNow(FailCause[Unit](c))
}

// close interrupts every fiber as by, awaits them, and lets those go on who
// join; by is 0 for the fiber that closes.
func (g *fiberGroup[A]) close[_ onUse](by scope.FiberID) Effect[Unit] {
	return Suspend(func() Effect[Unit] {
		g.mu.Lock()
		if g.closed {
			g.mu.Unlock()
			return Void()
		}
		g.closed = true
		fibers := make([]*scope.Fiber, 0, g.alive.len())
		for p := g.alive.head; p != nil; p = p.next {
			fibers = append(fibers, &p.owner.fiber.kernel)
		}
		g.mu.Unlock()
		return g.failed.Into(Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
			who := by
			if who == 0 {
				who = f.ID()
			}
			return Unit{}, f.InterruptAllAs(who, fibers), Effect[Unit]{}
		}}).AsUnit()
	})
}

// interruptAs interrupts fiber for the collection and waits for its end.
func interruptAs(f *scope.Fiber, fiber *scope.Fiber) *scope.Cause {
	return f.InterruptAllAs(CollectionFiber, []*scope.Fiber{fiber})
}

// runMember forks e and adds it to a collection. On the deterministic runtime
// the fiber runs to its first park before it is in the collection, as in
// TypeScript. On the parallel one it is added before it starts: otherwise two
// that want to run only if nothing is there might both run.
func runMember[A any](f *scope.Fiber, e Effect[A], o runConfig, g *fiberGroup[A], add func(*Fiber[A])) *Fiber[A] {
	fb := new(Fiber[A])
	how := scope.ForkConfig{Immediate: !o.later, Daemon: true}
	f.Prepare(&fb.kernel, fb.body(e), how)
	if scope.Alone(f.Runtime()) {
		// One that ends in its start is not in the collection yet, but will be.
		fb.kernel.Observe(scope.NewBystander(func(*scope.Fiber) {}, g.failed.awaited))
		f.Start(&fb.kernel, how)
		add(fb)
		return fb
	}
	// From a defer: add interrupts the fiber whose place this one takes, and whatever
	// hears of that must not keep this one from its start.
	defer f.Start(&fb.kernel, how)
	add(fb)
	return fb
}

// interruptedFiber is what running gives when the effect does not run.
func interruptedFiber[A any](f *scope.Fiber) *Fiber[A] {
	fb := new(Fiber[A])
	f.Prepare(&fb.kernel, nil, scope.ForkConfig{Daemon: true})
	fb.kernel.Interrupt(fb.kernel.ID())
	return fb
}

// forker is a fiber that never runs: it keeps the services at hand for forks
// from outside any fiber.
func forker(f *scope.Fiber) *scope.Fiber {
	keep := new(scope.Fiber)
	f.Prepare(keep, nil, scope.ForkConfig{Daemon: true})
	return keep
}
