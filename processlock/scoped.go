package processlock

import (
	"math/rand/v2"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/scope"
)

// AcquireScoped is [Acquire] as an effect, on the platform at hand
// (platform.Service): it takes the lock at path and gives it back when the scope
// at hand closes. It fails with *Held or *Failure; without a scope or a platform at
// hand it is a defect.
//
// Taking the lock and registering its release is one uninterruptible step. While
// it waits it can be interrupted where its caller can be, in line behind others of
// this process and between two tries alike, and nothing is held or owed
// afterwards. Tries do not wait for others, so they run on the fiber itself; pauses
// are timed by the runtime's clock, and a deterministic run draws them from its
// seed. Who waits in line costs nothing until it is woken.
//
// A failure to give the lock back never fails the scope. It is logged as a
// warning, unless [Lock.Release] was called, and answered it, before.
//
// On the deterministic runtime fibers of the run take turns in virtual time. A
// holder in another process is real all the same: the waiter's virtual pauses
// pass at once until that process gives the lock back. A holder in this process,
// but outside of the run, must give it back from inside the run, or while work of
// the run is in flight (effect.Blocking); else the run ends, and reports who waits.
func AcquireScoped(path string, options ...Option) effect.Effect[*Lock] {
	return effect.UninterruptibleMask(func(restore effect.Restore) effect.Effect[*Lock] {
		return effect.Direct(func(f *scope.Fiber) (*Lock, *scope.Cause) {
			at, c := effect.RunOn(f, effect.Scope())
			if c != nil {
				return nil, c
			}
			p, c := effect.RunOn(f, platform.Service.Get())
			if c != nil {
				return nil, c
			}
			lock, c := acquireOn(f, restore, p, path, options)
			if c != nil {
				return nil, c
			}
			return lock, at.Add(f, func(f *scope.Fiber, _ scope.Exit[any]) *scope.Cause {
				lock.releaseOn(f)
				return nil
			})
		})
	})
}

// acquireOn brings an attempt to its end. The fiber is masked; its waits are as
// interruptible as restore makes them.
func acquireOn(f *scope.Fiber, restore effect.Restore, p *platform.Platform, path string, options []Option) (*Lock, *scope.Cause) {
	attempt, err := begin(p, path, pacing{f.Clock(), randomOn(f)}, options)
	if err != nil {
		return nil, scope.CauseFail(err)
	}
	// Whatever ends this, a panic of a port or the teardown of a run included, the
	// turn must pass on.
	defer attempt.Cancel()
	if !attempt.HasTurn() {
		if _, c := effect.RunOn(f, restore.Run(turnOf(attempt))); c != nil {
			return nil, c
		}
	}
	// The disk may hang: who started this fiber immediately does not wait for it,
	// only for its place in line.
	scope.Leave(f)
	for {
		step := attempt.Try()
		if step.Err != nil {
			return nil, scope.CauseFail(step.Err)
		}
		if step.Lock != nil {
			return step.Lock, nil
		}
		if _, c := effect.RunOn(f, restore.Run(effect.Sleep(step.Pause))); c != nil {
			return nil, c
		}
	}
}

var waitTurn = &scope.Waiting{What: "its turn for a process lock that others in this process wait for or hold"}

// turnOf waits until the attempt has the turn.
func turnOf(attempt *Attempt) effect.Effect[effect.Unit] {
	return effect.Direct(func(f *scope.Fiber) (effect.Unit, *scope.Cause) {
		t, rt := f.Arm(), f.Runtime()
		// Who leaves may be any goroutine, of no runtime or of another one: on the
		// deterministic runtime the wake must come through its inbox. The work is
		// announced only when it is done, since virtual time has to go on while a
		// fiber of the same run holds the lock.
		attempt.OnTurn(func() { scope.Foreign(rt)(func() { t.Wake() }) })
		return effect.Unit{}, f.Settle(f.Block(t, waitTurn).Cause, nil)
	})
}

// releaseOn is Release for a finalizer.
func (l *Lock) releaseOn(f *scope.Fiber) {
	told := l.gone.Load()
	scope.Leave(f)
	if err := l.Release(); err != nil && !told {
		effect.RunOn(f, effect.LogWarning("a process lock was not given back cleanly", "path", l.path, "error", err))
	}
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
