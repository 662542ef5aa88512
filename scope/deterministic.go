package scope

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Order is the order in which a deterministic runtime runs what is ready.
type Order uint8

const (
	// EffectOrder is the order of effect@4.1.0: who wakes a fiber runs it at
	// once; forks and yields go to batches, one for each fiber that lets go.
	EffectOrder Order = iota
	// ExploreOrder lets a chooser pick, each time, what runs next.
	ExploreOrder
)

// Chooser picks one of n things, 0 to n-1; n is at least 2.
type Chooser func(n int) int

// DeterministicConfig configures a deterministic runtime.
type DeterministicConfig struct {
	Order Order
	// Choose is for ExploreOrder; nil always picks the first.
	Choose Chooser
	// Preempt lets the chooser also stop a running fiber before any step, as
	// threads can be.
	Preempt bool
	// Start is the wall clock's start; the zero time is the Unix epoch.
	Start time.Time
	// MaxSteps ends a run that takes more steps; 0 sets no limit.
	MaxSteps int
	// Seed is what Random's numbers depend on.
	Seed uint64
	// OnStep hears of every step: its number, from 1, and the fiber.
	OnStep func(step int, f *Fiber)
	// OnRun hears each time the runtime switches to a fiber.
	OnRun func(f *Fiber)
	// OnEnd hears of the main fiber's end, before anything else goes on.
	OnEnd func(main *Fiber)
}

// Deterministic is the runtime of tests: fibers are coroutines, one runs at a
// time, and the clock is virtual. With the same program, order and choices a
// run is the same run, to the last event.
//
// A program that locks its goroutine to a thread (runtime.LockOSThread) ends the
// process here: Go does not switch coroutines between threads.
type Deterministic struct {
	machine
	c     DeterministicConfig
	clock *VirtualClock
	ids   uint64

	// inbox is what other goroutines complete; guarded by mu.
	mu       sync.Mutex
	inbox    []func()
	inFlight int
	arrived  chan struct{}

	// late are turns of fibers that never wait, and polled how many of them were given
	// since anything else ran: when that is all, the next timer comes first.
	late   ring[task]
	polled int

	steps   int
	defects []Unheard
	// random is made when it is first asked for.
	random *rand.Rand
}

// NewDeterministic makes a runtime for one run.
func NewDeterministic(c DeterministicConfig) *Deterministic {
	d := &Deterministic{c: c, arrived: make(chan struct{}, 1), clock: newVirtualClock(c.Start)}
	d.onRun = c.OnRun
	return d
}

// Clock implements Runtime.
func (d *Deterministic) Clock() Clock { return d.clock }

// Random are random numbers for the program under test, the same in every run
// with the same seed and order. Only code that runs on the runtime may use it.
func (d *Deterministic) Random() *rand.Rand {
	if d.random == nil {
		d.random = rand.New(rand.NewPCG(d.c.Seed, 0))
	}
	return d.random
}

// Steps is the number of steps so far.
func (d *Deterministic) Steps() int { return d.steps }

func (d *Deterministic) nextID() FiberID { d.ids++; return FiberID(d.ids) }

func (d *Deterministic) hooks() uint32 { return flagHooked }

func (d *Deterministic) explores() bool { return d.c.Order == ExploreOrder }

func (d *Deterministic) start(f *Fiber) {
	if d.explores() {
		d.push(startTask(f))
		return
	}
	d.machine.start(f)
}

func (d *Deterministic) startLater(by, f *Fiber) { d.dispatch(by, startTask(f)) }

func (d *Deterministic) dispatch(on *Fiber, t task) {
	if t.fiber == on {
		on.host.yielding = true
		on.host.steps += turnSteps
		if spins(on) {
			d.late.push(t)
			return
		}
	}
	if d.explores() {
		d.push(t)
		return
	}
	d.machine.dispatch(on, t)
}

// tireless is how many steps a fiber makes without waiting before timers come first. On
// a virtual clock no time passes while fibers run, so that a loop that waits for nothing
// would keep back even the timeout that is to end it.
const tireless = 1 << 20

// turnSteps is how many steps it counts that a fiber waits for its turn: whoever polls
// costs more than who computes.
const turnSteps = 16

func spins(f *Fiber) bool { return f.host.steps >= tireless }

func (d *Deterministic) push(t task) {
	b := d.newBatch(nil)
	b.tasks = append(b.tasks, t)
	d.ready.push(b)
}

func (d *Deterministic) block(f *Fiber) {
	if f.host.yielding {
		f.host.yielding = false
		d.yield(f)
		return
	}
	f.host.steps = 0
	f.host.co.where = callers()
	d.yield(f)
	f.host.co.where = nil
}

