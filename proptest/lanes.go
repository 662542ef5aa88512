package proptest

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/lanes"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
	"pgregory.net/rapid"
)

// Lanes plays wakes, cancels, completions, failures, timeouts and a close of one
// lanes.Lanes, from several fibers, in schedules that rapid draws, against a
// reference model of a dozen lines: a list of what runs, and a queue.
//
// It holds that
//   - what Wake answers, and what Status shows, is the model's at every event:
//     caps, first come first served, and no free slot while a lane waits;
//   - every accepted wake is served by an activation that begins after it, or was
//     dropped by a cancel or the close: none is lost;
//   - an activation runs when its lane has a slot, one at a time, its finalizers
//     over before the slot is free;
//   - OnExit hears of each activation once, with what really happened to it;
//   - a turn that takes too long is interrupted at its time;
//   - nothing runs after Close, and all calls return.
func Lanes(t TB) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		play := lanesPlay{
			limit:   rapid.IntRange(1, 3).Draw(t, "MaxConcurrent"),
			queue:   rapid.IntRange(-1, 3).Draw(t, "MaxQueued (-1: none)"),
			timeout: time.Duration(rapid.IntRange(0, 4).Draw(t, "TurnTimeout in ms")) * time.Millisecond,
			callers: rapid.SliceOfN(many(rapid.Custom(drawLanesAction)), 1, 3).Draw(t, "what each caller does"),
		}
		got := explore(t, func(choose scope.Chooser) *lanesPlay {
			p := play
			p.run(choose)
			return &p
		})
		if bad := got.result.violations; len(bad) > 0 {
			t.Logf("what happened:\n%s", strings.Join(got.result.log, "\n"))
			t.Fatalf("%s", bad[0])
		}
	})
}

// lanesAction is one thing that a caller does.
type lanesAction struct {
	kind string
	key  string
}

var lanesKinds = []string{"wake", "wake", "wake", "wake", "pause", "cancel", "pause", "close"}

func drawLanesAction(t *rapid.T) lanesAction {
	kind := rapid.SampledFrom(lanesKinds).Draw(t, "kind")
	key := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "key")
	if kind == "close" && rapid.IntRange(0, 5).Draw(t, "closes on 5") < 5 {
		kind = "wake"
	}
	return lanesAction{kind, key}
}

// GoString is for rapid's report.
func (a lanesAction) GoString() string {
	if a.kind == "pause" || a.kind == "close" {
		return a.kind
	}
	return a.kind + " " + a.key
}

// lanesModel is the reference: what runs, in the order of its slots, and what
// waits.
type lanesModel struct {
	limit, room int // room is negative without a bound
	running     []string
	pending     map[string]bool
	queue       []string
	closed      bool
}

// wake is the outcome, or "" when it is refused.
func (m *lanesModel) wake(key string) string {
	switch {
	case m.closed:
		return ""
	case slices.Contains(m.running, key):
		m.pending[key] = true
		return lanes.Coalesced.String()
	case slices.Contains(m.queue, key):
		return lanes.Coalesced.String()
	case len(m.running) < m.limit:
		m.running = append(m.running, key)
		return lanes.Started.String()
	case m.room < 0 || len(m.queue) < m.room:
		m.queue = append(m.queue, key)
		return lanes.Queued.String()
	default:
		return ""
	}
}

// drop takes away what the key is owed.
func (m *lanesModel) drop(key string) {
	delete(m.pending, key)
	m.queue = slices.DeleteFunc(m.queue, func(k string) bool { return k == key })
}

// end frees the key's slot: the key goes to the end of the queue when it is owed
// more, and then the front gets the slot.
func (m *lanesModel) end(key string) {
	m.running = slices.DeleteFunc(m.running, func(k string) bool { return k == key })
	if m.pending[key] {
		delete(m.pending, key)
		m.queue = append(m.queue, key)
	}
	if len(m.queue) > 0 {
		m.running = append(m.running, m.queue[0])
		m.queue = m.queue[1:]
	}
}

func (m *lanesModel) String() string {
	var b strings.Builder
	for _, key := range m.running {
		b.WriteString(key)
		if m.pending[key] {
			b.WriteString("+")
		}
		b.WriteString(" ")
	}
	return b.String() + "| " + strings.Join(m.queue, " ")
}

// showStatus is a Status in the model's words.
func showStatus(s lanes.Status) string {
	m := lanesModel{pending: map[string]bool{}}
	for _, l := range s.Lanes {
		if l.State == lanes.StateRunning {
			m.running = append(m.running, l.Key)
			m.pending[l.Key] = l.Pending
		} else {
			m.queue = append(m.queue, l.Key)
		}
	}
	return m.String()
}

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
	closed  bool
}

