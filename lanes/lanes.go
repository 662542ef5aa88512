package lanes

import (
	"log/slog"
	"sync"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// Lanes runs one activation per key at a time, and so many in all. Make it with
// Make. Its methods may be used by any number of fibers; on the parallel runtime
// also by those of several runs.
type Lanes struct {
	config Config
	// env is the services that Make ran with, outer the activations of other
	// lanes that Make ran inside of.
	env   *scope.Env
	outer *frame

	// mu guards board and the run of its records. Under it no code of a user
	// runs, nothing is woken, interrupted or started.
	mu    sync.Mutex
	board board
	// drain is what Drain waits for; nil: nobody has called it.
	drain *drain
}

// Make makes lanes in the scope at hand: closing it runs Close. It fails with
// *ConfigInvalid. Without a scope at hand it is a defect.
func Make(config Config) effect.Effect[*Lanes] {
	return effect.Direct(func(f *scope.Fiber) (*Lanes, *scope.Cause) {
		if invalid := config.check(); invalid != nil {
			return nil, scope.CauseFail(invalid)
		}
		s, c := effect.RunOn(f, effect.Scope())
		if c != nil {
			return nil, c
		}
		l := &Lanes{config: config, env: f.Env(), outer: frameOf(f), board: makeBoard(config.rules())}
		return l, s.Add(f, func(f *scope.Fiber, _ scope.Exit[any]) *scope.Cause { return l.close(f) })
	})
}

// Wake asks for an activation of key that starts after this moment, and says
// what that came to; it never waits for it. It fails with *QueueFull, when the
// lane is idle, no slot is free and MaxQueued lanes wait, or with *Closed. A wake
// that was accepted stays so, whatever becomes of the fiber that asked.
//
// A coalesced wake takes no goroutine, timer or memory. (Making the effect
// allocates its two closures; where that counts, make it once for a key, or use
// WakeNow.)
func (l *Lanes) Wake(key string) effect.Effect[Outcome] {
	return effect.Direct(func(f *scope.Fiber) (Outcome, *scope.Cause) {
		outcome, err := l.WakeNow(f, key)
		if err != nil {
			return outcome, scope.CauseFail(err)
		}
		return outcome, nil
	})
}

// WakeNow is Wake for direct-style code on the fiber f.
func (l *Lanes) WakeNow(f *scope.Fiber, key string) (Outcome, error) {
	l.mu.Lock()
	outcome, e := l.board.wake(key)
	closed := l.board.rules.shut()
	var a *activation
	if outcome == Started {
		a = l.prepare(f, e)
	}
	l.mu.Unlock()
	switch outcome {
	case Started:
		// The activation reports its own start.
		a.start(f)
	case Queued:
		l.emit(Event{Kind: EventQueued, Key: key})
	case Coalesced:
		l.emit(Event{Kind: EventCoalesced, Key: key})
	default:
		if closed {
			return refused, &Closed{Key: key}
		}
		full := &QueueFull{Key: key, MaxQueued: l.config.MaxQueued.OrEmpty()}
		l.emit(Event{Kind: EventFull, Key: key})
		return refused, full
	}
	return outcome, nil
}

// Cancel drops what the key is owed, interrupts its activation and waits for its
// end, finalizers and OnExit included; by then the slot has been passed on. A
// queued lane just leaves the queue. Wakes that are accepted after Cancel began
// are served as usual. Interrupting the wait takes nothing back.
//
// Called for the own key from inside the activation, it interrupts the caller
// together with the activation, and does not wait. Where that cannot be, it is a
// *SelfDeadlock defect and changes nothing: in OnExit, and while the caller, one of
// the fibers that it was forked by or the activation's own fiber is in an
// uninterruptible part. A detached fiber is refused there as well, since whether
// somebody waits for it cannot be told; else it waits, as others do.
//
// Who waits, in an uninterruptible part or in OnExit, for another fiber that waits
// for the activation's end in turn, waits for ever: two activations that cancel each
// other, or one whose finalizer awaits a detached fiber that cancels it.
func (l *Lanes) Cancel(key string) effect.Effect[effect.Unit] {
	return effect.Direct(func(f *scope.Fiber) (effect.Unit, *scope.Cause) {
		return effect.Unit{}, l.cancel(f, key)
	})
}

func (l *Lanes) cancel(f *scope.Fiber, key string) *scope.Cause {
	inside := frameOf(f)
	l.mu.Lock()
	e, known := l.board.lanes[key]
	if !known {
		l.mu.Unlock()
		return nil
	}
	a := e.Value.run
	if a != nil && inside.deadlocks(f, a) {
		l.mu.Unlock()
		return scope.CauseDie(&SelfDeadlock{Operation: "Cancel", Key: key})
	}
	// Now: the interruption may run the activation to its scope's closing.
	goesFirst := a != nil && inside.endsWith(f, a)
	dropped, first := l.board.halt(e, StopCancel)
	if first {
		a.by = f.ID()
	}
	l.mu.Unlock()
	func() {
		// From a defer, so that no Goexit in Observe keeps the interruption away.
		defer func() {
			if first {
				a.fiber.Interrupt(f.ID())
			}
		}()
		if dropped {
			l.emit(Event{Kind: EventDropped, Key: key})
		}
	}()
	if a == nil {
		return nil
	}
	if goesFirst {
		f.Interrupt(f.ID())
	}
	return a.await(f)
}

// Close refuses all later wakes, drops the queue and everything owed, interrupts
// every activation and waits for their ends. It can be called more than once;
// each call waits. Interrupting the wait takes nothing back.
//
// Called from inside an activation it ends the caller together with it; where
// Cancel of the own key would be a *SelfDeadlock, Close closes all the same, but
// waits for nothing and is that defect. Dropping the queue costs O(lanes).
func (l *Lanes) Close() effect.Effect[effect.Unit] {
	return effect.Direct(func(f *scope.Fiber) (effect.Unit, *scope.Cause) {
		return effect.Unit{}, l.close(f)
	})
}

func (l *Lanes) close(f *scope.Fiber) *scope.Cause {
	inside := frameOf(f)
	var dropped []string
	var first, running []*activation
	var deadlock *activation
	goesFirst := false
	l.mu.Lock()
	cut := l.drain.cutBy(l.board.rules)
	for e := l.board.running.Front(); e != nil; e = e.Next() {
		a := e.Value.run
		running = append(running, a)
		if inside.deadlocks(f, a) {
			deadlock = a
		}
		goesFirst = goesFirst || inside.endsWith(f, a)
	}
	l.board.close(func(key string) {
		if l.config.Observe != nil || cut {
			dropped = append(dropped, key)
		}
	}, func(a *activation) {
		a.by = f.ID()
		first = append(first, a)
	})
	if cut {
		l.drain.dropped, l.drain.interrupted = dropped, first
	}
	l.mu.Unlock()
	func() {
		defer func() {
			for _, a := range first {
				a.fiber.Interrupt(f.ID())
			}
		}()
		for _, key := range dropped {
			l.emit(Event{Kind: EventDropped, Key: key})
		}
	}()
	if deadlock != nil {
		return scope.CauseDie(&SelfDeadlock{Operation: "Close", Key: deadlock.key})
	}
	if goesFirst {
		f.Interrupt(f.ID())
	}
	for _, a := range running {
		if c := a.await(f); c != nil {
			return c
		}
	}
	return nil
}

// Status gives a consistent snapshot. It costs O(lanes that are not idle), with
// the lock held.
func (l *Lanes) Status() effect.Effect[Status] { return effect.Sync(l.StatusNow) }

// StatusNow is Status for any goroutine.
func (l *Lanes) StatusNow() Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.board.status()
}

// emit tells the observer, if there is one. Where there is none it is inlined to a
// comparison.
func (l *Lanes) emit(e Event) {
	if l.config.Observe != nil {
		l.observe(e)
	}
}

// observe calls the observer. Nothing that it does comes back, but for a Goexit.
func (l *Lanes) observe(e Event) {
	defer func() {
		if r := recover(); r != nil {
			l.warn("Config.Observe failed", e.Key, scope.CauseRecovered(r))
		}
	}()
	l.config.Observe(e)
}

func (l *Lanes) warn(what, key string, c *scope.Cause) {
	// A logger that panics has nobody left to hear of it.
	defer func() { _ = recover() }()
	attrs := []any{slog.String("key", key), slog.String("cause", c.String())}
	if die, ok := c.Defect(); ok && die.Panic != nil {
		attrs = append(attrs, slog.String("at", die.At()), slog.String("stack", string(die.Stack())))
	}
	l.config.logger().Warn("lanes: "+what, attrs...)
}
