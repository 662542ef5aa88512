package scope

// serialEach runs an iteration where one fiber runs at a time. It is TypeScript's to
// the last event. What it starts, interrupts or wakes runs inside that call up to its
// next wait, and may come back into it; so state is read anew after each.
type serialEach struct{ each }

func (e *serialEach) run() *Cause {
	f := e.f
	e.token = f.Arm()
	e.begin()
	p := f.Block(e.token, waitEach)
	if p.Cause == nil && !p.Slept {
		// Woken while it registered: there is no cleanup then, and what was started is
		// left to itself.
		if c := f.takePending(); c != nil {
			return c
		}
		return f.Guard(e.result)
	}
	c := p.Cause
	if c == nil {
		c = f.NoticeAfter(f.Guard(e.result))
	}
	return f.Settle(c, func() *Cause {
		if c := e.abort(); c != nil {
			return c
		}
		return e.state.cause
	})
}

func (e *serialEach) result() *Cause {
	if e.outcome.defect == nil {
		return e.outcome.cause
	}
	if c := e.interruptBriefly(e.outcome.running); c != nil {
		return c
	}
	return e.state.afterDefect(e.outcome.defect)
}

// begin is the first round, on the iteration's fiber.
func (e *serialEach) begin() {
	returned := false
	defer func() {
		if r := recover(); r != nil {
			e.die(CauseRecovered(r))
		} else if !returned {
			e.state = e.state.stop() // an end that is heard yet starts nothing
		}
	}()
	e.round()
	returned = true
}

// round starts what may start.
func (e *serialEach) round() {
	var first *Part
	for {
		var next duty
		e.state, next = e.state.next()
		switch next {
		case dutyMake:
			p, paused := e.start(first)
			if paused {
				p.round.paused = true
				return
			}
			if first == nil {
				first = p
			}
			continue
		case dutyInterrupt:
			e.interruptRunning()
		case dutyEnd:
			e.wake(outcome{cause: e.state.cause})
		}
		return
	}
}

// start makes and starts the next item, as a part of round unless its exit is known.
func (e *serialEach) start(round *Part) (p *Part, paused bool) {
	it, start := e.make()
	if it.Known {
		if it.Cause == nil {
			e.place(start)
		}
		e.state = e.state.settle(it.Cause)
		return nil, false
	}
	p = e.prepare(e, it, round, StartInherited)
	e.f.Start(&p.fiber, ForkConfig{Immediate: true})
	ended := !p.fiber.Observe(&p.end)
	// Others may have been started meanwhile: its result goes to where the iteration
	// is now.
	e.place(start)
	if ended {
		c, _ := p.fiber.Exited()
		e.state = e.state.settle(c)
		return p, false
	}
	e.parts.add(&p.fiber)
	e.state, paused = e.state.park()
	return p, paused
}

func (e *serialEach) place(start int) {
	if at := e.state.at; start != at && e.moved != nil {
		e.moved(start, at)
	}
}

// ended implements shell.
func (e *serialEach) ended(f *Fiber, p *Part) {
	e.parts.remove(f)
	returned := false
	defer func() {
		if r := recover(); r != nil {
			e.die(CauseRecovered(r))
		} else if !returned && !e.f.rt.abandoning() {
			e.die(CauseDie(Exited{}))
		}
	}()
	var next duty
	if e.state, next = e.state.end(f.exit); next == dutyInterrupt {
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
func (e *serialEach) abort() *Cause {
	e.state = e.state.stop()
	return e.f.InterruptAll(e.parts.snapshot())
}
