package scope

import "fmt"

// Runtime runs fibers. There are three: the parallel one (goroutines and the live
// clock), the serial one (coroutines, one at a time, and the live clock) and the
// deterministic one (the same, and a virtual clock). Its other methods are the
// kernel's own.
type Runtime interface {
	// Clock is what fibers sleep by.
	Clock() Clock

	nextID() FiberID
	hooks() uint32
	// start runs a prepared fiber at once, startLater when by lets go.
	start(f *Fiber)
	startLater(by, f *Fiber)
	// leave lets go on who waits for f's first park: f has ended, or blocks in
	// foreign code.
	leave(f *Fiber)
	// dispatch does a task when on lets go, or, on the parallel runtime, now.
	dispatch(on *Fiber, t task)
	// A wait is prepare, then cancel or block; unblock ends a block, once.
	prepare(f *Fiber)
	cancel(f *Fiber)
	block(f *Fiber)
	unblock(f *Fiber)
	// beginForeign announces work on another goroutine. The function that it
	// returns may be called once, from any goroutine, and has done called where
	// fibers may be woken.
	beginForeign() (complete func(done func()))
	// settled has fn called in the order of foreign completions.
	settled(fn func())
	// step hears of every step of a fiber, when hooks asks for it.
	step(f *Fiber)
	// abandoning tells that fibers are being torn down, not ended.
	abandoning() bool
	// unheard hears of a fiber that ended with a defect which nobody observes.
	unheard(f *Fiber, c *Cause)
	// serial tells that no two fibers run at the same time.
	serial() bool
	// outside tells that the caller is not what runs on the runtime, and must post what
	// runs fibers. post answers false when the runtime is over; it is for callers from
	// outside only.
	outside() bool
	post(t task) bool
	// moved tells that what runs goes on on the caller's goroutine.
	moved()
	// beside is a runtime for what may not be held up by fibers that compute, or nil.
	beside() *Parallel
}

// apart tells whether fibers of a and b cannot wait for one another: a deterministic run
// ends when nothing in it can go on, whatever goes on elsewhere, and only what runs in it
// may wake its fibers.
func apart(a, b Runtime) bool {
	if a == b {
		return false
	}
	_, first := a.(*Deterministic)
	_, second := b.(*Deterministic)
	return first || second
}

// WrongRuntime is the panic of a fiber that waits for one of another runtime, where one
// of the two is deterministic.
type WrongRuntime struct{ Fiber FiberID }

func (e WrongRuntime) Error() string {
	return fmt.Sprintf("fiber #%d runs on another runtime, and a deterministic run neither waits for one nor lets others wait for its own; in place of RunFork or Run inside a deterministic program, use ForkDetach or ForkChild, or run the effect as a part of the program", e.Fiber)
}

// LiveRuntime is a runtime of real programs: *Parallel or *Serial.
type LiveRuntime interface {
	Runtime
	// Run runs body as a main fiber and returns its cause when it has ended.
	Run(body func(*Fiber) *Cause, c RunConfig) *Cause
	// Go starts a root fiber, into memory of the caller's, and does not wait.
	Go(f *Fiber, body func(*Fiber) *Cause, c RunConfig)
}

// RuntimeOption configures a runtime on the live clock.
type RuntimeOption func(*runtimeConfig)

type runtimeConfig struct{ clock Clock }

// clockOf is the clock that the options name, or the process's one live clock.
func clockOf(options []RuntimeOption) Clock {
	var c runtimeConfig
	for _, o := range options {
		o(&c)
	}
	if c.clock == nil {
		return processClock()
	}
	return c.clock
}

// OnClock has the runtime's fibers sleep by c.
func OnClock(c Clock) RuntimeOption { return func(r *runtimeConfig) { r.clock = c } }

// RunConfig says what a run's main fiber begins with.
type RunConfig struct {
	// Env are its services.
	Env *Env
	// Started, when not nil, is given the fiber before it runs.
	Started func(main *Fiber)
}

// Dispatch runs task the way TypeScript's scheduler does: after what runs now,
// in the batch of the fiber on. On the parallel runtime it runs at once, on the
// caller's goroutine. The caller must hold no lock.
func Dispatch(on *Fiber, task func()) { on.rt.dispatch(on, call(task)) }

// WakeLater is Dispatch of Wake, which allocates nothing.
func (t Token) WakeLater(on *Fiber) { on.rt.dispatch(on, wake(t)) }

// Foreign announces work on another goroutine. complete may be called once,
// from any goroutine; done is then called where fibers may be woken. The
// deterministic runtime's clock stands still in between.
func Foreign(rt Runtime) (complete func(done func())) { return rt.beginForeign() }

// Settled has fn called as if foreign work had just completed, by code that
// runs on the runtime.
func Settled(rt Runtime, fn func()) { rt.settled(fn) }

// Alone tells whether nothing else runs on rt until the caller lets go: the caller is
// on rt, and rt runs one fiber at a time.
func Alone(rt Runtime) bool { return rt.serial() && !rt.outside() }

// AboutToBlock is called by code that is about to block f's goroutine outside the
// kernel, so that what started f immediately does not wait for it.
func AboutToBlock(f *Fiber) { f.rt.leave(f) }
