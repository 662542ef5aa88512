package scope

// Mode is the interruptibility that a fork begins with.
type Mode uint8

const (
	// StartInterruptible begins interruptible, whatever the parent is.
	StartInterruptible Mode = iota
	// StartUninterruptible begins masked (TypeScript: uninterruptible: true).
	StartUninterruptible
	// StartInherited begins as the parent is now (uninterruptible: "inherit").
	StartInherited
)

// ForkConfig says how a fiber starts. The zero value is TypeScript's default:
// a child, started when its parent lets go, interruptible.
type ForkConfig struct {
	// Immediate starts the fiber at once: it runs to its first park or its end
	// before Fork returns. On the parallel runtime it runs on beside its parent
	// when it has made 2,048 steps, or blocks in foreign code, before that.
	Immediate bool
	// Daemon makes a fiber that does not end with its parent.
	Daemon bool
	Mode   Mode
	// bound: a daemon that its forker ends all the same.
	bound bool
}

// Fork starts a fiber that runs body and has f's services. A child is
// interrupted and awaited when f ends. f itself may be parked when code that
// runs on its behalf calls this, as long as the fork is a daemon.
func (f *Fiber) Fork(body func(*Fiber) *Cause, o ForkConfig) *Fiber {
	child := new(Fiber)
	f.ForkInto(child, Func(body), o)
	return child
}

// ForkBeside starts a daemon that has f's services and that no fiber holds up: on the
// serial runtime body runs on a goroutine of its own, beside the fibers there, by the
// clock that the runtime's own tells the time of (see BaseClock). On the other runtimes
// it is Fork of a daemon. Closing the serial runtime ends it, after the fibers there.
func (f *Fiber) ForkBeside(body func(*Fiber) *Cause) *Fiber {
	child, beside := new(Fiber), f.rt.beside()
	if beside == nil {
		f.ForkInto(child, Func(body), ForkConfig{Daemon: true})
		return child
	}
	child.init(beside, f.env, true, Func(body))
	if !f.done {
		child.forker = f.descendants()
	}
	if s, ok := f.rt.(*Serial); ok {
		s.adopt(child)
	}
	beside.startLater(nil, child)
	return child
}

// ForkInto is Fork into memory of the caller's, which must be zero.
func (f *Fiber) ForkInto(child *Fiber, body Body, o ForkConfig) {
	f.Prepare(child, body, o)
	f.Start(child, o)
}

// Prepare makes child ready without starting it, so that observers can be added
// before it runs. Start must follow, or Interrupt.
func (f *Fiber) Prepare(child *Fiber, body Body, o ForkConfig) {
	interruptible := o.Mode == StartInterruptible || (o.Mode == StartInherited && f.Interruptible())
	child.init(f.rt, f.env, interruptible, body)
	child.bound = !o.Daemon || o.bound
	if !f.done {
		child.forker = f.descendants()
	}
	if !o.Daemon {
		f.mu.Lock()
		child.parent = f
		f.children.add(child)
		f.mu.Unlock()
	}
}

// Start starts what Prepare made.
func (f *Fiber) Start(child *Fiber, o ForkConfig) {
	if o.Immediate {
		f.rt.start(child)
	} else {
		f.rt.startLater(f, child)
	}
}

// ForkIn starts a daemon that ends with s: closing s interrupts and awaits it,
// unless it is the fiber that closes. In a closed scope it never runs and is
// interrupted.
func (f *Fiber) ForkIn(s *Scope, child *Fiber, body Body, o ForkConfig) {
	o.Daemon = true
	if s.Closed() {
		child.init(f.rt, f.env, true, body)
		child.Interrupt(f.id)
		return
	}
	f.Prepare(child, body, o)
	if f.rt.serial() {
		// As in TypeScript: what the child adds to the scope till it parks comes first.
		f.Start(child, o)
		child.tie(s, &child.inScope, f.id)
		return
	}
	// A scope that closes beside this must find a child that runs.
	child.tie(s, &child.inScope, f.id)
	f.Start(child, o)
}

// tie has s, when it closes, interrupt and await f, until f ends. A scope that is
// closed has it interrupted in the name of by. s keeps it at at.
func (f *Fiber) tie(s *Scope, at *Registration, by FiberID) {
	if _, done := f.Exited(); done {
		return
	}
	if !s.register(at, f, fiberFinalizer(f)) {
		f.Interrupt(by)
		return
	}
	if !f.Observe(NewBystander(func(*Fiber) { s.Remove(at) }, nil)) {
		s.Remove(at)
	}
}

