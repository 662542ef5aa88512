package scope

// Item is one piece of work of Each: an exit that is known already, or a body.
type Item struct {
	Body Body
	// Part is memory for the fiber that runs Body, in one piece with it. It must be
	// zero.
	Part *Part
	// Known reports that there is no body and that Cause is the exit.
	Known bool
	Cause *Cause
}

// Part is an item that runs in a fiber of its own.
type Part struct {
	of    shell
	fiber Fiber
	end   Observer
	// round is the first part that the same round started. Its paused says how that
	// round ended; see iteration.
	round  *Part
	paused bool
}

// partEnd is a part as the listener to its end.
type partEnd Part

// Ended implements Listener.
func (p *partEnd) Ended(f *Fiber) { p.of.ended(f, (*Part)(p)) }

// shell does what an iteration's rules ask for, on one kind of runtime.
type shell interface {
	// run is the iteration from its first item that needs a fiber.
	run() *Cause
	// ended hears that p has ended, on its goroutine.
	ended(f *Fiber, p *Part)
	// abort ends the iteration: nothing more is started, and what runs is interrupted
	// and awaited.
	abort() *Cause
}

// each is what both shells have.
type each struct {
	f     *Fiber
	item  func(i int) Item
	moved func(start, at int)
	state iteration
	// held is what Each has made and not started, until a round takes it.
	held  *Item
	parts childList
	// token wakes f, which goes on with outcome then.
	token   Token
	outcome outcome
}

// outcome is what the fiber of an iteration goes on with.
type outcome struct {
	// cause as it was when the fiber was woken: what is learned later is not in it.
	cause *Cause
	// defect is that of the function that makes the items, if it had one. The fiber
	// interrupts and awaits running then, and goes on with what is known after that.
	defect  *Cause
	running []*Fiber
}

var waitEach = &Waiting{What: "concurrent work (All, ForEach)"}

// Each runs items 0 to n-1, at most limit at a time, each in a fiber of its own
// unless its exit is known. item is called in order, one call at a time, and
// may be called on another fiber's goroutine. The first failure interrupts the
// others; causes that they end with, interruptions apart, join it.
//
// On a serial runtime a child that is being started may make another start the
// same item again. moved hears of every start, counted from 0, whose result
// therefore counts as that of another item, or of one beyond the last.
func (f *Fiber) Each(n, limit int, item func(i int) Item, moved func(start, at int)) *Cause {
	e := each{f: f, item: item, moved: moved, state: iteration{items: n, limit: limit}}
	for !e.state.over && e.state.at < n {
		it, _ := e.make()
		if !it.Known {
			e.held = &it
			return f.concurrently(e.shell())
		}
		e.state = e.state.settle(it.Cause)
	}
	return e.state.cause
}

func (e *each) shell() shell {
	if e.f.rt.serial() {
		return &serialEach{each: *e}
	}
	return newParallelEach(*e)
}

// concurrently runs s. A Goexit ends f, and what was started must not outlive it. It
// may come from the first round or, since f takes in what came meanwhile, from the
// item after a part that has ended.
func (f *Fiber) concurrently(s shell) *Cause {
	returned, mark := false, f.Mark()
	defer func() {
		if !returned && !f.rt.abandoning() {
			f.Unwound(mark)
			s.abort()
		}
	}()
	c := s.run()
	returned = true
	return c
}

// make makes the next item and counts it. This is the one place that calls the
// program's function: f is armed then, or waits (but for the items that Each has
// itself made), and the goroutine may be that of a part that has ended.
func (e *each) make() (it Item, start int) {
	if e.held != nil {
		it, e.held = *e.held, nil
		return it, e.state.made - 1
	}
	it = e.item(e.state.at)
	e.state, start = e.state.make()
	return it, start
}

// prepare makes p the next part of round, or the first one, without starting it.
func (e *each) prepare(s shell, it Item, round *Part, mode Mode) *Part {
	p := it.Part
	p.of = s
	if p.round = round; round == nil {
		p.round = p
	}
	e.f.Prepare(&p.fiber, it.Body, ForkConfig{Daemon: true, bound: true, Mode: mode})
	// Its defect is the iteration's: one that ends before it is observed must not
	// count as unheard.
	p.fiber.watched = true
	p.end.Init((*partEnd)(p))
	return p
}

// wake has f go on, unless it has been woken before.
func (e *each) wake(o outcome) {
	var first bool
	if e.state, first = e.state.wake(); first {
		e.outcome = o
		e.token.Wake()
	}
}

// die takes in that the program's function ended with the defect c.
func (e *each) die(c *Cause) {
	e.state = e.state.die(c)
	e.wake(outcome{defect: c, running: e.parts.snapshot()})
}

// interruptRunning is for an iteration that has failed. It does not wait.
func (e *each) interruptRunning() {
	for _, child := range e.parts.snapshot() {
		child.Interrupt(e.f.id)
	}
}

// interruptBriefly interrupts and awaits running, in a mask of the kernel's own.
func (e *each) interruptBriefly(running []*Fiber) *Cause {
	if len(running) == 0 {
		return nil
	}
	return e.f.briefly(nil, func(c *Cause) *Cause { return c.Combine(e.f.InterruptAll(running)) })
}
