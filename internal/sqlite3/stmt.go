package sqlite3

import (
	"math"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// Stmt is one prepared statement.
type Stmt struct {
	c      *Conn
	handle uintptr
	// texts are the C buffers that text parameters are bound to, by index. A
	// buffer is kept and reused, so that binding allocates only when a longer
	// text than before comes.
	texts []textBuffer
}

type textBuffer struct {
	p        uintptr
	capacity int
}

// Prepare compiles the first statement in sql, for being kept.
func (c *Conn) Prepare(sql string) (*Stmt, error) {
	text := c.cstring(sql)
	if text == 0 {
		return nil, noMemory()
	}
	rc := lib.Xsqlite3_prepare_v3(c.tls, c.db, text, -1, lib.SQLITE_PREPARE_PERSISTENT, c.scratch, 0)
	c.free(text)
	if rc != lib.SQLITE_OK {
		return nil, c.failure(rc)
	}
	handle := libc.AtomicLoadPUintptr(c.scratch)
	if handle == 0 {
		return nil, &Error{Code: Misuse, Message: "no statement in the SQL text"}
	}
	return &Stmt{c: c, handle: handle}, nil
}

// Close finalizes. The second call does nothing.
func (s *Stmt) Close() error {
	if s.handle == 0 {
		return nil
	}
	// The result repeats the last Step's failure; the statement is gone anyway.
	lib.Xsqlite3_finalize(s.c.tls, s.handle)
	s.handle = 0
	for _, t := range s.texts {
		s.c.free(t.p)
	}
	s.texts = nil
	return nil
}

// BindInt64 binds an integer.
func (s *Stmt) BindInt64(parameter int, value int64) error {
	return s.c.check(lib.Xsqlite3_bind_int64(s.c.tls, s.handle, int32(parameter), lib.Tsqlite_int64(value)))
}

// BindNull binds NULL.
func (s *Stmt) BindNull(parameter int) error {
	return s.c.check(lib.Xsqlite3_bind_null(s.c.tls, s.handle, int32(parameter)))
}

// BindText binds a copy of value. It panics when parameter is negative or absurd.
func (s *Stmt) BindText(parameter int, value string) error {
	if parameter < 1 || parameter > 32766 || len(value) > math.MaxInt32-64 {
		return &Error{Code: Misuse, Message: "parameter index or length out of range"}
	}
	for len(s.texts) <= parameter {
		s.texts = append(s.texts, textBuffer{})
	}
	t := &s.texts[parameter]
	if t.capacity < len(value)+1 {
		size := max(64, len(value)+1)
		p := lib.Xsqlite3_malloc(s.c.tls, int32(size))
		if p == 0 {
			return noMemory()
		}
		// Unbind before the old buffer goes, in case the bind below fails.
		lib.Xsqlite3_bind_null(s.c.tls, s.handle, int32(parameter))
		s.c.free(t.p)
		t.p, t.capacity = p, size
	}
	copy(libc.GoBytes(t.p, t.capacity), value)
	// SQLITE_STATIC: the buffer is the statement's own and changes only in the
	// next bind of the same parameter, which SQLite refuses while a run is on.
	return s.c.check(lib.Xsqlite3_bind_text(s.c.tls, s.handle, int32(parameter), t.p, int32(len(value)), lib.SQLITE_STATIC))
}

// Step answers true for a row and false at the end.
func (s *Stmt) Step() (bool, error) {
	switch rc := lib.Xsqlite3_step(s.c.tls, s.handle); rc {
	case lib.SQLITE_ROW:
		return true, nil
	case lib.SQLITE_DONE:
		return false, nil
	default:
		return false, s.c.failure(rc)
	}
}

// Reset ends the run; its failure is that of the last Step.
func (s *Stmt) Reset() error {
	return s.c.check(lib.Xsqlite3_reset(s.c.tls, s.handle))
}

// ColumnInt64 is the value as an integer.
func (s *Stmt) ColumnInt64(column int) int64 {
	return int64(lib.Xsqlite3_column_int64(s.c.tls, s.handle, int32(column)))
}

// ColumnType is one of the Type constants.
func (s *Stmt) ColumnType(column int) int {
	return int(lib.Xsqlite3_column_type(s.c.tls, s.handle, int32(column)))
}

// The types of a column.
const (
	TypeInteger = lib.SQLITE_INTEGER
	TypeNull    = lib.SQLITE_NULL
)

// ColumnText is a copy of the value as text.
func (s *Stmt) ColumnText(column int) string { return string(s.text(column)) }

// AppendColumnText appends the value as text.
func (s *Stmt) AppendColumnText(b []byte, column int) []byte { return append(b, s.text(column)...) }

// text is valid until the next step, reset or conversion.
func (s *Stmt) text(column int) []byte {
	p := lib.Xsqlite3_column_text(s.c.tls, s.handle, int32(column))
	n := int(lib.Xsqlite3_column_bytes(s.c.tls, s.handle, int32(column)))
	if p == 0 || n == 0 {
		return nil
	}
	return libc.GoBytes(p, n)
}
