package processlock

import (
	"github.com/samber/mo"

	"github.com/rivus/tether/platform"
)

const holderSuffix = ".holder"

// takeSQLite attempts once. A busy attempt of the first kind probes: contenders'
// attempts collide without any holder, and only a probe that is refused, too,
// shows one. ahead is what an earlier try of this attempt got, or nil; where
// only readers are in the way, it comes back for the next try.
func takeSQLite(at place, path string, s settings, ahead platform.SQLiteLock, first bool) (*Lock, platform.SQLiteLock, finding, error) {
	p := at.platform
	held, err := ahead, error(nil)
	if held == nil {
		held, err = p.SQLite.TryLock(at.path())
		if platform.IsNotFound(err) {
			if err := p.SQLite.Create(at.path(), s.like); err != nil {
				return nil, nil, 0, failed(path, "create it", err)
			}
			if held, err = p.SQLite.TryLock(at.path()); platform.IsNotFound(err) {
				return nil, nil, sawContention, nil // somebody removed it again
			}
		}
	} else {
		_, err = held.Take()
	}
	switch {
	case err != nil:
		if held != nil {
			_ = held.Unlock()
		}
		if !platform.IsBusy(err) {
			return nil, nil, 0, failed(path, "lock it", err)
		}
		saw, err := sawHolder, error(nil)
		if first {
			saw, err = probe(at, path)
		}
		return nil, nil, saw, err
	case !held.Taken() && first:
		return nil, held, sawReaders, nil
	case !held.Taken():
		_ = held.Unlock()
		return nil, nil, sawReaders, nil
	}
	lock, saw, err := confirmSQLite(at, path, held)
	return lock, nil, saw, err
}

// probe tells a holder from a contender that is gone again.
func probe(at place, path string) (finding, error) {
	switch err := at.platform.SQLite.Probe(at.path()); {
	case platform.IsBusy(err):
		return sawHolder, nil
	case err == nil, platform.IsNotFound(err):
		return sawContention, nil
	default:
		return 0, failed(path, "probe it", err)
	}
}

// confirmSQLite makes a kernel lock into a Lock, or gives it back.
func confirmSQLite(at place, path string, held platform.SQLiteLock) (lock *Lock, saw finding, err error) {
	defer func() {
		if lock == nil { // a port that panicked included
			_ = held.Unlock()
		}
	}()
	// Between SQLite's open and its lock the file may have been removed or
	// replaced: then what is locked is a file that nobody else will find.
	moved, err := held.Moved()
	if err != nil {
		return nil, 0, failed(path, "check what was locked", err)
	}
	if moved {
		return nil, sawContention, nil
	}
	holder, err := recordHolder(at, path)
	if refused, ok := err.(*Failure); ok {
		return nil, 0, refused
	}
	if err != nil {
		return nil, 0, failed(path, "record its holder", err)
	}
	return &Lock{place: at, mechanism: SQLite, sqlite: held, holder: holder}, tookIt, nil
}

// recordHolder writes the own stamp beside the lock, whole, so that no reader
// sees half of one. Without an own identity there is none to write, and one that a
// dead holder left would be a lie. It touches no file of somebody else's: what is
// there must be a stamp of any version, or what a power cut leaves of one.
func recordHolder(at place, report string) (mo.Option[Holder], error) {
	p, path := at.platform, at.path()+holderSuffix
	// What cannot be read may be another user's stamp: replacing it will tell.
	data, err := p.FS.ReadFile(path, maxStamp)
	what, _ := contentOf(data)
	if platform.ReasonOf(err) == platform.ReasonTooLarge || err == nil && what == foreign {
		return mo.None[Holder](), failure(report, platform.ReasonInvalid,
			"there is a file "+quote(path)+" that no process lock made; move it away, or choose another path for the lock")
	}
	stamp, err := newStamp(p)
	if err != nil {
		return mo.None[Holder](), p.FS.Remove(path)
	}
	data, err = stamp.MarshalJSON()
	if err != nil {
		return mo.None[Holder](), err
	}
	if err := p.FS.WriteWhole(path, data); err != nil {
		return mo.None[Holder](), err
	}
	return mo.Some(stamp), nil
}

// releaseSQLite removes the stamp, then gives the file back: the other way round
// it might remove the next holder's stamp.
func releaseSQLite(l *Lock) (err error) {
	defer func() { // also when a port panics
		if unlocked := l.sqlite.Unlock(); unlocked != nil {
			err = failed(l.path, "give it back cleanly", unlocked)
		}
	}()
	if _, written := l.holder.Get(); written {
		if err := removeStamp(l); err != nil {
			return failed(l.path, "remove its holder file", err)
		}
	}
	return nil
}

// removeStamp removes the own stamp and no other: while the path leads to the
// file that is held nobody else writes one; when it does not (the lock file was
// replaced, or a directory on the way), the stamp there may be somebody else's.
func removeStamp(l *Lock) error {
	fs, path := l.place.platform.FS, l.place.path()+holderSuffix
	if moved, err := l.sqlite.Moved(); err != nil || moved {
		data, err := fs.ReadFile(path, maxStamp)
		if platform.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if found, ok := parseStamp(data); !ok || found.Nonce != l.holder.OrEmpty().Nonce {
			return nil
		}
	}
	return fs.Remove(path)
}

// isHeldSQLite is one probe. An own connection of this process that attempts or
// holds is met inside SQLite, whose lock table is the process's.
func isHeldSQLite(at place, path string) (bool, error) {
	switch err := at.platform.SQLite.Probe(at.path()); {
	case err == nil, platform.IsNotFound(err):
		return false, nil
	case platform.IsBusy(err):
		return true, nil
	default:
		return false, failed(path, "probe it", err)
	}
}