// RunIn ties a fiber that runs already to s (TypeScript: Fiber.runIn).
func (f *Fiber) RunIn(s *Scope) {
	// inScope is the scope's that f was forked in.
	f.tie(s, new(Registration), f.id)
}

func fiberFinalizer(child *Fiber) Finalizer {
	return func(f *Fiber, _ Exit[any]) *Cause {
		if f == child {
			return nil
		}
		return f.InterruptAwait(child)
	}
}

// Await waits for target's end. The cause is f's own interruption; target's
// exit is there to read afterwards.
func (f *Fiber) Await(target *Fiber) *Cause {
	_, c := f.AwaitFiber(target)
	return c
}

// AwaitFiber is Await that also tells whether f slept.
func (f *Fiber) AwaitFiber(target *Fiber) (slept bool, c *Cause) { return f.awaitFiber(target, true) }

func (f *Fiber) awaitFiber(target *Fiber, looks bool) (slept bool, c *Cause) {
	o, p := f.awaitOne(target, looks)
	if o == nil {
		return false, nil
	}
	return true, f.Settle(p.Cause, func() *Cause {
		target.Unobserve(o)
		return nil
	})
}

// Join waits for target's end and fails as it did.
func (f *Fiber) Join(target *Fiber) *Cause {
	o, p := f.awaitOne(target, true)
	c := p.Cause
	if c == nil {
		c, _ = target.Exited()
	}
	if o == nil {
		return c
	}
	return f.Settle(c, func() *Cause {
		target.Unobserve(o)
		return nil
	})
}

// awaitOne waits for target; looks tells whether the exit is looked at then.
func (f *Fiber) awaitOne(target *Fiber, looks bool) (*Observer, Parked) {
	if _, done := target.Exited(); done {
		return nil, Parked{}
	}
	if apart(f.rt, target.rt) {
		panic(WrongRuntime{Fiber: target.id})
	}
	t := f.Arm()
	w := &awaiting{token: t, waiting: Waiting{What: "fiber", Fiber: target}, looking: looks}
	w.observer.Init(w)
	if !target.Observe(&w.observer) {
		t.Wake()
		f.Block(t, nil)
		return nil, Parked{}
	}
	return &w.observer, f.Block(t, &w.waiting)
}

// awaiting is one fiber's wait for another's end, in one piece of memory.
type awaiting struct {
	observer Observer
	token    Token
	waiting  Waiting
	looking  bool
}

// Ended implements Listener.
func (w *awaiting) Ended(*Fiber) { w.token.Wake() }

func (w *awaiting) looks() bool { return w.looking }

// AwaitAll waits for every one of targets, one at a time. It looks at no exit: a defect
// is one that nobody observes, if nobody else does.
func (f *Fiber) AwaitAll(targets []*Fiber) *Cause { return f.awaitAll(targets, false) }

// AwaitExits is AwaitAll for a caller that looks at every exit afterwards.
func (f *Fiber) AwaitExits(targets []*Fiber) *Cause { return f.awaitAll(targets, true) }

func (f *Fiber) awaitAll(targets []*Fiber, looks bool) *Cause {
	slept := false
	for _, target := range targets {
		o, p := f.awaitOne(target, looks)
		slept = slept || o != nil
		if p.Cause != nil {
			return f.Settle(p.Cause, func() *Cause {
				target.Unobserve(o)
				return nil
			})
		}
	}
	if slept {
		return f.Settle(nil, nil)
	}
	return nil
}

// InterruptAwait interrupts target and waits for its end. Like AwaitAll it does not look
// at the exit.
func (f *Fiber) InterruptAwait(target *Fiber) *Cause {
	target.Interrupt(f.id)
	_, c := f.awaitFiber(target, false)
	return c
}

// InterruptAll interrupts targets in order, then waits for all of them, as AwaitAll does.
func (f *Fiber) InterruptAll(targets []*Fiber) *Cause { return f.InterruptAllAs(f.id, targets) }

// InterruptAllAs is InterruptAll in the name of the fiber by.
func (f *Fiber) InterruptAllAs(by FiberID, targets []*Fiber) *Cause {
	interruptEach(by, targets)
	return f.AwaitAll(targets)
}

func interruptEach(by FiberID, targets []*Fiber) {
	// A Goexit in an observer of a target that ends unrun does not keep the
	// interruption from the others.
	defer func() {
		if len(targets) > 0 {
			interruptEach(by, targets)
		}
	}()
	for len(targets) > 0 {
		target := targets[0]
		targets = targets[1:]
		target.Interrupt(by)
	}
}
