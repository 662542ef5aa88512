package platform

import (
	"io/fs"
	"path/filepath"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/internal/sqlite3"
)

// osSQLite implements SQLite on the operating system's files.
type osSQLite struct{ lockers, probers *lockPool }

var _ SQLite = (*osSQLite)(nil)

func newSQLite() *osSQLite { return &osSQLite{lockers: newLockers(), probers: newProbers()} }

// Open implements SQLite.
func (s *osSQLite) Open(path string, mode OpenMode) (SQLiteConn, error) {
	const op = "open database"
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	dir, err := resolveDir(dir)
	if err != nil {
		return nil, fileFailure(op, path, err)
	}
	// SQLite refuses a link anywhere in the path; only the last part's is wrong.
	absolute := filepath.Join(dir, name)
	if err := admit(op, absolute, mode); err != nil {
		return nil, err
	}
	if mode == OpenOrCreate {
		if _, _, err := lstatKind(absolute); errors.Is(err, fs.ErrNotExist) {
			if err := createDatabase(op, absolute, nil); err != nil {
				return nil, err
			}
		}
	}
	// Without the flag to create: with it the kernel refuses to open another user's
	// file in a sticky folder for writing (fs.protected_regular).
	c, err := sqlite3.Open(absolute, sqlite3.OpenReadWrite|sqlite3.OpenNoFollow|sqlite3.OpenNoMutex)
	if err != nil {
		return nil, sqliteFailure(op, absolute, err)
	}
	return &osConn{c: c, path: absolute, device: deviceOf(absolute)}, nil
}

// osConn implements SQLiteConn.
type osConn struct {
	c      *sqlite3.Conn // nil after Close
	path   string
	device uint64 // that the file was on when it was opened
	stmts  map[*osStmt]struct{}
}

var errClosed = errors.New("the connection is closed")

func (c *osConn) closed(op string) error {
	return &Failure{Op: op, Path: c.path, Reason: ReasonInvalid, Cause: errClosed}
}

// Exec implements SQLiteConn.
func (c *osConn) Exec(sql string) error {
	if c.c == nil {
		return c.closed("execute")
	}
	if err := c.c.Exec(sql); err != nil {
		return sqliteFailure("execute", c.path, err)
	}
	return nil
}

// Prepare implements SQLiteConn.
func (c *osConn) Prepare(sql string) (SQLiteStmt, error) {
	if c.c == nil {
		return nil, c.closed("prepare")
	}
	s, err := c.c.Prepare(sql)
	if err != nil {
		return nil, sqliteFailure("prepare", c.path, err)
	}
	stmt := &osStmt{s: s, c: c}
	if c.stmts == nil {
		c.stmts = make(map[*osStmt]struct{})
	}
	c.stmts[stmt] = struct{}{}
	return stmt, nil
}

// Changes implements SQLiteConn.
func (c *osConn) Changes() int64 {
	if c.c == nil {
		return 0
	}
	return c.c.Changes()
}

// InTransaction implements SQLiteConn.
func (c *osConn) InTransaction() bool { return c.c != nil && !c.c.Autocommit() }

// Moved implements SQLiteConn.
func (c *osConn) Moved() (bool, error) {
	if c.c == nil {
		return true, nil
	}
	moved, err := c.c.Moved(schemaMain())
	if err == nil && !moved {
		moved, err = c.c.LogMoved()
	}
	if err != nil {
		return false, sqliteFailure("check files of database", c.path, err)
	}
	return moved || deviceOf(c.path) != c.device, nil
}

// Close implements SQLiteConn.
func (c *osConn) Close() error {
	if c.c == nil {
		return nil
	}
	// A statement that is left would keep SQLite's connection, and the file's
	// locks with it, as a zombie.
	for s := range c.stmts {
		_ = s.s.Close()
		s.s = nil
	}
	c.stmts = nil
	// The last who closes writes the log into the database and removes the path of it.
	// A log that others cannot see is older than what they have made of the database
	// since, and the path may be that of theirs. (Of a database that has moved SQLite
	// itself sees to that.)
	if moved, err := c.c.LogMoved(); moved || err != nil {
		_ = c.c.LeaveLog()
	}
	err := c.c.Close()
	c.c = nil
	if err != nil {
		return sqliteFailure("close database", c.path, err)
	}
	return nil
}

