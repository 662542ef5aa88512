package scope

import (
	"log/slog"
	"sync/atomic"
)

// Parallel is the runtime of real programs: a goroutine for each fiber and the
// live clock. Fibers sleep on a semaphore inside the fiber, so that parking
// allocates nothing. A goroutine may serve fibers one after the other: who locks it
// to a thread (runtime.LockOSThread) must unlock it.
type Parallel struct {
	clock Clock
	ids   atomic.Uint64
	// shared, when not nil, is counted in place of ids.
	shared *atomic.Uint64
}

// NewParallel makes a parallel runtime. Without OnClock its clock is the process's
// one live clock, so that what outlives a run (a cache, a manager of leases) may
// compare what it read in one with what it reads in the next.
func NewParallel(options ...RuntimeOption) *Parallel {
	return &Parallel{clock: clockOf(options)}
}

// Clock implements Runtime.
func (p *Parallel) Clock() Clock { return p.clock }

func (p *Parallel) nextID() FiberID {
	if p.shared != nil {
		return FiberID(p.shared.Add(1))
	}
	return FiberID(p.ids.Add(1))
}

func (p *Parallel) hooks() uint32 { return 0 }

// patience is how many steps a fiber makes before others get their turn though it does
// not wait: TypeScript makes it yield after as many. Here, where fibers run side by
// side, that is who started it immediately. Without a limit a racer that only computes
// would keep its race from starting the timer that is to stop it.
const patience = 2048

// start lets f run to its first park, its first yield, or its end, before the
// caller goes on: who starts a fiber immediately may rely on what it did till
// then. The caller's goroutine sleeps meanwhile, so the Go scheduler runs f next.
func (p *Parallel) start(f *Fiber) {
	f.host.gated = true
	f.flags.Or(flagHooked)
	f.host.gate.Add(1)
	p.serve(f)
	f.host.gate.Wait()
}

// startLater starts f. One that an observer of by's end starts runs on by's
// goroutine, after the observers: a chain of fibers, each of which starts the next at
// its end, costs one goroutine, whose stack has grown already.
func (p *Parallel) startLater(by, f *Fiber) {
	if by != nil && by.host.serving && by.done && by.host.next == nil {
		by.host.next = f
		return
	}
	p.serve(f)
}

// serve runs f on a goroutine of its own, and then those that are started at the end
// of the one before.
func (p *Parallel) serve(f *Fiber) {
	go func() {
		f := f // the loop's own: else the one captured escapes
		// A Goexit in f takes the goroutine away from the next one.
		defer func() {
			if f != nil {
				p.leave(f)
				if f.host.next != nil {
					p.serve(f.host.next)
				}
			}
		}()
		for f != nil {
			if f.begin() {
				// Only now: who ended the fiber unrun reads it on another goroutine.
				f.host.serving = true
				f.runBody()
				f.host.serving = false
			}
			p.leave(f)
			next := f.host.next
			f.host.next = nil
			f = next
		}
	}()
}

func (p *Parallel) leave(f *Fiber) {
	if f.host.gated {
		f.host.gated = false
		f.flags.And(^flagHooked)
		f.host.gate.Done()
	}
}

func (p *Parallel) dispatch(_ *Fiber, t task) {
	if t.fn != nil {
		t.fn()
	} else {
		Token{t.fiber, t.wait}.Wake()
	}
}

func (p *Parallel) prepare(f *Fiber) { f.host.sema.Add(1) }
func (p *Parallel) cancel(f *Fiber)  { f.host.sema.Done() }
func (p *Parallel) block(f *Fiber)   { p.leave(f); f.host.sema.Wait() }
func (p *Parallel) unblock(f *Fiber) { f.host.sema.Done() }

func (p *Parallel) beginForeign() func(func()) { return func(done func()) { done() } }
func (p *Parallel) settled(fn func())          { fn() }
func (p *Parallel) abandoning() bool           { return false }
func (p *Parallel) serial() bool               { return false }
func (p *Parallel) outside() bool              { return false }
func (p *Parallel) post(task) bool             { return false }
func (p *Parallel) moved()                     {}
func (p *Parallel) beside() *Parallel          { return p }

// step counts the steps of a fiber whose starter waits.
func (p *Parallel) step(f *Fiber) {
	if f.host.steps++; f.host.steps == patience {
		p.leave(f)
	}
}

func (p *Parallel) unheard(f *Fiber, c *Cause) { logUnheard(f, c) }

func logUnheard(f *Fiber, c *Cause) {
	die, _ := c.Defect()
	attrs := []any{slog.Uint64("fiber", uint64(f.id)), slog.Any("defect", die.Defect)}
	if die.Panic != nil {
		attrs = append(attrs, slog.String("at", die.At()), slog.String("stack", string(die.Stack())))
	}
	slog.Error("a fiber that nobody observes ended with a defect", attrs...)
}

// Run runs body as a main fiber on the caller's goroutine and returns its
// cause when it has ended. Detached fibers may outlive it.
func (p *Parallel) Run(body func(*Fiber) *Cause, c RunConfig) *Cause {
	f := new(Fiber)
	f.init(p, c.Env, true, Func(body))
	f.Observe(NewObserver(func(*Fiber) {}))
	if c.Started != nil {
		c.Started(f)
	}
	f.main()
	cause, _ := f.Exited()
	return cause
}

// Go starts a root fiber on a goroutine of its own, into memory of the caller's.
// It does not wait for the fiber's first park: body may wait for its caller.
func (p *Parallel) Go(f *Fiber, body func(*Fiber) *Cause, c RunConfig) {
	f.init(p, c.Env, true, Func(body))
	if c.Started != nil {
		c.Started(f)
	}
	p.startLater(nil, f)
}
