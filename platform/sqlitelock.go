package platform

import (
	"sync"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/internal/sqlite3"
)

// A lock or a probe does not open a SQLite connection of its own. It attaches the
// file to a connection that has none of its own ("main" is a database in memory)
// and detaches it afterwards: opening a connection registers hundreds of
// functions and costs as much as all the system calls of a lock together, while
// an attached file is opened, locked and closed exactly as a main one. Nothing
// of the file is kept between two uses, so a file that was replaced meanwhile is
// never mistaken for the old one.

// lockConn is such a connection.
type lockConn struct {
	conn   *sqlite3.Conn
	attach *sqlite3.Stmt
}

// lockPool keeps connections that are not in use: no file, no descriptor, no
// goroutine, some 100 KB of memory each.
type lockPool struct {
	setup string

	mu   sync.Mutex
	idle []*lockConn // at most maxIdle
}

const maxIdle = 4

// lockers lock in exclusive mode from the first read on, in which SQLite gives no
// lock back before the end.
func newLockers() *lockPool { return &lockPool{setup: "PRAGMA locking_mode=EXCLUSIVE"} }

func newProbers() *lockPool { return &lockPool{setup: "PRAGMA locking_mode=NORMAL"} }

func (p *lockPool) take() (*lockConn, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle[n-1] = nil
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return c, nil
	}
	p.mu.Unlock()
	conn, err := sqlite3.Open(sqlite3.Memory, sqlite3.OpenReadWrite|sqlite3.OpenNoFollow|sqlite3.OpenNoMutex)
	if err != nil {
		return nil, err
	}
	if err := conn.Exec(p.setup); err != nil {
		_ = conn.Close()
		return nil, err
	}
	attach, err := conn.Prepare("ATTACH ? AS held")
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return &lockConn{conn: conn, attach: attach}, nil
}

// give takes back a connection that has no file any more.
func (p *lockPool) give(c *lockConn) {
	p.mu.Lock()
	if len(p.idle) < maxIdle {
		p.idle = append(p.idle, c)
		c = nil
	}
	p.mu.Unlock()
	if c != nil {
		c.close()
	}
}

func (c *lockConn) close() {
	_ = c.attach.Close()
	_ = c.conn.Close()
}

// open attaches the file, which reads its header and schema under a shared lock.
// When it fails SQLite has detached and closed the file.
func (c *lockConn) open(path string) error {
	if err := c.attach.BindText(1, path); err != nil {
		return err
	}
	_, err := c.attach.Step()
	_ = c.attach.Reset() // repeats err
	return err
}

// The SQL, in C memory from the first use on.
var (
	schemaMain = sync.OnceValue(func() sqlite3.Text { return sqlite3.NewText("main") })
	schemaHeld = sync.OnceValue(func() sqlite3.Text { return sqlite3.NewText("held") })
	// With any other journal BEGIN EXCLUSIVE on an empty file would create and
	// sync one on disk.
	sqlMemory   = sync.OnceValue(func() sqlite3.Text { return sqlite3.NewText("PRAGMA held.journal_mode=MEMORY") })
	sqlTake     = sync.OnceValue(func() sqlite3.Text { return sqlite3.NewText("BEGIN EXCLUSIVE") })
	sqlRollback = sync.OnceValue(func() sqlite3.Text { return sqlite3.NewText("ROLLBACK") })
	sqlUnlock   = sync.OnceValue(func() sqlite3.Text { return sqlite3.NewText("ROLLBACK; DETACH held") })
	sqlDetach   = sync.OnceValue(func() sqlite3.Text { return sqlite3.NewText("DETACH held") })
)

