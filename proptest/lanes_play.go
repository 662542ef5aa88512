package proptest

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/lanes"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// lanesPlay is one case.
type lanesPlay struct {
	limit, queue int
	timeout      time.Duration
	callers      [][]lanesAction

	choose     scope.Chooser
	lanes      *lanes.Lanes
	model      lanesModel
	turns      map[string]*lanesTurn
	owed       map[string]bool
	log        []string
	violations []string
	// stops is whether a cancel of the key was ever begun; closing that a close was.
	stops   map[string]bool
	cancels map[string]int // under way
	closing bool
	limits  int // drains with a limit, from their beginning
	closed  bool
}

func (p *lanesPlay) note(format string, args ...any) {
	p.log = append(p.log, "  "+fmt.Sprintf(format, args...))
}

func (p *lanesPlay) violate(rule string) {
	p.note("VIOLATED: %s", rule)
	p.violations = append(p.violations, rule)
}

func (p *lanesPlay) run(choose scope.Chooser) {
	p.choose = choose
	p.model = lanesModel{limit: p.limit, room: p.queue, pending: map[string]bool{}}
	p.turns, p.owed, p.stops, p.cancels = map[string]*lanesTurn{}, map[string]bool{}, map[string]bool{}, map[string]int{}
	config := lanes.Config{
		MaxConcurrent: p.limit, TurnTimeout: p.timeout, Activate: p.activate, OnExit: p.onExit, Observe: p.observe,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if p.queue >= 0 {
		config.MaxQueued = mo.Some(p.queue)
	}
	err := simulate(deterministicSchedules(choose), func(do *effect.Do) {
		p.lanes = do.Await(lanes.Make(config))
		var callers []effect.AnyFiber
		for i, plan := range p.callers {
			callers = append(callers, do.Await(effect.ForkChild(effect.ForEachDiscard(plan, func(a lanesAction, _ int) effect.Effect[effect.Unit] {
				return p.act(i, a)
			}, 1))))
		}
		do.Await(effect.AwaitAll(callers...))
		for range 1000 {
			if len(p.lanes.StatusNow().Lanes) == 0 {
				p.audit()
				return
			}
			do.Await(effect.Sleep(time.Millisecond))
		}
		p.violate("N4: the lanes are never idle again")
	})
	if err != nil {
		p.note("%v", err)
		p.violate("the program of lanes did not end well")
	}
}

// audit looks for wakes that were lost.
func (p *lanesPlay) audit() {
	for key, owed := range p.owed {
		if owed {
			p.note("%s is owed an activation", key)
			p.violate("N3: a wake was lost")
		}
	}
}

func (p *lanesPlay) act(by int, a lanesAction) effect.Effect[effect.Unit] {
	switch a.kind {
	case "wake":
		return effect.Direct(func(f *scope.Fiber) (effect.Unit, *scope.Cause) {
			p.wake(f, a.key)
			return effect.Unit{}, nil
		})
	case "cancel":
		return effect.Suspend(func() effect.Effect[effect.Unit] {
			p.note("%d cancels %s", by, a.key)
			p.stops[a.key] = true
			turn := p.turns[a.key]
			if turn != nil {
				turn.cancelled = true
			}
			p.cancels[a.key]++
			return p.lanes.Cancel(a.key).Ensuring(effect.SyncUnit(func() { p.cancels[a.key]-- })).AndThen(effect.SyncUnit(func() {
				p.note("%d has cancelled %s", by, a.key)
				if turn != nil && p.turns[a.key] == turn {
					p.violate("N8: Cancel returned before the activation had ended")
				}
			}))
		})
	case "close":
		return effect.SyncUnit(func() { p.note("%d closes", by); p.closing = true }).AndThen(p.lanes.Close()).
			AndThen(effect.SyncUnit(p.afterClose))
	case "drain":
		return effect.SyncUnit(func() { p.note("%d drains", by) }).AndThen(p.drain())
	case "drain within":
		return effect.SyncUnit(func() { p.note("%d drains with a limit", by) }).AndThen(p.drain(lanes.Within(2 * time.Millisecond)))
	default:
		return p.pause()
	}
}

func (p *lanesPlay) drain(options ...lanes.DrainOption) effect.Effect[effect.Unit] {
	e := p.lanes.Drain(options...)
	if len(options) > 0 {
		// It may close the lanes when its time is over, and not before.
		e = effect.SyncUnit(func() { p.limits++ }).AndThen(e)
	}
	return effect.Result(e).Map(func(r mo.Result[effect.Unit]) effect.Unit {
		left, ok := errors.AsType[*lanes.Undrained](r.Error())
		if r.IsError() && (!ok || !p.mayClose() || len(left.Interrupted)+len(left.Dropped) == 0) {
			p.note("Drain: %v", r.Error())
			p.violate("N15: a drain that nobody cut short fails")
		}
		p.afterClose()
		return effect.Unit{}
	})
}

// mayClose reports whether anybody has begun to close the lanes, or may have.
func (p *lanesPlay) mayClose() bool { return p.closing || p.limits > 0 }

func (p *lanesPlay) afterClose() {
	p.note("closed")
	p.closed = true
	if n := len(p.lanes.StatusNow().Lanes); n > 0 {
		p.violate("N9, N15: lanes are not idle after Close or Drain")
	}
}

// wake is one step: nothing happens between the model's and the real one.
func (p *lanesPlay) wake(f *scope.Fiber, key string) {
	// The lanes may be closed and the model not know yet.
	p.model.closed = p.lanes.StatusNow().Closed
	want := p.model.wake(key)
	got, err := p.lanes.WakeNow(f, key)
	_, full := errors.AsType[*lanes.QueueFull](err)
	_, closed := errors.AsType[*lanes.Closed](err)
	p.note("wake %s: %v %v", key, got, err)
	switch {
	case err != nil && want != "", err == nil && got.String() != want:
		p.note("want %q", want)
		p.violate("N2: a wake's outcome is not what the state of its lane asks for")
	case err != nil && closed != p.model.closed, err != nil && !full && !closed:
		p.violate("N2, N9: a wake was refused for the wrong reason")
	case err == nil:
		p.owed[key] = true
	}
	p.compare()
}

// compare holds the status against the model.
func (p *lanesPlay) compare() {
	if got, want := showStatus(p.lanes.StatusNow()), p.model.String(); got != want {
		p.note("status %s, model %s", got, want)
		p.violate("N1, N4, N13: the lanes are not as the model has them")
	}
}

func (p *lanesPlay) observe(e lanes.Event) {
	t := p.turns[e.Key]
	switch e.Kind {
	case lanes.EventStarted:
		p.note("%s starts", e.Key)
		if t != nil {
			p.violate("N1: a lane has two activations")
		}
		if !slices.Contains(p.model.running, e.Key) {
			p.violate("N1: an activation starts without a slot")
		}
		p.turns[e.Key] = &lanesTurn{}
		// What came before now is this activation's, whether it gets to run or not.
		p.owed[e.Key] = p.model.pending[e.Key]
	case lanes.EventDropped:
		if !p.mayClose() && !p.stops[e.Key] {
			p.violate("N15: a drain dropped what was owed")
		}
		p.model.drop(e.Key)
		p.owed[e.Key] = false
	case lanes.EventEnded:
		p.note("%s is over: %v", e.Key, e.Exit)
		if t == nil || t.reports != 1 {
			p.violate("N10: OnExit did not hear of an activation exactly once")
		}
		delete(p.turns, e.Key)
		p.model.end(e.Key)
		// The slot is passed on after this, before anything else runs.
	}
}

func (p *lanesPlay) pause() effect.Effect[effect.Unit] {
	return effect.Suspend(func() effect.Effect[effect.Unit] {
		if ms := p.choose(4); ms > 0 {
			return effect.Sleep(time.Duration(ms) * time.Millisecond)
		}
		return effect.YieldNow()
	})
}
