package lanes_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lanes"
	"github.com/samber/mo"
)

// ledger plays a random program on a deterministic runtime and holds what
// happens against the contract. Its time is the count of what it noted.
type ledger struct {
	r       *rand.Rand
	board   *lanes.Lanes
	limit   int
	timeout time.Duration
	// stops tells that the program cancels and closes.
	stops bool
	// disturbed tells that somebody outside interrupts fibers of the program: any
	// activation may fail by interruption then, before it starts too.
	disturbed bool

	now        int
	keys       map[string]*account
	running    int
	closed     int
	violations []string
}

// account is what the ledger has of one key.
type account struct {
	wakes []int // when each accepted wake was heard of
	// served, dropped and unstarted are the last times of what answers to wakes:
	// Activate was called; what was owed was dropped; an activation began that was
	// stopped before Activate.
	served, dropped, unstarted int
	// begun is when this activation was heard to start, 0 when there is none.
	begun int
	// startedAt is the same on the clock.
	startedAt time.Duration
	activated bool
	// plan is how the body ends, unless it is stopped; ended that it got there.
	plan  ending
	ended bool
	// finalizers counts those registered and not run.
	finalizers int
	reported   lanes.ActivationExit
	// cancels counts Cancels under way, cancelled is when the last one returned.
	cancels, cancelled int
	// queue is what waited when the key last started, with what each had.
	queue map[string]int
	// starts counts started and dropped.
	starts int
}

type ending uint8

const (
	succeeds ending = iota
	fails
	dies
	interruptsItself
	cleanupDies
)

func newLedger(seed uint64, stops bool) *ledger {
	return &ledger{r: rand.New(rand.NewPCG(seed, 2)), stops: stops, keys: map[string]*account{}}
}

func (l *ledger) violate(format string, args ...any) {
	l.violations = append(l.violations, fmt.Sprintf(format, args...))
}

func (l *ledger) tick() int { l.now++; return l.now }

func (l *ledger) key(key string) *account {
	if l.keys[key] == nil {
		l.keys[key] = &account{}
	}
	return l.keys[key]
}

func (l *ledger) config() lanes.Config {
	l.limit = 1 + l.r.IntN(3)
	c := lanes.Config{MaxConcurrent: l.limit, Activate: l.activate, OnExit: l.onExit, Observe: l.observe, Logger: silent}
	if n := l.r.IntN(5); n < 3 {
		c.MaxQueued = mo.Some(n)
	}
	if l.r.IntN(3) == 0 {
		l.timeout = 3 * time.Millisecond
		c.TurnTimeout = l.timeout
	}
	return c
}

func (l *ledger) look(at string) lanes.Status {
	st := l.board.StatusNow()
	if bad := inconsistent(st, l.limit); bad != "" {
		l.violate("N1, N4, N13 at %s: %s", at, bad)
	}
	return st
}

func (l *ledger) observe(e lanes.Event) {
	a := l.key(e.Key)
	now := l.tick()
	st := l.look(e.Kind.String())
	switch e.Kind {
	case lanes.EventQueued, lanes.EventCoalesced:
		a.wakes = append(a.wakes, now)
	case lanes.EventDropped:
		a.dropped = now
		a.starts++
	case lanes.EventStarted:
		l.begin(e.Key, a, st)
	case lanes.EventEnded:
		l.end(e, a)
	}
}

func (l *ledger) begin(key string, a *account, st lanes.Status) {
	if a.begun != 0 {
		l.violate("N1: %s started twice", key)
	}
	if l.running++; l.running > l.limit {
		l.violate("N1: %d run", l.running)
	}
	has := map[string]bool{}
	waits := map[string]int{}
	for _, other := range st.Lanes {
		has[other.Key] = other.State == lanes.StateRunning
		if other.State == lanes.StateQueued {
			waits[other.Key] = l.key(other.Key).starts
		}
	}
	for other, starts := range a.queue {
		// A key with a slot may not have been heard to start yet.
		if l.key(other).starts == starts && !has[other] {
			l.violate("N4: %s started again before %s, which waited", key, other)
		}
	}
	a.queue = waits
	a.starts++
	a.begun, a.activated, a.ended, a.reported = l.now, false, false, nil
}

