package lease

import (
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
			lock, c := processlock.AcquireOn(f, restore, processlock.Forever, p, path, options...)
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

// lockFailure is what a repository fails with when a process lock failed.
func lockFailure(key string, err error) error {
	reason := RepositoryIO
	if e, ok := errors.AsType[*processlock.Failure](err); ok {
		reason = repositoryReason(e.Reason)
	} else if _, held := errors.AsType[*processlock.Held](err); held {
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

// lasting tells whether a failure of the repository stays until somebody does something
// about the store, so that there is no use in trying again in the meantime.
func lasting(err error) bool {
	e, ok := errors.AsType[*RepositoryFailure](err)
	if !ok {
		return false
	}
	switch e.Reason {
	case RepositoryInvalidRecord, RepositoryUnsupportedSchema, RepositoryUnavailable:
		return true
	case RepositoryBusy:
		return false
	}
	f, ok := errors.AsType[*platform.Failure](err)
	if !ok || f.Code&0xff == sqliteIO {
		return false
	}
	switch f.Reason {
	case platform.ReasonNotFound, platform.ReasonNotDirectory, platform.ReasonIsDirectory, platform.ReasonSymlink,
		platform.ReasonNotRegular, platform.ReasonNotDatabase, platform.ReasonPermission, platform.ReasonReadOnly:
		return true
	}
	return false
}

// sqliteIO is SQLITE_IOERR. The system's answer that comes with it may be an old one, or
// one of a moment.
const sqliteIO = 10

// platformFailure is what a repository fails with when a port failed.
func platformFailure(key string, err error) error {
	if e, ok := errors.AsType[*RepositoryFailure](err); ok {
		return e
	}
	return &RepositoryFailure{
		Key: key, Reason: repositoryReason(platform.ReasonOf(err)), Message: err.Error(), Cause: err,
	}
}

// checkStorage refuses a file or directory whose file system cannot be trusted (R8).
func checkStorage(p *platform.Platform, path string) error {
	kind, err := p.FS.FileSystemType(path)
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
