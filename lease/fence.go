package lease

import (
	"math"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
	"github.com/rivus/tether/scope"
)

// fenceRetry is the first pause between tries for a fence that another process
// holds; it doubles up to 16 times it. A try takes some 50 us.
const fenceRetry = 5 * time.Millisecond

// forever is the time that does not come.
const forever = time.Duration(math.MaxInt64)

var errGuardBusy = errors.New("others kept the lock; try again")

var waitFence = &scope.Waiting{What: "a fence that this process holds elsewhere"}

// processFence holds the process lock at path until the scope at hand closes.
// In this process waiters are served in order and woken; against other processes
// it tries, without blocking, with pauses on the runtime's clock.
func processFence(p *platform.Platform, key, path string, options ...processlock.Option) effect.Effect[effect.Unit] {
	options = append(options, processlock.Wait(), processlock.Retry(fenceRetry))
	return effect.UninterruptibleMask(func(restore effect.Restore) effect.Effect[effect.Unit] {
		return effect.Direct(func(f *scope.Fiber) (effect.Unit, *scope.Cause) {
			at, c := effect.RunOn(f, effect.Scope())
			if c != nil {
				return effect.Unit{}, c
			}
			lock, c := takeLock(f, restore, func() (*processlock.Attempt, error) {
				return processlock.Begin(p, path, options...)
			}, forever)
			if c != nil {
				return effect.Unit{}, c.MapErrors(func(err error) error { return lockFailure(key, err) })
			}
			return effect.Unit{}, at.Add(f, func(*scope.Fiber, scope.Exit[any]) *scope.Cause {
				// A failure is informative: the kernel's lock is gone.
				_ = lock.Release()
				return nil
			})
		})
	})
}

// takeLock brings an attempt to its end. The fiber is masked; the waits are as
// interruptible as restore makes them. Attempts and releases run on the fiber
// itself, not beside it, because they wake those who wait for their turn.
//
// At until it gives up, as busy; forever is never.
func takeLock(f *scope.Fiber, restore effect.Restore, begin func() (*processlock.Attempt, error), until time.Duration) (*processlock.Lock, *scope.Cause) {
	attempt, err := begin()
	if err != nil {
		return nil, scope.CauseFail(err)
	}
	// Whatever ends this, a panic of a port included, the turn must pass on.
	defer attempt.Cancel()
	if !attempt.HasTurn() {
		turn := effect.Direct(func(f *scope.Fiber) (effect.Unit, *scope.Cause) {
			t := f.Arm()
			attempt.OnTurn(func() { t.Wake() })
			var timer scope.Timer
			if until != forever {
				timer = f.Clock().AfterFunc(until-f.Clock().Monotonic(), func() { t.Wake() })
			}
			p := f.Block(t, waitFence)
			if timer != nil {
				timer.Stop()
			}
			return effect.Unit{}, f.Settle(p.Cause, nil)
		})
		if _, c := effect.RunOn(f, restore.Run(turn)); c != nil {
			return nil, c
		}
		if !attempt.HasTurn() {
			return nil, scope.CauseFail(errGuardBusy)
		}
	}
	for {
		step := attempt.Try()
		if step.Err != nil {
			return nil, scope.CauseFail(step.Err)
		}
		if step.Lock != nil {
			return step.Lock, nil
		}
		left := until - f.Clock().Monotonic()
		if left <= 0 {
			return nil, scope.CauseFail(errGuardBusy)
		}
		if _, c := effect.RunOn(f, restore.Run(effect.Sleep(min(step.Pause, left)))); c != nil {
			return nil, c
		}
	}
}

// lockFailure is what a repository fails with when a process lock failed.
func lockFailure(key string, err error) error {
	reason := RepositoryIO
	if e, ok := errors.AsType[*processlock.Failure](err); ok {
		reason = repositoryReason(e.Reason)
	} else if err == errGuardBusy {
		reason = RepositoryBusy
	}
	return &RepositoryFailure{Key: key, Reason: reason, Message: err.Error(), Cause: err}
}

// repositoryReason is the kind of trouble that a platform's answer means.
func repositoryReason(r platform.Reason) RepositoryReason {
	switch r {
	case platform.ReasonBusy, processlock.ReasonContended:
		return RepositoryBusy
	case platform.ReasonNetworkStorage, platform.ReasonUnsupported, platform.ReasonNameTooLong:
		return RepositoryUnavailable
	default:
		return RepositoryIO
	}
}

// platformFailure is what a repository fails with when a port failed.
func platformFailure(key string, err error) error {
	if e, ok := errors.AsType[*RepositoryFailure](err); ok {
		return e
	}
	return &RepositoryFailure{
		Key: key, Reason: repositoryReason(platform.ReasonOf(err)), Message: err.Error(), Cause: err,
	}
}

// checkStorage refuses a directory whose file system cannot be trusted (R8).
func checkStorage(p *platform.Platform, dir string) error {
	kind, err := p.FS.FileSystemType(dir)
	if err != nil {
		return err
	}
	if kind.Network {
		return &RepositoryFailure{
			Reason: RepositoryUnavailable,
			Message: "the location is on a network file system (" + kind.Name +
				"), whose locks cannot be trusted; choose a local one, or allow it with AllowNetworkStorage",
		}
	}
	return nil
}
