package platform

import (
	"sync"

	"github.com/rivus/tether/internal/sqlite3"
)

// lockText is the SQL of TryLock and Probe, in C memory from the first use on.
var lockText = sync.OnceValue(func() lockSQL {
	return lockSQL{
		begin:  sqlite3.NewText("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; PRAGMA journal_mode=MEMORY"),
		end:    sqlite3.NewText("ROLLBACK"),
		shared: sqlite3.NewText("SELECT 1 FROM sqlite_master LIMIT 1"),
	}
})

type lockSQL struct{ begin, end, shared sqlite3.Text }

// osLock implements SQLiteLock.
type osLock struct {
	mu   sync.Mutex // Moved and Unlock may meet; SQLite's connection is for one at a time
	conn *sqlite3.Conn
	path string
}

// TryLock implements SQLite.
func (s *osSQLite) TryLock(path string) (SQLiteLock, error) {
	const op = "lock database"
	absolute, err := s.admit(op, path, OpenOrCreate)
	if err != nil {
		return nil, err
	}
	c, err := sqlite3.Open(absolute, sqlite3.OpenReadWrite|sqlite3.OpenCreate|sqlite3.OpenNoFollow|sqlite3.OpenNoMutex)
	if err != nil {
		return nil, sqliteFailure(op, absolute, err)
	}
	if err := c.ExecText(lockText().begin); err != nil {
		_ = c.Close()
		return nil, sqliteFailure(op, absolute, err)
	}
	return &osLock{conn: c, path: absolute}, nil
}

// Probe implements SQLite.
func (s *osSQLite) Probe(path string) error {
	const op = "probe database"
	absolute, err := s.admit(op, path, OpenExisting)
	if err != nil {
		return err
	}
	c, err := sqlite3.Open(absolute, sqlite3.OpenReadWrite|sqlite3.OpenNoFollow|sqlite3.OpenNoMutex)
	if err != nil {
		return sqliteFailure(op, absolute, err)
	}
	err = c.ExecText(lockText().shared)
	_ = c.Close()
	if err != nil {
		return sqliteFailure(op, absolute, err)
	}
	return nil
}

// Moved implements SQLiteLock.
func (l *osLock) Moved() (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		return true, nil
	}
	moved, err := l.conn.Moved(schemaMain())
	if err != nil {
		return false, sqliteFailure("check file of lock", l.path, err)
	}
	return moved, nil
}

// Unlock implements SQLiteLock.
func (l *osLock) Unlock() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		return nil
	}
	err := l.conn.ExecText(lockText().end)
	closeErr := l.conn.Close()
	l.conn = nil
	if err == nil {
		err = closeErr
	}
	if err != nil {
		return sqliteFailure("unlock database", l.path, err)
	}
	return nil
}
