package processlock

import (
	"sync"
	"sync/atomic"

	"github.com/samber/mo"

	"github.com/rivus/tether/platform"
)

// Lock is a lock that is held, until Release or the end of the process. A Lock
// that is dropped without Release stays held: no finalizer gives it back. Its
// methods may be called from any goroutine.
type Lock struct {
	place     place
	path      string // as the caller gave it
	mechanism Mechanism
	holder    mo.Option[Holder]
	sqlite    platform.SQLiteLock // nil for a lock file
	turn      *turn

	gone atomic.Bool // Release has begun

	// releasing guards the rest, and has later calls of Release wait for the first.
	releasing  sync.Mutex
	released   bool  // there is nothing left to give back
	releaseErr error // what giving it back came to
}

// Path is the path as it was given to Acquire.
func (l *Lock) Path() string { return l.path }

// Mechanism is how the lock is held.
func (l *Lock) Mechanism() Mechanism { return l.mechanism }

// Holder is this process's stamp as it was recorded: absent where the own
// identity cannot be read (SQLite only).
func (l *Lock) Holder() mo.Option[Holder] { return l.holder }

// Verify tells whether the path still leads to the file that is held, with a
// system call or two. False means that somebody removed or replaced it, or a
// directory on the way: another process may hold the lock by the same path, and
// this one should stop what it does. After Release it is false. It fails with
// *Failure when the look is hindered.
//
// It cannot see that a foreign close of the lock database has dropped its kernel
// lock (rule K11): nothing short of another process can.
func (l *Lock) Verify() (bool, error) {
	if l.gone.Load() {
		return false, nil
	}
	if l.mechanism == SQLite {
		moved, err := l.sqlite.Moved()
		if err != nil {
			return false, failed(l.path, "verify it", err)
		}
		return !moved, nil
	}
	data, err := l.place.platform.FS.ReadFile(l.place.path(), maxStamp)
	switch {
	case platform.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, failed(l.path, "verify it", err)
	}
	found, ok := parseStamp(data)
	return ok && found.Nonce == l.holder.OrEmpty().Nonce, nil
}

// Release gives the lock back: it removes the holder file, then unlocks, then
// passes the turn to the next in this process. Calls at the same time wait for the
// first, and a later one answers what it did. A failure is informative for SQLite:
// the kernel's lock is gone all the same. A lock file that could not be removed
// stays, and counts as held until a later Release or acquisition in this process
// removes it, or this process ends.
func (l *Lock) Release() error {
	// Whatever happens the turn must pass on; after the mutex is given back, since
	// who is woken may run inside this call, and release this lock again.
	defer inProcess.leave(l.turn)
	l.releasing.Lock()
	defer l.releasing.Unlock()
	if l.released {
		return l.releaseErr
	}
	l.gone.Store(true)
	if l.mechanism == SQLite {
		l.released = true // when a port panics, too
		l.releaseErr = releaseSQLite(l)
	} else {
		l.releaseErr = releaseLockFile(l)
		l.released = l.releaseErr == nil
	}
	return l.releaseErr
}
