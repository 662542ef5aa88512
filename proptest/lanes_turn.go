package proptest

import (
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lanes"
	"github.com/rivus/tether/scope"
)

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

func (p *lanesPlay) activate(key string) effect.Effect[effect.Unit] {
	t := p.turns[key]
	if t == nil || t.activated {
		p.violate("N1: Activate is called without an activation's start")
		return effect.Void()
	}
	t.activated = true
	p.owed[key] = p.model.pending[key]
	if p.closed {
		p.violate("N9, N15: an activation begins after Close or Drain has returned")
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
			t.unstopped = inTime && !t.cancelled && p.cancels[key] == 0 && !p.mayClose() && (exit.IsSuccess() || t.ended != "" && t.ended != "succeeds")
			return effect.Unit{}
		})
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
			ok = p.mayClose()
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
