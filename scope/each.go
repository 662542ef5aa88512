package scope

import "github.com/rivus/tether/internal/list"

// Item is one piece of work of Each: an exit that is known already, or a body.
type Item struct {
	Body func(*Fiber) *Cause
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
	box   mailbox

	// The rest is changed inside box.
	index    int
	starts   int
	moved    func(start, at int)
	held     *Item
	fibers   list.List[*Fiber]
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

// Each runs items 0 to n-1, at most limit at a time, each in a fiber of its own
// unless its exit is known. item is called in order, one call at a time, and
// may be called on another fiber's goroutine. The first failure interrupts the
// others; causes that they end with, interruptions apart, join it.
//
// On a serial runtime a child that is being started may make another start the
// same item again. moved hears of every start, counted from 0, whose result
// therefore counts as that of another item, or of one beyond the last.
func (f *Fiber) Each(n, limit int, item func(i int) Item, moved func(start, at int)) *Cause {
	e := &each{f: f, item: item, n: n, limit: limit, moved: moved}
	e.box.serial = f.rt.serial()
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
	e.token = f.Arm()
	e.box.do(e.attempt)
	p := f.Block(e.token, waitEach)
	if p.Cause == nil && !p.Slept {
		if c := f.takePending(); c != nil {
			return c
		}
		return f.Guard(e.outcome)
	}
	c := p.Cause
	if c == nil {
		c = f.NoticeAfter(f.Guard(e.outcome))
	}
	return f.Settle(c, func() *Cause {
		var running []*Fiber
		e.sync(func() {
			e.over = true
			running = e.fibers.Values()
		})
		if c := f.InterruptAll(running); c != nil {
			return c
		}
		var terminal *Cause
		e.sync(func() { terminal = e.terminal })
		return terminal
	})
}

var waitEach = &Waiting{What: "concurrent work (All, ForEach)"}

// sync runs fn in the mailbox and waits for it.
func (e *each) sync(fn func()) {
	if e.box.serial {
		fn()
		return
	}
	done := make(chan struct{})
	e.box.do(func() { fn(); close(done) })
	<-done
}

// attempt runs go, and turns a panic of the user's code into a defect.
func (e *each) attempt() {
	defer func() {
		if r := recover(); r != nil {
			e.failDefect(CauseRecovered(r))
		}
	}()
	if outcome := e.advance(); outcome != nil {
		e.resume(outcome)
	}
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
	paused := false
	for ; !e.stopped() && e.index < e.n; e.index++ {
		var it Item
		if e.held != nil {
			it, e.held = *e.held, nil
		} else {
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
		node := &list.Node[*Fiber]{}
		// On the parallel runtime items run beside one another from the start:
		// waiting for each one's first park would make computations take turns.
		child := e.f.Fork(it.Body, ForkOptions{Immediate: e.box.serial, Daemon: true, bound: true, Mode: StartInherited})
		node.Value = child
		// Others may have been started meanwhile: its result goes to where the
		// iteration is now.
		e.place(start, e.index)
		if c, ended := child.Exited(); ended {
			// A child that ended inside its own start overwrites what others
			// recorded meanwhile, even the end of the whole iteration.
			e.terminal, e.over = c, false
			if c != nil {
				break
			}
			continue
		}
		e.fibers.Push(node)
		hear := func(*Fiber) { e.box.do(func() { e.hear(node, &paused) }) }
		if !child.Observe(NewObserver(hear)) {
			hear(child)
		}
		if e.fibers.Len() < e.limit {
			continue
		}
		paused = true
		e.index++
		return nil
	}
	e.done = true
	if e.stopped() {
		if e.fibers.Len() > 0 {
			for _, child := range e.fibers.Values() {
				child.Interrupt(e.f.id)
			}
			return nil
		}
		return e.end()
	}
	if e.fibers.Len() == 0 {
		return e.end()
	}
	return nil
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

// hear takes in that a child ended. paused is that of the advance which started
// it: every child of an advance that stopped at the limit may go on.
func (e *each) hear(node *list.Node[*Fiber], paused *bool) {
	c, _ := node.Value.Exited()
	e.fibers.Remove(node)
	defer func() {
		if r := recover(); r != nil {
			e.failDefect(CauseRecovered(r))
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
	if *paused {
		if outcome := e.advance(); outcome != nil {
			e.resume(outcome)
		}
	} else if e.done && e.fibers.Len() == 0 {
		e.resume(e.end())
	}
}

func (e *each) failDefect(c *Cause) {
	e.terminal, e.done = c, true
	running := e.fibers.Values()
	e.resume(func() *Cause {
		if len(running) > 0 {
			c := e.f.briefly(func() *Cause {
				entered, c := e.f.Mask()
				if c != nil {
					return c
				}
				c = e.f.InterruptAll(running)
				if entered {
					c = e.f.Unmask(c)
				}
				return c
			})
			if c != nil {
				return c
			}
		}
		return e.terminal
	})
}