func (l *ledger) end(e lanes.Event, a *account) {
	if a.begun == 0 {
		l.violate("N1: %s ended and had not started", e.Key)
	}
	if a.finalizers != 0 {
		l.violate("N6: %s ended before its scope closed", e.Key)
	}
	if a.reported == nil {
		l.violate("N10: OnExit did not hear of %s", e.Key)
	} else if fmt.Sprint(a.reported) != fmt.Sprint(e.Exit) {
		l.violate("N10: OnExit heard %v, the observer %v", a.reported, e.Exit)
	}
	if !a.activated {
		a.unstarted = a.begun
		if _, ok := e.Exit.(lanes.ActivationInterrupted); !ok && !l.disturbed {
			l.violate("N11: %s never started and %v", e.Key, e.Exit)
		}
	}
	l.running--
	a.begun = 0
}

func (l *ledger) activate(key string) unit {
	a := l.key(key)
	l.look("Activate")
	switch {
	case a.begun == 0:
		l.violate("N1: %s is activated without a slot", key)
	case a.activated:
		l.violate("N1: %s is activated twice", key)
	case a.reported != nil || a.finalizers != 0:
		l.violate("N6: %s is activated before its last scope closed", key)
	}
	a.served, a.activated = l.tick(), true
	a.plan = []ending{succeeds, succeeds, succeeds, fails, dies, interruptsItself, cleanupDies}[l.r.IntN(7)]
	return effect.GenUnit(func(do *effect.Do) {
		a.startedAt = do.Await(effect.Monotonic())
		do.Await(l.finalizer(a))
		if l.r.IntN(4) == 0 {
			do.Await(effect.ForkChild(effect.Never[effect.Unit]().Ensuring(effect.YieldNow())))
		}
		for range l.r.IntN(4) {
			do.Await(l.pause())
		}
		last := effect.Suspend(func() unit {
			a.ended = true
			switch a.plan {
			case fails:
				return effect.Fail[effect.Unit](errBoom)
			case dies:
				return effect.Die[effect.Unit]("bug")
			case interruptsItself:
				return effect.Interrupt[effect.Unit]()
			}
			return effect.Void()
		})
		if l.r.IntN(5) == 0 {
			last = l.pause().AndThen(last).Uninterruptible()
		}
		do.Await(last)
	})
}

func (l *ledger) finalizer(a *account) unit {
	pause := l.pause()
	return effect.AcquireRelease(effect.SyncUnit(func() { a.finalizers++ }), func(effect.Unit, exit) unit {
		return pause.AndThen(effect.Suspend(func() unit {
			a.finalizers--
			if a.plan == cleanupDies {
				return effect.Die[effect.Unit]("mess")
			}
			return effect.Void()
		}))
	})
}

func (l *ledger) pause() unit {
	switch l.r.IntN(3) {
	case 0:
		return effect.Sleep(time.Duration(l.r.IntN(3)) * time.Millisecond)
	case 1:
		return effect.YieldNow()
	default:
		return effect.Void()
	}
}

func (l *ledger) onExit(e lanes.ActivationExit) unit {
	return effect.GenUnit(func(do *effect.Do) {
		a := l.key(e.Lane())
		if a.reported != nil {
			l.violate("N10: OnExit heard %v, then %v", a.reported, e)
		}
		a.reported = e
		l.judge(e, a, do.Await(effect.Monotonic()))
		do.Await(l.pause())
		if l.r.IntN(4) == 0 {
			l.wake(do, e.Lane())
		}
	})
}

