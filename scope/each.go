package scope

// Item is one piece of work of Each: an exit that is known already, or a body.
type Item struct {
	Body Body
	// Part is memory for the fiber that runs Body, in one piece with it. It must be
	// zero.
	Part *Part
	// Known tells that there is no body and that Cause is the exit.
	Known bool
	Cause *Cause
}

// each is TypeScript's concurrent iteration, with its quirks: a child that ends
// inside its own start overwrites the recorded terminal exit.
type each struct {
	f     *Fiber
	item  func(i int) Item
	n     int
	limit int
	// mode is f's own when it began: when an item is started, f may be in a mask of
	// the kernel's, which would keep the item from being interrupted.
	mode Mode
	box  mailbox

	// The rest is changed inside box.
	// ready is a part that has not been started.
	ready *Part
	// heardAll is closed when every part has been heard.
	heardAll chan struct{}
	index    int
	starts   int
	moved    func(start, at int)
	held     *Item
	parts    childList
	living   int
	terminal *Cause
	// over tells that terminal counts, even when nil (the cleanup ends the
	// iteration without a failure).
	over  bool
	done  bool
	token Token
	// outcome is what the fiber goes on with once it is woken.
	outcome func() *Cause
	resumed bool
}

// Part is an item that runs in a fiber of its own.
type Part struct {
	of    *each
	fiber Fiber
	end   Observer
	// round is the first part that the same advance started. Every part of an
	// advance that stopped at the limit may go on.
	round  *Part
	paused bool
}

// partEnd is a part as the listener to its end.
type partEnd Part

// Ended implements Listener.
func (p *partEnd) Ended(f *Fiber) { p.of.box.take(f, (*Part)(p)) }

// open takes in that the part has ended.
func (p *Part) open() *Fiber {
	e := p.of
	e.hear(p)
	return e.takeReady()
}

// Each runs items 0 to n-1, at most limit at a time, each in a fiber of its own
// unless its exit is known. item is called in order, one call at a time, and
// may be called on another fiber's goroutine. The first failure interrupts the
// others; causes that they end with, interruptions apart, join it.
//
// On a serial runtime a child that is being started may make another start the
// same item again. moved hears of every start, counted from 0, whose result
// therefore counts as that of another item, or of one beyond the last.
func (f *Fiber) Each(n, limit int, item func(i int) Item, moved func(start, at int)) *Cause {
	e := &each{f: f, item: item, n: n, limit: limit, moved: moved, mode: StartInherited}
	e.box.owner = f
	if !e.box.serial() {
		if e.mode = StartUninterruptible; f.Interruptible() {
			e.mode = StartInterruptible
		}
	}
	for ; e.index < n; e.index++ {
		it := item(e.index)
		e.starts++
		if !it.Known {
			e.held = &it
			return e.concurrent()
		}
		if it.Cause != nil {
			return it.Cause
		}
	}
	return nil
}

func (e *each) concurrent() *Cause {
	f := e.f
	returned, mark := false, f.Mark()
	defer func() {
		// A Goexit ends f, and what was started must not outlive it. It may come from
		// attempt or, since f takes in what came meanwhile, from the item after a part
		// that has ended.
		if !returned && !f.rt.abandoning() {
			f.Unwound(mark)
			e.interrupt()
		}
	}()
	c := e.iterate()
	returned = true
	return c
}

func (e *each) iterate() *Cause {
	f := e.f
	e.token = f.Arm()
	e.box.take(nil, note(e.attempt))
	p := f.Block(e.token, waitEach)
	if p.Cause == nil && !p.Slept {
		c := f.takePending()
		switch {
		case c == nil:
			return f.Guard(e.outcome)
		case e.box.serial():
			return c
		default:
			// TypeScript leaves what it has started by then; here it would run on,
			// beside whatever comes next.
			return f.briefly(c, func(c *Cause) *Cause {
				e.interrupt()
				return c
			})
		}
	}
	c := p.Cause
	if c == nil {
		c = f.NoticeAfter(f.Guard(e.outcome))
	}
	return f.Settle(c, func() *Cause {
		if c := e.interrupt(); c != nil {
			return c
		}
		return e.reported()
	})
}

// interrupt ends the iteration: nothing more is started, and what runs is interrupted
// and awaited.
func (e *each) interrupt() *Cause {
	var running []*Fiber
	e.sync(func() {
		e.over = true
		running = e.parts.snapshot()
	})
	return e.f.InterruptAll(running)
}

// reported is the terminal exit when every part has been heard.
func (e *each) reported() (c *Cause) {
	if !e.box.serial() {
		// A fiber that has ended is not waited for, though it may not have told yet.
		all := make(chan struct{})
		e.sync(func() {
			if e.living == 0 {
				close(all)
			} else {
				e.heardAll = all
			}
		})
		<-all
	}
	e.sync(func() { c = e.terminal })
	return c
}

var waitEach = &Waiting{What: "concurrent work (All, ForEach)"}

// sync runs fn in the mailbox and waits for it.
func (e *each) sync(fn func()) {
	if e.box.serial() {
		fn()
		return
	}
	done := make(chan struct{})
	e.box.take(nil, note(func() *Fiber {
		fn()
		close(done)
		return nil
	}))
	<-done
}

