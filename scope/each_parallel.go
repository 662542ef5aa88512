package scope

// parallelEach runs an iteration whose parts run side by side. Its state changes in the
// mailbox only, one letter at a time: a round never begins inside another, and a start
// leads to nothing before it returns.
//
// A part that was made is started with the next one, or when the letter is done with:
// parts run beside one another from the start, as waiting for each one's first park
// would make computations take turns.
type parallelEach struct {
	each
	box mailbox
	// mode is f's own when it began: when an item is started, f may be in a mask of
	// the kernel's, which would keep the item from being interrupted.
	mode Mode

	// ready is a part that has not been started.
	ready *Fiber
	// heardAll is closed when every part has been heard.
	heardAll chan struct{}
}

func newParallelEach(e each) *parallelEach {
	p := &parallelEach{each: e, mode: StartUninterruptible}
	p.box.owner = e.f
	if e.f.Interruptible() {
		p.mode = StartInterruptible
	}
	return p
}

func (e *parallelEach) run() *Cause {
	f := e.f
	e.token = f.Arm()
	e.box.take(nil, note(e.begin))
	p := f.Block(e.token, waitEach)
	if p.Cause == nil && !p.Slept {
		c := f.takePending()
		if c == nil {
			return f.Guard(e.result)
		}
		// TypeScript leaves what it has started by then; here it would run on, beside
		// whatever comes next.
		return f.briefly(c, func(c *Cause) *Cause {
			e.abort()
			return c
		})
	}
	c := p.Cause
	if c == nil {
		c = f.NoticeAfter(f.Guard(e.result))
	}
	return f.Settle(c, func() *Cause {
		if c := e.abort(); c != nil {
			return c
		}
		return e.reported()
	})
}

func (e *parallelEach) result() *Cause {
	if e.outcome.defect == nil {
		return e.outcome.cause
	}
	if c := e.interruptBriefly(e.outcome.running); c != nil {
		return c
	}
	return e.reported()
}

// begin is the first letter, with the first round.
func (e *parallelEach) begin() *Fiber {
	returned := false
	defer func() {
		if r := recover(); r != nil {
			e.die(CauseRecovered(r))
		} else if !returned {
			e.state = e.state.stop() // the next letter starts nothing
		}
	}()
	e.round()
	returned = true
	return e.takeReady()
}

// round starts what may start.
func (e *parallelEach) round() {
	var first *Part
	for {
		var next duty
		e.state, next = e.state.next()
		switch next {
		case dutyMake:
			// Making the next item may take long, or wait for this one.
			if f := e.takeReady(); f != nil {
				e.f.Start(f, ForkConfig{})
			}
			it, _ := e.make()
			if it.Known {
				e.state = e.state.settle(it.Cause)
				continue
			}
			p := e.prepare(e, it, first, e.mode)
			p.fiber.observers.push(&p.end)
			e.ready = &p.fiber
			e.parts.add(&p.fiber)
			if e.state, p.round.paused = e.state.park(); p.round.paused {
				return
			}
			first = p.round
			continue
		case dutyInterrupt:
			e.interruptRunning()
		case dutyEnd:
			e.wake(outcome{cause: e.state.cause})
		}
		return
	}
}

func (e *parallelEach) takeReady() *Fiber {
	f := e.ready
	e.ready = nil
	return f
}

// ended implements shell.
func (e *parallelEach) ended(f *Fiber, p *Part) { e.box.take(f, p) }

// open implements letter: p has ended.
func (p *Part) open() *Fiber {
	e := p.of.(*parallelEach)
	e.hear(p)
	return e.takeReady()
}

func (e *parallelEach) hear(p *Part) {
	e.parts.remove(&p.fiber)
	returned := false
	defer func() {
		if r := recover(); r != nil {
			e.die(CauseRecovered(r))
		} else if !returned {
			e.die(CauseDie(Exited{}))
		}
		if e.heardAll != nil && e.state.running == 0 {
			close(e.heardAll)
			e.heardAll = nil
		}
	}()
	var next duty
	// Its end has published the exit to the mailbox.
	if e.state, next = e.state.end(p.fiber.exit); next == dutyInterrupt {
		e.interruptRunning()
	}
	switch e.state.after(p.round.paused) {
	case dutyRound:
		e.round()
	case dutyEnd:
		e.wake(outcome{cause: e.state.cause})
	}
	returned = true
}

// abort implements shell.
func (e *parallelEach) abort() *Cause {
	var running []*Fiber
	e.sync(func() {
		e.state = e.state.stop()
		running = e.parts.snapshot()
	})
	return e.f.InterruptAll(running)
}

// reported is the cause when every part has been heard. A fiber that has ended is not
// waited for, though it may not have told yet.
func (e *parallelEach) reported() (c *Cause) {
	all := make(chan struct{})
	e.sync(func() {
		if e.state.running == 0 {
			close(all)
		} else {
			e.heardAll = all
		}
	})
	<-all
	e.sync(func() { c = e.state.cause })
	return c
}

// sync runs fn in the mailbox and waits for it.
func (e *parallelEach) sync(fn func()) {
	done := make(chan struct{})
	e.box.take(nil, note(func() *Fiber {
		fn()
		close(done)
		return nil
	}))
	<-done
}
