package processlock

import (
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
			lock, c := AcquireOn(f, restore, Forever, p, path, options...)
			if c != nil {
				return nil, c
			}
			return lock, at.Add(f, func(f *scope.Fiber, _ scope.Exit[any]) *scope.Cause {
				return lock.releaseOn(f)
			})
		})
	})
}

// releaseOn is Release for a finalizer.
func (l *Lock) releaseOn(f *scope.Fiber) *scope.Cause {
	told := l.gone.Load()
	scope.AboutToBlock(f)
	var err error
	c := besideFibers(f, func() { err = l.Release() })
	if err != nil && !told {
		effect.RunOn(f, effect.LogWarning("a process lock was not given back cleanly", "path", l.path, "error", err))
	}
	return c
}