// osStmt implements SQLiteStmt.
type osStmt struct {
	s *sqlite3.Stmt // nil after Close
	c *osConn
}

func (s *osStmt) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return sqliteFailure(op, s.c.path, err)
}

// BindInt64 implements SQLiteStmt.
func (s *osStmt) BindInt64(parameter int, value int64) error {
	if s.s == nil {
		return s.c.closed("bind")
	}
	return s.wrap("bind", s.s.BindInt64(parameter, value))
}

// BindText implements SQLiteStmt.
func (s *osStmt) BindText(parameter int, value string) error {
	if s.s == nil {
		return s.c.closed("bind")
	}
	return s.wrap("bind", s.s.BindText(parameter, value))
}

// BindNull implements SQLiteStmt.
func (s *osStmt) BindNull(parameter int) error {
	if s.s == nil {
		return s.c.closed("bind")
	}
	return s.wrap("bind", s.s.BindNull(parameter))
}

// Step implements SQLiteStmt.
func (s *osStmt) Step() (bool, error) {
	if s.s == nil {
		return false, s.c.closed("step")
	}
	row, err := s.s.Step()
	if err != nil {
		return false, sqliteFailure("step", s.c.path, err)
	}
	return row, nil
}

// ColumnInt64 implements SQLiteStmt.
func (s *osStmt) ColumnInt64(column int) int64 {
	if s.s == nil {
		return 0
	}
	return s.s.ColumnInt64(column)
}

// ColumnText implements SQLiteStmt.
func (s *osStmt) ColumnText(column int) string {
	if s.s == nil {
		return ""
	}
	return s.s.ColumnText(column)
}

// AppendColumnText implements SQLiteStmt.
func (s *osStmt) AppendColumnText(b []byte, column int) []byte {
	if s.s == nil {
		return b
	}
	return s.s.AppendColumnText(b, column)
}

// ColumnIsNull implements SQLiteStmt.
func (s *osStmt) ColumnIsNull(column int) bool {
	return s.s == nil || s.s.ColumnType(column) == sqlite3.TypeNull
}

// ColumnIsInteger implements SQLiteStmt.
func (s *osStmt) ColumnIsInteger(column int) bool {
	return s.s != nil && s.s.ColumnType(column) == sqlite3.TypeInteger
}

// Reset implements SQLiteStmt.
func (s *osStmt) Reset() error {
	if s.s == nil {
		return s.c.closed("reset")
	}
	return s.wrap("reset", s.s.Reset())
}

// Close implements SQLiteStmt.
func (s *osStmt) Close() error {
	if s.s == nil {
		return nil
	}
	err := s.s.Close()
	s.s = nil
	delete(s.c.stmts, s)
	return s.wrap("close statement", err)
}

// sqliteFailure gives SQLite's result a reason: the system's own answer where
// there is one, the result code else.
func sqliteFailure(op, path string, err error) *Failure {
	f := &Failure{Op: op, Path: path, Reason: ReasonIO, Cause: err}
	e, ok := errors.AsType[*sqlite3.Error](err)
	if !ok {
		return f
	}
	f.Code = e.Code
	if e.Code == sqlite3.CantOpenSymlink {
		f.Reason = ReasonSymlink
		return f
	}
	if e.Errno != 0 {
		if r := errnoReason(e.Errno); r != "" && e.Primary() != sqlite3.Full {
			f.Reason = r
			// A file that SQLite may not create it then tries to open for reading;
			// what it reports is that second answer.
			if why := writeRefusal(path); r == ReasonNotFound && why != nil {
				f.Reason = reasonOf(why)
			}
			return f
		}
	}
	switch e.Primary() {
	case sqlite3.Busy:
		f.Reason = ReasonBusy
	case sqlite3.NotADB, sqlite3.Corrupt:
		f.Reason = ReasonNotDatabase
	case sqlite3.Full:
		f.Reason = ReasonNoSpace
	case sqlite3.ReadOnly:
		// SQLite opens what it may not write for reading, and says no more.
		f.Reason = ReasonReadOnly
		if why := writeRefusal(path); why != nil {
			f.Reason = reasonOf(why)
		}
	case sqlite3.Perm:
		f.Reason = ReasonPermission
	case sqlite3.Constraint:
		f.Reason = ReasonConstraint
	case sqlite3.Misuse:
		f.Reason = ReasonInvalid
	}
	return f
}
