package lanes

import (
	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// activation is one turn of one lane, from its slot to the passing on of it:
//
//	fiber:    [started] Activate, in its scope | scope closes | children end
//	reporter:                                                   OnExit
//	either, last:                                               release
//
// OnExit has a fiber of its own since no stop may reach it, and since the first
// one ends, with its children, before anything is reported.
type activation struct {
	lanes *Lanes
	entry *entry
	key   string
	fiber scope.Fiber
	end   scope.Observer
	scope scope.Scope
	// inside marks the fibers that run on behalf of the activation.
	inside frame
	// reporter is nil when there is no OnExit.
	reporter *reporter

	// by is in whose name the first stop interrupts; 0 is the clock. lanes.mu
	// guards it.
	by scope.FiberID
	// timer belongs to fiber.
	timer scope.Timer
	// exit is written by fiber and read after its end; stopped tells that a stop
	// ended the body.
	exit    ActivationExit
	stopped bool
	// done completes when the slot has been passed on.
	done effect.Deferred[effect.Unit]
}

// reporter runs OnExit.
type reporter struct {
	fiber scope.Fiber
	end   scope.Observer
	// inside marks OnExit's fibers.
	inside frame
}

func (r *reporter) activation() *activation { return r.inside.of }

// prepare makes the activation of a lane that has just got its slot. mu is held:
// whoever finds the record running must find a fiber that can be interrupted.
func (l *Lanes) prepare(f *scope.Fiber, e *entry) *activation {
	a := &activation{lanes: l, entry: e, key: e.Value.key}
	a.inside = frame{of: a, outer: l.outer}
	if l.config.OnExit != nil {
		a.reporter = &reporter{inside: frame{of: a, outer: l.outer, reporting: true}}
	}
	// Masked from the start: an interruption of a fiber that has not started
	// would end it there, and OnExit would hear nothing.
	f.Prepare(&a.fiber, a, scope.ForkConfig{Daemon: true, Mode: scope.StartUninterruptible})
	a.end.Init(a)
	a.fiber.Observe(&a.end)
	e.Value.run = a
	return a
}

func (a *activation) start(f *scope.Fiber) { f.Start(&a.fiber, scope.ForkConfig{Daemon: true}) }

func (a *activation) await(f *scope.Fiber) *scope.Cause {
	_, c := effect.RunOn(f, a.done.Await())
	return c
}

// Run implements scope.Body. What it ends with goes to exit.
func (a *activation) Run(f *scope.Fiber) *scope.Cause {
	env := inside.In(a.lanes.env.WithScope(&a.scope), &a.inside)
	f.SetEnv(env)
	returned, mark := false, f.Mark()
	defer func() {
		if !returned && !f.Abandoned() {
			// A Goexit in Activate: this goroutine is lost, the scope is not.
			f.Unwound(mark)
			f.SetEnv(env)
			a.settle(f, scope.CauseDie(scope.Exited{}))
		}
	}()
	c := a.perform(f)
	returned = true
	a.settle(f, c)
	return nil
}

// perform evaluates Activate's effect, unless a stop came first.
func (a *activation) perform(f *scope.Fiber) *scope.Cause {
	a.lanes.emit(Event{Kind: EventStarted, Key: a.key})
	if c := a.stoppedEarly(); c != nil {
		return c
	}
	if d := a.lanes.config.TurnTimeout; d > 0 {
		a.timer = f.Clock().AfterFunc(d, a.expire)
	}
	entered, c := f.Open()
	if c != nil {
		return c
	}
	c = f.Guard(func() *scope.Cause {
		_, c := effect.RunOn(f, a.lanes.config.Activate(a.key))
		return c
	})
	if entered {
		c = f.Shut(c)
	}
	return c
}

// stoppedEarly is the interruption of a stop that came before the start, though
// it may not have reached the fiber yet.
func (a *activation) stoppedEarly() *scope.Cause {
	a.lanes.mu.Lock()
	defer a.lanes.mu.Unlock()
	if a.entry.Value.lane.stop == notStopped {
		return nil
	}
	return scope.CauseInterrupt(a.by)
}

// expire runs when the turn's time is over, on a goroutine of the clock.
func (a *activation) expire() {
	l := a.lanes
	l.mu.Lock()
	// The lane may have another activation by now.
	first := a.entry.Value.run == a && l.board.expire(a.entry)
	l.mu.Unlock()
	if first {
		a.fiber.Interrupt(0)
	}
}

// settle closes the scope of an activation whose body ended with c, and makes
// exit.
func (a *activation) settle(f *scope.Fiber, c *scope.Cause) {
	e := ending{key: a.key, body: c}
	l := a.lanes
	// Before the scope closes: a stop from here on finds an activation that has
	// ended by itself.
	l.mu.Lock()
	e.stop, e.by = a.entry.Value.lane.stop, a.by
	l.mu.Unlock()
	closed := false
	defer func() {
		if f.Abandoned() {
			return
		}
		if !closed {
			// A finalizer called Goexit.
			e.closing = scope.CauseDie(scope.Exited{})
		}
		if a.timer != nil {
			a.timer.Stop()
		}
		exit, unreported := e.judge()
		a.exit, a.stopped = exit, e.stopped()
		if unreported != nil {
			l.warn("the scope of a stopped activation failed to close", a.key, unreported)
		}
	}()
	e.closing = a.scope.CloseMasked(f, scope.NewExit(effect.Unit{}, c).Any())
	closed = true
}

// Ended implements scope.Listener: the activation's fiber has ended, its children
// included. It has OnExit run.
func (a *activation) Ended(f *scope.Fiber) {
	r := a.reporter
	if r == nil {
		a.finish(f)
		return
	}
	o := scope.ForkConfig{Daemon: true, Mode: scope.StartUninterruptible}
	f.Prepare(&r.fiber, r, o)
	r.end.Init(r)
	r.fiber.Observe(&r.end)
	f.Start(&r.fiber, o)
}

// Run implements scope.Body.
func (r *reporter) Run(f *scope.Fiber) *scope.Cause {
	a := r.activation()
	f.SetEnv(inside.In(a.lanes.env, &r.inside))
	_, c := effect.RunOn(f, effect.Scoped(effect.Suspend(func() effect.Effect[effect.Unit] {
		return a.lanes.config.OnExit(a.exit)
	})))
	return c
}

// Ended implements scope.Listener.
func (r *reporter) Ended(f *scope.Fiber) {
	a := r.activation()
	defer a.finish(f)
	if c, _ := f.Exited(); c != nil {
		a.lanes.warn("OnExit failed", a.key, c)
	}
}

// finish is the last act of an activation, on a fiber that has ended.
func (a *activation) finish(f *scope.Fiber) {
	// From a defer, so that no Goexit in Observe keeps the slot.
	defer a.release(f)
	if failed, ok := a.exit.(ActivationFailed); ok && a.reporter == nil {
		a.lanes.warn("an activation failed, and there is no OnExit to hear of it", a.key, failed.Cause)
	}
	a.lanes.emit(Event{Kind: EventEnded, Key: a.key, Exit: a.exit})
}

// release passes the slot on and wakes those who wait for the end.
func (a *activation) release(f *scope.Fiber) {
	l := a.lanes
	l.mu.Lock()
	var next *activation
	if e := l.board.end(a.entry); e != nil {
		next = l.prepare(f, e)
	}
	drained := l.drained()
	l.mu.Unlock()
	if next != nil {
		next.start(f)
	}
	a.done.CompleteNow(effect.Void())
	drained.tell()
}
