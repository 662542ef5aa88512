package proptest

import (
	"path"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
)

// simulatedSQLite stands in for SQLite's lock on a whole file, and for nothing
// else of it.
type simulatedSQLite struct{ p *Process }

var errNoSQL = errors.New("a simulated world has no SQL; keep records in files or in a Store")

// Open implements platform.SQLite by refusing.
func (s simulatedSQLite) Open(at string, _ platform.OpenMode) (platform.SQLiteConn, error) {
	return nil, &platform.Failure{Op: "open database", Path: at, Reason: platform.ReasonUnsupported, Cause: errNoSQL}
}

// fileLock is who has a file locked. ahead keeps new readers out and waits for
// those that are there.
type fileLock struct {
	ahead   *simulatedLock
	taken   bool
	readers int
}

// Create implements platform.SQLite. Nobody owns anything here.
func (s simulatedSQLite) Create(at, _ string) error {
	if err := s.p.enter("Create", at); err != nil {
		return err
	}
	s.p.w.mu.Lock()
	defer s.p.w.mu.Unlock()
	d := s.p.w.disk
	at = path.Clean(at)
	if d.entries[at] != nil {
		return nil
	}
	reason := d.check(at)
	if reason == "" {
		if f := d.create(nil, epoch.Add(s.p.w.now)); f != nil {
			d.entries[at] = f
			return nil
		}
		reason = platform.ReasonNoSpace
	}
	return &platform.Failure{Op: "create", Path: at, Reason: reason}
}

// TryLock implements platform.SQLite.
func (s simulatedSQLite) TryLock(at string) (platform.SQLiteLock, error) {
	if err := s.p.enter("TryLock", at); err != nil {
		return nil, err
	}
	s.p.w.mu.Lock()
	d := s.p.w.disk
	at = path.Clean(at)
	f := d.entries[at]
	reason := platform.Reason("")
	switch {
	case f != nil && f.lock.ahead != nil:
		reason = platform.ReasonBusy
	case f == nil:
		if reason = d.check(at); reason == "" {
			reason = platform.ReasonNotFound
		}
	}
	if reason != "" {
		s.p.w.mu.Unlock()
		return nil, &platform.Failure{Op: "lock", Path: at, Reason: reason}
	}
	l := &simulatedLock{p: s.p, at: at, file: f}
	f.lock.ahead, f.lock.taken = l, f.lock.readers == 0
	s.p.w.mu.Unlock()
	s.p.onEnd(l.free)
	return l, nil
}

// Probe implements platform.SQLite. It is a reader for a moment, in which others
// may run.
func (s simulatedSQLite) Probe(at string) error {
	if err := s.p.enter("Probe", at); err != nil {
		return err
	}
	w := s.p.w
	w.mu.Lock()
	f := w.disk.entries[path.Clean(at)]
	if f == nil || f.lock.ahead != nil {
		w.mu.Unlock()
		reason := platform.ReasonNotFound
		if f != nil {
			reason = platform.ReasonBusy
		}
		return &platform.Failure{Op: "probe", Path: at, Reason: reason}
	}
	f.lock.readers++
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		// After a power cut the lock is another one.
		f.lock.readers = max(f.lock.readers-1, 0)
	}()
	return s.p.enter("Probe", at)
}

// simulatedLock is a lock that a process has on a file.
type simulatedLock struct {
	p    *Process
	at   string
	file *inode
	over bool
}

// free gives the file back. The kernel calls it, too.
func (l *simulatedLock) free() {
	l.p.w.mu.Lock()
	defer l.p.w.mu.Unlock()
	l.over = true
	if l.file.lock.ahead == l {
		l.file.lock.ahead, l.file.lock.taken = nil, false
	}
}

// Taken implements platform.SQLiteLock.
func (l *simulatedLock) Taken() bool {
	l.p.w.mu.Lock()
	defer l.p.w.mu.Unlock()
	return l.file.lock.ahead == l && l.file.lock.taken
}

// Take implements platform.SQLiteLock.
func (l *simulatedLock) Take() (bool, error) {
	if err := l.p.enter("Take", l.at); err != nil {
		return false, err
	}
	l.p.w.mu.Lock()
	defer l.p.w.mu.Unlock()
	if l.file.lock.ahead == l && l.file.lock.readers == 0 {
		l.file.lock.taken = true
	}
	return l.file.lock.ahead == l && l.file.lock.taken, nil
}

// Moved implements platform.SQLiteLock.
func (l *simulatedLock) Moved() (bool, error) {
	if err := l.p.enter("Moved", l.at); err != nil {
		return false, err
	}
	l.p.w.mu.Lock()
	defer l.p.w.mu.Unlock()
	return l.over || l.p.w.disk.entries[l.at] != l.file, nil
}

// Unlock implements platform.SQLiteLock.
func (l *simulatedLock) Unlock() error {
	err := l.p.enter("Unlock", l.at)
	if l.p.isGhost() {
		return err
	}
	// The lock is gone with the descriptor, whatever the close answers.
	l.free()
	return err
}