func (d *Deterministic) unblock(f *Fiber) {
	if d.abandoned {
		return
	}
	if d.explores() {
		d.push(resumeTask(f))
		return
	}
	d.machine.unblock(f)
}

func (d *Deterministic) beginForeign() func(func()) {
	d.mu.Lock()
	d.inFlight++
	d.mu.Unlock()
	return func(done func()) {
		d.mu.Lock()
		d.inFlight--
		d.inbox = append(d.inbox, done)
		d.mu.Unlock()
		select {
		case d.arrived <- struct{}{}:
		default:
		}
	}
}

func (d *Deterministic) settled(fn func()) {
	if d.explores() {
		d.push(call(fn))
		return
	}
	d.foreign.push(call(fn))
}

func (d *Deterministic) step(f *Fiber) {
	current := d.current.Load()
	if f != current && d.running.Load() != self() {
		return // foreign code evaluates in f's name, beside what runs here
	}
	d.steps++
	if d.c.MaxSteps > 0 && d.steps > d.c.MaxSteps {
		d.halted = true
		if current != nil {
			d.yield(current) // never resumed: the run is over
		}
	}
	if d.c.OnStep != nil {
		d.c.OnStep(d.steps, f)
	}
	if f != current {
		return // evaluated by another, who cannot stop it
	}
	before := f.host.steps / patience
	f.host.steps++
	switch {
	case d.c.Preempt && d.ready.len() > 0 && d.choose(2) == 1:
		d.push(resumeTask(f))
		d.yield(f)
	case f.host.steps/patience > before:
		// What came from elsewhere waits until nothing is ready, which may be never.
		for d.foreign.len() > 0 {
			d.push(d.foreign.pop())
		}
		d.dispatch(f, resumeTask(f))
		f.host.yielding = false
		d.yield(f)
	}
}

func (d *Deterministic) unheard(f *Fiber, c *Cause) {
	d.defects = append(d.defects, Unheard{Fiber: f.id, Cause: c})
}

func (d *Deterministic) outside() bool     { return false }
func (d *Deterministic) post(task) bool    { return false }
func (d *Deterministic) beside() *Parallel { return nil }

func (d *Deterministic) choose(n int) int {
	if d.c.Choose == nil || n < 2 {
		return 0
	}
	return d.c.Choose(n)
}

// Run runs body as the main fiber until nothing is ready, in flight or timed. The
// report says what was still waiting.
func (d *Deterministic) Run(body func(*Fiber) *Cause, c RunConfig) Report {
	main := new(Fiber)
	main.init(d, c.Env, true, Func(body))
	ended := false
	main.Observe(NewObserver(func(f *Fiber) {
		ended = true
		if d.c.OnEnd != nil {
			d.c.OnEnd(f)
		}
	}))
	if c.Started != nil {
		c.Started(main)
	}
	d.moved()
	d.start(main)
	for !d.halted && d.turn() {
	}
	report := d.report(main)
	report.Ended = ended
	d.abandon()
	return report
}

// turn runs one thing, in the order of precedence: what is ready, then settled
// foreign work, then (waiting for it) foreign work in flight, then the earliest
// timer. A fiber that never waits comes after the timer.
func (d *Deterministic) turn() bool {
	d.collect()
	switch {
	case d.somethingReady():
		d.polled = 0
		i := 0
		if d.explores() {
			i = d.choose(d.ready.len())
		}
		d.runNext(i)
	case d.foreign.len() > 0:
		d.polled = 0
		d.do(d.foreign.pop())
	case d.polled < d.late.len():
		d.polled++
		d.do(d.late.pop())
	case d.late.len() > 0:
		d.polled = 0
		if !d.inForeign() {
			d.clock.fireNext()
		}
	case d.waitForeign():
	default:
		return d.clock.fireNext()
	}
	return true
}

// collect moves what other goroutines completed to where it waits its turn.
func (d *Deterministic) collect() {
	d.mu.Lock()
	in := d.inbox
	d.inbox = nil
	d.mu.Unlock()
	for _, fn := range in {
		d.settled(fn)
	}
}

// inForeign tells whether foreign work is in flight, so that the clock stands still.
func (d *Deterministic) inForeign() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.inFlight > 0 || len(d.inbox) > 0
}

func (d *Deterministic) waitForeign() bool {
	d.mu.Lock()
	wait := d.inFlight > 0 || len(d.inbox) > 0
	none := len(d.inbox) == 0
	d.mu.Unlock()
	if wait && none {
		<-d.arrived
	}
	return wait
}

func callers() []uintptr {
	var pcs [32]uintptr
	n := runtime.Callers(4, pcs[:])
	return slices.Clone(pcs[:n])
}
