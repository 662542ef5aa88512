package processlock

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/scope"
)

// Forever is the time that does not come, for [AcquireOn].
const Forever = time.Duration(math.MaxInt64)

// AcquireOn is [Acquire] on a fiber, for effects that hold a lock among other
// things; [AcquireScoped] is made of it. The fiber is masked; the waits, in line
// and between tries, are as interruptible as restore makes them. Pauses are timed
// by the fiber's clock, and when that reads until, it gives up with *Held. Whatever
// ends it, the turn passes on. Tries run on the fiber itself, and on the serial runtime
// beside, as the disk may be slow.
func AcquireOn(
	f *scope.Fiber, restore effect.Restore, until time.Duration, p *platform.Platform, path string, options ...Option,
) (*Lock, *scope.Cause) {
	attempt, err := Begin(p, path, options...)
	if err != nil {
		return nil, scope.CauseFail(err)
	}
	return attempt.takeOn(f, restore, until)
}

// takeOn brings the attempt to its end on a fiber. It takes the place of OnTurn.
func (a *Attempt) takeOn(f *scope.Fiber, restore effect.Restore, until time.Duration) (*Lock, *scope.Cause) {
	// A panic of a port or the teardown of a run included.
	defer a.Cancel()
	a.pacing = pacing{f.Clock(), randomOn(f)}
	if !a.HasTurn() {
		if _, c := effect.RunOn(f, restore.Run(a.turnUntil(until))); c != nil {
			return nil, c
		}
		if !a.HasTurn() {
			return nil, scope.CauseFail(a.reportHeld())
		}
	}
	// The disk may hang: who started this fiber immediately does not wait for it,
	// only for its place in line.
	scope.AboutToBlock(f)
	for {
		step, c := a.tryOn(f)
		if c != nil {
			return nil, c
		}
		if step.Err != nil {
			return nil, scope.CauseFail(step.Err)
		}
		if step.Lock != nil {
			return step.Lock, nil
		}
		left := until - f.Clock().Monotonic()
		if left <= 0 {
			return nil, scope.CauseFail(a.reportHeld())
		}
		if _, c := effect.RunOn(f, restore.Run(effect.Sleep(min(step.Pause, left)))); c != nil {
			return nil, c
		}
	}
}

func (a *Attempt) tryOn(f *scope.Fiber) (Step, *scope.Cause) {
	var step Step
	c := besideFibers(f, func() { step = a.Try() })
	return step, c
}

// besideFibers calls fn, which no interruption ends. On the serial runtime the other
// fibers go on meanwhile.
func besideFibers(f *scope.Fiber, fn func()) *scope.Cause {
	if _, serial := f.Runtime().(*scope.Serial); !serial {
		fn()
		return nil
	}
	_, c := effect.RunOn(f, effect.Blocking(func(context.Context) (effect.Unit, error) {
		fn()
		return effect.Unit{}, nil
	}).Uninterruptible())
	return c
}

var waitTurn = &scope.Waiting{What: "its turn for a process lock that others in this process wait for or hold"}

// turnUntil waits until the attempt has the turn, or for until.
func (a *Attempt) turnUntil(until time.Duration) effect.Effect[effect.Unit] {
	return effect.Direct(func(f *scope.Fiber) (effect.Unit, *scope.Cause) {
		t, rt := f.Arm(), f.Runtime()
		// Who leaves may be any goroutine, of no runtime or of another one: on the
		// deterministic runtime the wake must come through its inbox. The work is
		// announced only when it is done, since virtual time has to go on while a
		// fiber of the same run holds the lock.
		a.OnTurn(func() { scope.Foreign(rt)(func() { t.Wake() }) })
		if until != Forever {
			timer := f.Clock().AfterFunc(until-f.Clock().Monotonic(), func() { t.Wake() })
			defer timer.Stop()
		}
		return effect.Unit{}, f.Settle(f.Block(t, waitTurn).Cause, nil)
	})
}

// randomOn draws from the runtime's own numbers, so that a deterministic run is
// the same run with the same seed. (Asking effect.Random would compile every
// method of Effect once more, for a type that nobody here needs.)
func randomOn(f *scope.Fiber) func() float64 {
	if d, ok := f.Runtime().(*scope.Deterministic); ok {
		return d.Random().Float64
	}
	return rand.Float64
}
