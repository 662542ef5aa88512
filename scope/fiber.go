package scope

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Fiber is one line of execution of a program: it has a stack of its own, can
// be parked and woken, and can be interrupted. Its fields are owned by the
// goroutine (or coroutine) that runs it, unless they say otherwise.
//
// Direct-style code gets the fiber that runs it as an argument and must not use
// it from another goroutine, apart from the methods that say so: ID, Interrupt,
// Exited and Observe.
type Fiber struct {
	rt  Runtime
	env *Env

	// flags is written by the owner and by interrupters. See interrupt.go.
	flags atomic.Uint32
	// depth counts nested evaluations, segment the depth at which the next
	// stack segment begins.
	depth, segment int32

	// park is what arbitrates between the fiber, its waker and its
	// interrupters. See park.go.
	park atomic.Uint64
	host host

	id   FiberID
	body Body
	// watched tells that who starts the fiber looks at its exit, observed or not.
	watched bool
	// bound tells that who forked the fiber goes on only after its end.
	bound bool
	// done tells that exit is set. Guarded by mu.
	done bool
	// inScope is the entry of the scope that the fiber was forked in.
	inScope Registration

	mu sync.Mutex
	// interruption, once set, only grows. Guarded by mu.
	interruption *Cause
	// onInterrupt is called, outside mu, when an interruption arrives while the
	// fiber is interruptible. Guarded by mu.
	onInterrupt func()
	// exit is set once, with done, before observers hear of it. Guarded by mu.
	exit      *Cause
	observers observerList
	// children in the order they were forked; siblings links this fiber into
	// its parent's list, which parent's mu guards.
	children childList
	parent   *Fiber
	siblings struct{ prev, next *Fiber }
	// forker leads to the fiber that this one was forked by, while both live.
	// Guarded by mu.
	forker *lineage
	// lineage is what those that f forks have of it, once there is one.
	lineage atomic.Pointer[lineage]
}

// lineage leads to a fiber while it lives. What a fiber forked may live on for long,
// and must not keep its memory, in which results may lie.
type lineage struct{ of atomic.Pointer[Fiber] }

// Body is what a fiber runs. What owns the fiber's memory can be its body, too, and
// needs no closure then; Func is one of a function.
type Body interface{ Run(f *Fiber) *Cause }

// Unrun is what a Body may have, too: it is called in place of Run when the fiber ends
// before it starts.
type Unrun interface{ Unrun() }

// Func is a function as a fiber's body.
type Func func(f *Fiber) *Cause

// Run implements Body.
func (fn Func) Run(f *Fiber) *Cause { return fn(f) }

// host is what the fiber's runtime keeps of it.
type host struct {
	// wait is what the fiber waits for, while it is parked.
	wait *Waiting
	// parallel runtime: the semaphore on which the fiber's goroutine sleeps.
	sema sync.WaitGroup
	// gate is what an immediate start waits at, and gated whether it still does.
	gate  sync.WaitGroup
	gated bool
	// serving tells that the fiber's goroutine runs next once finish has returned.
	serving bool
	// steps it made behind the gate (parallel), or since it last waited for anything
	// but its turn, and whether it waits for that (deterministic).
	steps    int32
	yielding bool
	next     *Fiber
	// deterministic runtime
	co    *coroutine
	batch *batch
}

// maxDepth bounds the nesting of evaluations, and with it the memory that a
// runaway recursion takes (about half a kilobyte a level).
const (
	maxDepth     = 1 << 21
	segmentDepth = 1 << 14
)

// ID is the fiber's number in its runtime. Any goroutine may call it.
func (f *Fiber) ID() FiberID { return f.id }

// Runtime is what runs the fiber. Any goroutine may call it.
func (f *Fiber) Runtime() Runtime { return f.rt }

// Clock is the runtime's clock. Any goroutine may call it.
func (f *Fiber) Clock() Clock { return f.rt.Clock() }

// Env is the services at hand.
func (f *Fiber) Env() *Env { return f.env }

// SetEnv replaces the services at hand. Who calls it puts the old ones back,
// whatever happens in between.
func (f *Fiber) SetEnv(env *Env) { f.env = env }

// Scope is the scope at hand, or nil.
func (f *Fiber) Scope() *Scope { return f.env.Scope() }

// init prepares a fiber that has not been started.
func (f *Fiber) init(rt Runtime, env *Env, interruptible bool, body Body) {
	f.rt, f.env, f.body = rt, env, body
	f.id = rt.nextID()
	f.segment = segmentDepth
	flags := rt.hooks()
	if interruptible {
		flags |= flagInterruptible
	}
	f.flags.Store(flags)
	f.park.Store(phaseUnstarted)
}

// Forker is the fiber that forked f, or nil when f or that one has ended. Any
// goroutine may call it.
func (f *Fiber) Forker() *Fiber {
	f.mu.Lock()
	by := f.forker
	f.mu.Unlock()
	if by == nil {
		return nil
	}
	return by.of.Load()
}

// descendants is the lineage that f's forks get. Several goroutines may fork in f's
// name when it is parked or never runs.
func (f *Fiber) descendants() *lineage {
	if l := f.lineage.Load(); l != nil {
		return l
	}
	l := new(lineage)
	l.of.Store(f)
	if f.lineage.CompareAndSwap(nil, l) {
		return l
	}
	return f.lineage.Load()
}

// EndsWith tells whether f ends no later than owner does, because owner and those
// between see to it: f is owner, or was forked by such a fiber as a child, a racer
// or a part of concurrent work, or in s, which may be nil. Any goroutine may call
// it; it costs the finalizers of s for each fiber between.
func (f *Fiber) EndsWith(owner *Fiber, s *Scope) bool {
	for g := f; g != nil; g = g.Forker() {
		if g == owner || s != nil && s.ends(g) {
			return true
		}
		if !g.bound {
			return false
		}
	}
	return false
}