// judge holds a report against what is known of how the activation went.
func (l *ledger) judge(e lanes.ActivationExit, a *account, now time.Duration) {
	if a.finalizers != 0 {
		l.violate("N6: %v is reported before its scope closed", e)
	}
	switch e := e.(type) {
	case lanes.ActivationSucceeded:
		if !a.ended || a.plan != succeeds {
			l.violate("N10: %v, and its end was %v, %v", e, a.ended, a.plan)
		}
	case lanes.ActivationFailed:
		// A body that was interrupted between its acquire and anything else still
		// has a cleanup that may die.
		if l.disturbed && e.Cause.HasInterrupts() {
			return
		}
		if !a.ended && a.plan != cleanupDies || a.plan == succeeds {
			l.violate("N10: %v, and its end was %v, %v", e, a.ended, a.plan)
		}
	case lanes.ActivationInterrupted:
		ok := false
		switch e.Reason {
		case lanes.StopCancel:
			ok = a.cancels > 0 || a.cancelled > a.begun
		case lanes.StopClose:
			ok = l.closed > 0
		case lanes.StopTimeout:
			ok = l.timeout > 0 && a.activated && now-a.startedAt >= l.timeout
		}
		if !ok {
			l.violate("N10: %v for no reason", e)
		}
	}
}

func (l *ledger) wake(do *effect.Do, key string) {
	called := l.tick()
	_, err := do.Await(effect.Result(l.board.Wake(key))).Get()
	if err != nil {
		l.refused(err)
		return
	}
	a := l.key(key)
	a.wakes = append(a.wakes, called)
}

func (l *ledger) refused(err error) {
	switch err.(type) {
	case *lanes.QueueFull:
	case *lanes.Closed:
		if l.closed == 0 {
			l.violate("N9: %v, and nobody closed", err)
		}
	default:
		l.violate("N2: %v", err)
	}
}

var ledgerKeys = []string{"a", "b", "c", "d"}

// caller is a fiber that uses the lanes at random.
func (l *ledger) caller() unit {
	return effect.GenUnit(func(do *effect.Do) {
		for range 3 + l.r.IntN(6) {
			key := ledgerKeys[l.r.IntN(len(ledgerKeys))]
			switch n := l.r.IntN(20); {
			case n < 12:
				l.wake(do, key)
			case n < 15 && l.stops:
				do.Await(l.cancel(key))
			case n < 17:
				do.Await(l.pause())
			case n == 17 && l.stops && l.r.IntN(4) == 0:
				l.closed = l.tick()
				do.Await(l.board.Close())
				l.afterClose()
			default:
				l.look("a call")
			}
		}
	})
}

func (l *ledger) cancel(key string) unit {
	a := l.key(key)
	return effect.Suspend(func() unit {
		a.cancels++
		return l.board.Cancel(key).Ensuring(effect.SyncUnit(func() {
			a.cancels--
			a.cancelled = l.tick()
		}))
	})
}

func (l *ledger) afterClose() {
	if st := l.look("Close"); !st.Closed || len(st.Lanes) > 0 || l.running > 0 {
		l.violate("N9: after Close %+v, %d run", st, l.running)
	}
}

// program is the whole of it. settle tells to wait until all is idle, instead of
// leaving the scope at once.
func (l *ledger) program(callers int, settle bool) unit {
	return effect.GenUnit(func(do *effect.Do) {
		defer l.audit()
		do.Await(effect.Scoped(effect.GenUnit(func(do *effect.Do) {
			l.board = do.Await(lanes.Make(l.config()))
			do.Await(effect.AddFinalizer(func(exit) unit {
				return effect.SyncUnit(func() { l.closed = l.tick() })
			}))
			var fibers []effect.AnyFiber
			for range callers {
				fibers = append(fibers, do.Await(effect.ForkChild(l.caller())))
			}
			do.Await(effect.AwaitAll(fibers...))
			for i := 0; settle && len(l.board.StatusNow().Lanes) > 0; i++ {
				if i == 1000 {
					l.violate("N2: never idle again: %+v", l.board.StatusNow())
					break
				}
				do.Await(effect.Sleep(time.Millisecond))
			}
		})))
		l.afterClose()
	})
}

// audit looks for wakes that were lost.
func (l *ledger) audit() {
	for key, a := range l.keys {
		for _, w := range a.wakes {
			if a.served < w && a.dropped < w && a.unstarted < w {
				l.violate("N3: the wake of %s at %d was lost", key, w)
			}
		}
	}
}