// lanesTurn is an activation of a key.
type lanesTurn struct {
	activated bool
	ended     string // how its body ended by itself
	cancelled bool   // a Cancel was called meanwhile
	// unstopped: when it did so, nobody had begun to stop it.
	unstopped  bool
	finalizers int
	began      time.Duration
	reports    int
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
		p.lanes = do.Await(lanes.New(config))
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
	default:
		return p.pause()
	}
}

func (p *lanesPlay) afterClose() {
	p.note("closed")
	p.closed = true
	if n := len(p.lanes.StatusNow().Lanes); n > 0 {
		p.violate("N9: lanes are not idle after Close")
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

func (p *lanesPlay) activate(key string) effect.Effect[effect.Unit] {
	t := p.turns[key]
	if t == nil || t.activated {
		p.violate("N1: Activate is called without an activation's start")
		return effect.Void()
	}
	t.activated = true
	p.owed[key] = p.model.pending[key]
	if p.closed {
		p.violate("N9: an activation begins after Close has returned")
	}
	if active := len(p.turns); active > p.limit {
		p.violate("N1: more activations than MaxConcurrent")
	}
	return effect.GenUnit(func(do *effect.Do) {
		t.began = do.Await(effect.Monotonic())
		do.Await(effect.AcquireRelease(effect.SyncUnit(func() { t.finalizers++ }), func(effect.Unit, scope.Exit[any]) effect.Effect[effect.Unit] {
			return p.pause().AndThen(effect.SyncUnit(func() { t.finalizers-- }))
		}))
		for range p.choose(4) {
			do.Await(p.pause())
			if p.timeout > 0 && do.Await(effect.Monotonic())-t.began > p.timeout {
				p.violate("N7: a turn goes on after its time")
			}
		}
		do.Await(effect.Suspend(func() effect.Effect[effect.Unit] {
			switch p.choose(6) {
			case 3:
				t.ended = "fails"
				return effect.Fail[effect.Unit](errScope)
			case 4:
				t.ended = "dies"
				return effect.Die[effect.Unit]("a bug")
			case 5:
				t.ended = "interrupts itself"
				return effect.Interrupt[effect.Unit]()
			default:
				t.ended = "succeeds"
				return effect.Void()
			}
		}))
	}).OnExit(func(exit scope.Exit[effect.Unit]) effect.Effect[effect.Unit] {
		return effect.Monotonic().Map(func(now time.Duration) effect.Unit {
			inTime := p.timeout == 0 || now-t.began < p.timeout
			t.unstopped = inTime && !t.cancelled && p.cancels[key] == 0 && !p.closing && (exit.IsSuccess() || t.ended != "" && t.ended != "succeeds")
			return effect.Unit{}
		})
	})
}

func (p *lanesPlay) pause() effect.Effect[effect.Unit] {
	return effect.Suspend(func() effect.Effect[effect.Unit] {
		if ms := p.choose(4); ms > 0 {
			return effect.Sleep(time.Duration(ms) * time.Millisecond)
		}
		return effect.YieldNow()
	})
}

func (p *lanesPlay) onExit(e lanes.ActivationExit) effect.Effect[effect.Unit] {
	return effect.GenUnit(func(do *effect.Do) {
		p.note("OnExit hears %v", e)
		t := p.turns[e.Lane()]
		if t == nil {
			p.violate("N10: OnExit hears of an activation that there is not")
			return
		}
		if t.reports++; t.finalizers != 0 {
			p.violate("N6: an activation is reported before its scope has closed")
		}
		p.judge(e, t, do.Await(effect.Monotonic()))
		do.Await(p.pause())
		if p.choose(4) == 3 {
			// F38: OnExit wakes its own lane.
			do.Await(p.act(-1, lanesAction{"wake", e.Lane()}))
		}
	})
}

// judge holds a report against how the activation went.
func (p *lanesPlay) judge(e lanes.ActivationExit, t *lanesTurn, now time.Duration) {
	ok := true
	switch e := e.(type) {
	case lanes.ActivationSucceeded:
		ok = t.ended == "succeeds"
	case lanes.ActivationFailed:
		switch t.ended {
		case "fails":
			ok = e.Cause.HasFails()
		case "dies":
			ok = e.Cause.HasDies()
		case "interrupts itself":
			ok = e.Cause.HasInterruptsOnly()
		default:
			ok = false
		}
	case lanes.ActivationInterrupted:
		switch e.Reason {
		case lanes.StopCancel:
			ok = p.stops[e.Key]
		case lanes.StopClose:
			ok = p.closing
		case lanes.StopTimeout:
			ok = p.timeout > 0 && t.activated && now-t.began >= p.timeout
		}
		ok = ok && !t.unstopped
	}
	if !ok {
		p.note("its body: %q", t.ended)
		p.violate("N10: OnExit hears what did not happen")
	}
}
