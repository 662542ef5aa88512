package scope

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Serial is the runtime of programs that want JavaScript's order and atomicity on the
// live clock: fibers are coroutines, one runs at a time, and none is stopped between
// two of its waits. Whoever wakes a fiber runs it at once, until it waits again; forks
// and yields wait in one batch for each fiber that lets go. So state that only its
// fibers touch needs no mutex.
//
// Other goroutines reach it through its inbox: what they wake, interrupt, start or post
// runs in the order in which it came, when nothing else is ready, or has kept it
// waiting for a millisecond. So a fiber that computes for long holds up every other;
// not, though, what runs beside: Blocking, TryPromise, the timers of [BaseClock].
//
// It runs while it has fibers, on a goroutine of its own, and takes nothing when it has
// none. Any number of them run side by side.
//
// A fiber that locks its goroutine to a thread (runtime.LockOSThread) ends the process
// here: Go does not switch coroutines between threads. Blocking has a goroutine of its
// own.
type Serial struct {
	machine
	clock serialClock
	ids   atomic.Uint64
	// companion runs what must go on while fibers compute.
	companion *Parallel
	// besides are its fibers, and some that have ended. mu guards them.
	besides []*Fiber

	// timers are those of clock, and turns counts the batches between two looks at them.
	timers timers
	turns  int
	// since is when the first in foreign was collected.
	since time.Duration

	// mu guards what other goroutines reach.
	mu sync.Mutex
	// inbox waits to be collected; arrived tells that it is not empty.
	inbox   []task
	arrived atomic.Bool
	spare   []task
	// looping: there is a goroutine that runs the fibers. asleep: it waits at bell.
	looping, asleep bool
	bell            chan struct{}
	alarm           alarm
	// closing: nothing new is taken in. over: nothing runs any more; ended is closed then.
	closing, over bool
	ended         chan struct{}
}

// NewSerial makes a serial runtime. Without OnClock its clock is the process's one live
// clock, as for NewParallel.
func NewSerial(options ...RuntimeOption) *Serial {
	clock := clockOf(options)
	s := &Serial{bell: make(chan struct{}, 1), ended: make(chan struct{})}
	s.clock = serialClock{s, clock}
	s.companion = &Parallel{clock: clock, shared: &s.ids}
	return s
}

// Clock implements Runtime. The functions of its timers run on the runtime, one at a
// time, as fibers do; those of BaseClock of it run beside.
func (s *Serial) Clock() Clock { return &s.clock }

func (s *Serial) nextID() FiberID { return FiberID(s.ids.Add(1)) }
func (s *Serial) hooks() uint32   { return flagHooked }

func (s *Serial) unheard(f *Fiber, c *Cause) { logUnheard(f, c) }

func (s *Serial) beside() *Parallel { return s.companion }

// outside tells whether the caller is not the code that runs on the runtime now.
func (s *Serial) outside() bool { return s.running.Load() != self() }

func (s *Serial) start(f *Fiber) {
	if s.outside() {
		s.startFrom(f)
		return
	}
	s.machine.start(f)
}

func (s *Serial) startLater(by, f *Fiber) {
	if s.outside() {
		s.startFrom(f)
		return
	}
	s.machine.startLater(by, f)
}

// startFrom starts f from another goroutine, or ends it when nothing new is taken in,
// and then answers false.
func (s *Serial) startFrom(f *Fiber) bool {
	if s.admit(startTask(f)) {
		return true
	}
	if f.begin() {
		f.finish(CauseDie(Closed{}))
	}
	return false
}

func (s *Serial) dispatch(on *Fiber, t task) {
	if s.outside() {
		s.post(call(func() { s.machine.dispatch(on, t) }))
		return
	}
	s.machine.dispatch(on, t)
}

func (s *Serial) block(f *Fiber) {
	if s.outside() {
		w := f.park.Load()
		f.park.Store(w >> parkShift << parkShift) // phaseRunning is 0
		panic("scope: a fiber of a serial runtime waits on a goroutine that is not its own; " +
			"give the work that must wait a fiber (ForkChild), or run it by Blocking")
	}
	f.host.steps = 0
	s.yield(f)
}

// step has a fiber that never waits let others run after as many steps as in
// TypeScript.
func (s *Serial) step(f *Fiber) {
	if f.host.steps++; f.host.steps < patience || s.outside() || f != s.current.Load() {
		return
	}
	f.host.steps = 0
	s.machine.dispatch(f, resumeTask(f))
	s.yield(f)
}

func (s *Serial) unblock(f *Fiber) {
	if s.outside() {
		s.post(resumeTask(f))
		return
	}
	s.machine.unblock(f)
}

func (s *Serial) beginForeign() func(func()) {
	return func(done func()) { s.post(call(done)) }
}

func (s *Serial) settled(fn func()) {
	if s.outside() {
		s.post(call(fn))
		return
	}
	s.receive(call(fn))
}

// Closed is the defect of what is to run on a serial runtime that is closed.
type Closed struct{}

func (Closed) Error() string { return "the serial runtime is closed" }

// Run runs body as a main fiber, from another goroutine, and returns its cause when it
// has ended. Detached fibers may outlive it: the runtime goes on with them. A Goexit of
// body goes on in the caller. On a runtime that is closed the cause is the defect
// Closed; a call from the runtime itself panics, since it would wait for itself.
func (s *Serial) Run(body func(*Fiber) *Cause, c RunConfig) *Cause {
	if !s.outside() {
		panic("scope: Run of a serial runtime waits, and must not be called on that runtime; fork instead")
	}
	f, done, exited := new(Fiber), make(chan struct{}), false
	s.Go(f, func(f *Fiber) *Cause {
		exited = true
		c := f.Guard(func() *Cause { return body(f) })
		exited = false
		return c
	}, RunConfig{Env: c.Env, Started: func(f *Fiber) {
		f.Observe(NewObserver(func(*Fiber) { close(done) }))
		if c.Started != nil {
			c.Started(f)
		}
	}})
	<-done
	if exited {
		runtime.Goexit()
	}
	cause, _ := f.Exited()
	return cause
}

// Go starts a root fiber, into memory of the caller's, and does not wait. On a runtime
// that is closed the fiber ends with the defect Closed. Any goroutine may call it.
func (s *Serial) Go(f *Fiber, body func(*Fiber) *Cause, c RunConfig) {
	f.init(s, c.Env, true, Func(body))
	if c.Started != nil {
		c.Started(f)
	}
	s.startFrom(f)
}

// Post has fn called on the runtime, once, in a fiber of its own, and answers false
// when the runtime is closed and fn will not be called. Any goroutine may call it; fn
// is never called inside this call. A panic of fn is logged, as a defect that nobody
// observes.
func (s *Serial) Post(fn func()) bool {
	f := new(Fiber)
	f.init(s, nil, true, Func(func(*Fiber) *Cause { fn(); return nil }))
	return s.admit(startTask(f))
}