// Exited is the fiber's cause and whether it has ended; a nil cause is success.
// Any goroutine may call it.
func (f *Fiber) Exited() (*Cause, bool) {
	f.mu.Lock()
	c, done := f.exit, f.done
	f.mu.Unlock()
	return c, done
}

// main runs the fiber from its start to its end on the caller's goroutine, unless it
// was ended before.
func (f *Fiber) main() {
	defer f.rt.leave(f)
	if f.begin() {
		f.runBody()
	}
}

// begin tells whether the fiber is to run: who ends it unrun wins the swap.
func (f *Fiber) begin() bool { return f.park.CompareAndSwap(phaseUnstarted, phaseRunning) }

// runBody has one frame for all that a fiber does: a goroutine's first stack has room
// for the frames of a fiber that parks, and growing it costs more than the park.
func (f *Fiber) runBody() {
	defer func() {
		if f.done || f.rt.abandoning() {
			return
		}
		if r := recover(); r != nil {
			f.finishSurely(f.Raised(r))
			return
		}
		// A Goexit in the body, or in an observer of a child that ends unrun, cannot be
		// stopped, but the fiber still ends by the rules: its children are interrupted
		// and its observers hear of it.
		f.host.serving = false
		f.disarm()
		f.finishSurely(CauseDie(Exited{}))
	}()
	body := f.body
	f.body = nil
	var c *Cause
	if f.Signaled() {
		c = f.Notice()
	}
	if c == nil {
		c = f.NoticeAfter(body.Run(f))
	}
	f.finish(c)
}

// finishSurely is finish that an observer's Goexit does not keep from the end.
func (f *Fiber) finishSurely(c *Cause) {
	defer func() {
		if !f.done && !f.rt.abandoning() {
			f.finishSurely(c)
		}
	}()
	f.finish(c)
}

// finish ends the fiber: its children first, then its exit is published, then
// its observers are called in order.
func (f *Fiber) finish(c *Cause) {
	f.mu.Lock()
	if f.children.head != nil {
		c = f.endChildren(c)
	}
	f.exit, f.done = c, true
	f.forker = nil
	if l := f.lineage.Load(); l != nil {
		l.of.Store(nil)
	}
	parent := f.parent
	o, more := f.observers.next()
	f.mu.Unlock()
	if parent != nil {
		parent.mu.Lock()
		parent.children.remove(f)
		parent.mu.Unlock()
	}
	if c.HasDies() && !f.watched && !f.lookedAt(o) {
		f.rt.unheard(f, c)
	}
	f.tell(o, more)
}

// lookedAt tells whether somebody looks at the exit of a fiber that has ended: through
// first or one of the observers that come after it.
//
//go:noinline
func (f *Fiber) lookedAt(first *Observer) bool {
	if first == nil {
		return false
	}
	f.mu.Lock()
	list, others := f.observers.bystanders()
	f.mu.Unlock()
	if b, ok := first.to.(bystander); ok {
		list = append(list, b)
	} else {
		others = true
	}
	return others || slices.ContainsFunc(list, bystander.looks)
}

// tell calls the observers of a fiber that has ended, o first. Nobody becomes one any
// more.
func (f *Fiber) tell(o *Observer, more bool) {
	for ; more; o, more = f.nextObserver() {
		f.tellOne(o)
	}
	if o != nil {
		o.to.Ended(f)
	}
}

// tellOne calls an observer that others come after: a Goexit in it is not theirs.
func (f *Fiber) tellOne(o *Observer) {
	returned := false
	defer func() {
		if !returned && !f.rt.abandoning() {
			f.host.serving = false
			f.tell(f.nextObserver())
		}
	}()
	o.to.Ended(f)
	returned = true
}

// nextObserver takes one out at a time: one that runs may remove later ones.
func (f *Fiber) nextObserver() (o *Observer, more bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.observers.next()
}

// endChildren interrupts the children in fork order and awaits them one at a
// time. An interruption of f during that wait replaces even a success. It is called
// with f.mu held and returns with it, when there are no more children.
func (f *Fiber) endChildren(c *Cause) *Cause {
	for f.children.head != nil {
		kids := f.children.snapshot()
		f.mu.Unlock()
		// A child's end may run what interrupts f, which does not sleep then.
		if i := f.NoticeAfter(f.InterruptAll(kids)); i != nil {
			c = i
		}
		f.mu.Lock()
	}
	return c
}

// childList is an intrusive list: leaving it costs the same for one child and
// for 10^5.
type childList struct{ head, tail *Fiber }

func (l *childList) add(f *Fiber) {
	f.siblings.prev = l.tail
	if l.tail == nil {
		l.head = f
	} else {
		l.tail.siblings.next = f
	}
	l.tail = f
}

func (l *childList) remove(f *Fiber) {
	s := &f.siblings
	switch {
	case s.prev != nil:
		s.prev.siblings.next = s.next
	case l.head == f:
		l.head = s.next
	default:
		return
	}
	if s.next != nil {
		s.next.siblings.prev = s.prev
	} else {
		l.tail = s.prev
	}
	s.prev, s.next = nil, nil
}

func (l *childList) snapshot() []*Fiber {
	var out []*Fiber
	for c := l.head; c != nil; c = c.siblings.next {
		out = append(out, c)
	}
	return out
}

// Children are the fiber's living children, in the order they were forked.
func (f *Fiber) Children() []*Fiber {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.children.snapshot()
}