// TryLock implements SQLite.
func (s *osSQLite) TryLock(path string) (SQLiteLock, error) {
	const op = "lock database"
	if err := admitLock(op, path); err != nil {
		return nil, err
	}
	c, err := s.lockers.take()
	if err != nil {
		return nil, sqliteFailure(op, path, err)
	}
	if err := c.open(path); err != nil {
		s.lockers.give(c)
		failure := sqliteFailure(op, path, err)
		if failure.Reason == ReasonBusy && writeRefusal(path) != nil {
			return nil, onlyRead(op, path) // whoever waits for it waits in vain
		}
		return nil, failure
	}
	if c.conn.ReadOnly(schemaHeld()) {
		_ = s.detach(s.lockers, c, sqlDetach())
		return nil, onlyRead(op, path)
	}
	l := &osLock{sqlite: s, conn: c, path: path, device: deviceOf(path)}
	if err := c.conn.ExecText(sqlMemory()); err != nil {
		failure := sqliteFailure(op, path, err)
		_ = l.Unlock()
		return nil, failure
	}
	if _, err := l.Take(); err != nil {
		_ = l.Unlock()
		return nil, err
	}
	return l, nil
}

// Probe implements SQLite.
func (s *osSQLite) Probe(path string) error {
	const op = "probe database"
	if err := admitLock(op, path); err != nil {
		return err
	}
	c, err := s.probers.take()
	if err != nil {
		return sqliteFailure(op, path, err)
	}
	if err := c.open(path); err != nil {
		s.probers.give(c)
		return sqliteFailure(op, path, err)
	}
	s.detach(s.probers, c, sqlDetach())
	return nil
}

// detach closes the file. A connection that will not let go of it is closed
// altogether, which does.
func (s *osSQLite) detach(pool *lockPool, c *lockConn, text sqlite3.Text) error {
	err := c.conn.ExecText(text)
	if err != nil {
		c.close()
		return err
	}
	pool.give(c)
	return nil
}

// osLock implements SQLiteLock.
type osLock struct {
	sqlite *osSQLite
	path   string
	device uint64 // that the file was on when it was opened

	mu   sync.Mutex // Moved and Unlock may meet; a connection is for one at a time
	conn *lockConn  // nil after Unlock
	// taken: a transaction is open, and with it the whole file is locked.
	taken bool
}

// Taken implements SQLiteLock.
func (l *osLock) Taken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken
}

// Take implements SQLiteLock. A BEGIN EXCLUSIVE that failed keeps, in exclusive
// locking mode, the locks that it got: RESERVED, which only one connection can
// have, and mostly PENDING, which keeps new readers out. Whoever has RESERVED is
// ahead and needs only wait for the readers that are there. Whoever has not must
// let go: its own shared lock is in the way of the one who has.
func (l *osLock) Take() (bool, error) {
	const op = "lock database"
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil || l.taken {
		return l.taken, nil
	}
	refused := l.conn.conn.ExecText(sqlTake())
	if refused != nil {
		if failure := sqliteFailure(op, l.path, refused); failure.Reason != ReasonBusy {
			return false, failure
		}
	}
	// A BEGIN EXCLUSIVE that succeeds need not have locked anybody out: what counts
	// is the lock that the connection has.
	state, err := l.conn.conn.LockState(schemaHeld())
	switch {
	case err != nil:
		return false, sqliteFailure(op, l.path, err)
	case refused == nil && state >= sqlite3.LockExclusive:
		l.taken = true
		return true, nil
	case refused == nil:
		_ = l.conn.conn.ExecText(sqlRollback())
		return false, &Failure{Op: op, Path: l.path, Reason: ReasonUnsupported, Cause: errNotExclusive}
	case state < sqlite3.LockReserved:
		return false, sqliteFailure(op, l.path, refused)
	}
	return false, nil
}

var errNotExclusive = errors.New("SQLite gave a lock that does not exclude others")

// Moved implements SQLiteLock.
func (l *osLock) Moved() (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		return true, nil
	}
	moved, err := l.conn.conn.Moved(schemaHeld())
	if err != nil {
		return false, sqliteFailure("check file of lock", l.path, err)
	}
	return moved || deviceOf(l.path) != l.device, nil
}

// Unlock implements SQLiteLock.
func (l *osLock) Unlock() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		return nil
	}
	c, text := l.conn, sqlDetach()
	if !c.conn.Autocommit() {
		text = sqlUnlock()
	}
	l.conn, l.taken = nil, false
	if err := l.sqlite.detach(l.sqlite.lockers, c, text); err != nil {
		return sqliteFailure("unlock database", l.path, err)
	}
	return nil
}