// attempt is the first advance, on e.f. A panic of the user's code becomes a defect.
func (e *each) attempt() *Fiber {
	returned := false
	defer func() {
		if r := recover(); r != nil {
			e.failDefect(CauseRecovered(r))
		} else if !returned {
			e.over = true // who takes in the next letter starts nothing
		}
	}()
	if outcome := e.advance(); outcome != nil {
		e.resume(outcome)
	}
	returned = true
	return e.takeReady()
}

func (e *each) resume(outcome func() *Cause) {
	if e.resumed {
		return
	}
	e.resumed = true
	e.outcome = outcome
	e.token.Wake()
}

func (e *each) stopped() bool { return e.over || e.terminal != nil }

// advance starts what may start. It answers what the fiber goes on with, when
// that is known.
func (e *each) advance() func() *Cause {
	var round *Part
	for ; !e.stopped() && e.index < e.n; e.index++ {
		var it Item
		if e.held != nil {
			it, e.held = *e.held, nil
		} else {
			// It may take long, or wait for an item.
			if p := e.takeReady(); p != nil {
				e.f.Start(p, ForkConfig{})
			}
			it = e.item(e.index)
			e.starts++
		}
		start := e.starts - 1
		if it.Known {
			e.terminal, e.over = it.Cause, false
			if e.terminal != nil {
				break
			}
			e.place(start, e.index)
			continue
		}
		p := it.Part
		p.of = e
		if round == nil {
			round = p
		}
		p.round = round
		c, ended := e.start(p, it.Body)
		// Others may have been started meanwhile: its result goes to where the
		// iteration is now.
		e.place(start, e.index)
		if ended {
			// A child that ended inside its own start overwrites what others
			// recorded meanwhile, even the end of the whole iteration.
			e.terminal, e.over = c, false
			if c != nil {
				break
			}
			continue
		}
		e.parts.add(&p.fiber)
		e.living++
		if e.living < e.limit {
			continue
		}
		round.paused = true
		e.index++
		return nil
	}
	e.done = true
	if e.stopped() {
		if e.living > 0 {
			for _, child := range e.parts.snapshot() {
				child.Interrupt(e.f.id)
			}
			return nil
		}
		return e.end()
	}
	if e.living == 0 {
		return e.end()
	}
	return nil
}

// start makes p a fiber and tells whether that has ended. On the parallel runtime it
// starts with the next item, or when the letter is done with: items run beside one
// another from the start, as waiting for each one's first park would make computations
// take turns.
func (e *each) start(p *Part, body Body) (c *Cause, ended bool) {
	e.f.Prepare(&p.fiber, body, ForkConfig{Daemon: true, bound: true, Mode: e.mode})
	// Its defect is the iteration's: one that ends before it is observed must not
	// count as unheard.
	p.fiber.watched = true
	p.end.Init((*partEnd)(p))
	if !e.box.serial() {
		p.fiber.observers.push(&p.end)
		e.ready = p
		return nil, false
	}
	e.f.Start(&p.fiber, ForkConfig{Immediate: true})
	if p.fiber.Observe(&p.end) {
		return nil, false
	}
	return p.fiber.Exited()
}

func (e *each) takeReady() *Fiber {
	p := e.ready
	if e.ready = nil; p == nil {
		return nil
	}
	return &p.fiber
}

func (e *each) place(start, at int) {
	if start != at && e.moved != nil {
		e.moved(start, at)
	}
}

// end is to go on with the terminal exit as it is now: a child that is being
// started may still overwrite it.
func (e *each) end() func() *Cause {
	c := e.terminal
	return func() *Cause { return c }
}

// hear takes in that p has ended.
func (e *each) hear(p *Part) {
	c := p.fiber.exit // which its end has published to the mailbox
	e.parts.remove(&p.fiber)
	e.living--
	returned := false
	defer func() {
		if r := recover(); r != nil {
			e.failDefect(CauseRecovered(r))
		} else if !returned && !e.f.rt.abandoning() {
			e.failDefect(CauseDie(Exited{}))
		}
		if e.heardAll != nil && e.living == 0 {
			close(e.heardAll)
			e.heardAll = nil
		}
	}()
	switch {
	case e.stopped():
		if rest := c.WithoutInterrupts(); rest != nil {
			e.terminal = CombineFinalizer(e.terminal, rest)
		}
	case c != nil:
		e.terminal = c
		e.advance()
	}
	if p.round.paused {
		if outcome := e.advance(); outcome != nil {
			e.resume(outcome)
		}
	} else if e.done && e.living == 0 {
		e.resume(e.end())
	}
	returned = true
}

func (e *each) failDefect(c *Cause) {
	e.terminal, e.done = c, true
	running := e.parts.snapshot()
	e.resume(func() *Cause {
		if len(running) > 0 {
			c := e.f.briefly(nil, func(c *Cause) *Cause { return c.Combine(e.f.InterruptAll(running)) })
			if c != nil {
				return c
			}
		}
		return e.reported()
	})
}
