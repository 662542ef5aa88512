package sqlite3

import (
	"math"
	"sync"
	"syscall"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// Flags of Open.
const (
	OpenReadWrite = lib.SQLITE_OPEN_READWRITE
	OpenCreate    = lib.SQLITE_OPEN_CREATE
	OpenNoFollow  = lib.SQLITE_OPEN_NOFOLLOW
	// OpenNoMutex leaves out the mutex of the connection: the one who uses it
	// sees to it that calls do not meet.
	OpenNoMutex = lib.SQLITE_OPEN_NOMUTEX
)

// Memory is the name of a database in memory.
const Memory = ":memory:"

// patch repairs a function table of the library on linux/arm64, once, as the
// library's own driver does when it is imported.
var patch = sync.OnceFunc(lib.PatchIssue199)

// Conn is one connection.
type Conn struct {
	tls     *libc.TLS
	db      uintptr
	scratch uintptr // 16 bytes of C memory for results that come back by pointer
	main    uintptr // "main", for file controls
}

// Open opens the file at path. It reads nothing.
func Open(path string, flags int) (*Conn, error) {
	patch()
	c := &Conn{tls: libc.NewTLS()}
	c.scratch = lib.Xsqlite3_malloc(c.tls, 16)
	name := c.cstring(path)
	if c.scratch == 0 || name == 0 {
		c.free(name)
		_ = c.Close()
		return nil, noMemory()
	}
	rc := lib.Xsqlite3_open_v2(c.tls, name, c.scratch, int32(flags), 0)
	c.free(name)
	c.db = libc.AtomicLoadPUintptr(c.scratch) // set on failure, too
	if c.db != 0 {
		lib.Xsqlite3_extended_result_codes(c.tls, c.db, 1)
	}
	if rc != lib.SQLITE_OK {
		err := c.failure(rc)
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// Close rolls back and closes. Statements must be closed before. The second call
// does nothing.
func (c *Conn) Close() error {
	if c.tls == nil {
		return nil
	}
	var err error
	if c.db != 0 {
		if rc := lib.Xsqlite3_close_v2(c.tls, c.db); rc != lib.SQLITE_OK {
			err = c.failure(rc)
		}
		c.db = 0
	}
	c.free(c.scratch)
	c.free(c.main)
	c.scratch, c.main = 0, 0
	c.tls.Close()
	c.tls = nil
	return err
}

// Exec runs any number of statements and ignores their rows.
func (c *Conn) Exec(sql string) error {
	text := c.cstring(sql)
	if text == 0 {
		return noMemory()
	}
	rc := lib.Xsqlite3_exec(c.tls, c.db, text, 0, 0, 0)
	c.free(text)
	return c.check(rc)
}

// Text is SQL in C memory, for statements that run often without being prepared.
// It belongs to no connection and lives as long as the process.
type Text uintptr

// NewText copies sql.
func NewText(sql string) Text {
	p, err := libc.CString(sql)
	if err != nil {
		panic(err) // a few bytes at the start of the process
	}
	return Text(p)
}

// ExecText is Exec without the copy.
func (c *Conn) ExecText(sql Text) error {
	return c.check(lib.Xsqlite3_exec(c.tls, c.db, uintptr(sql), 0, 0, 0))
}

// Changes is sqlite3_changes64.
func (c *Conn) Changes() int64 { return int64(lib.Xsqlite3_changes64(c.tls, c.db)) }

// Autocommit is true outside of transactions.
func (c *Conn) Autocommit() bool { return lib.Xsqlite3_get_autocommit(c.tls, c.db) != 0 }

// Moved asks SQLite whether the path of the attached database schema ("main" or a
// name that was attached) still leads to the file that it has open.
func (c *Conn) Moved(schema Text) (bool, error) {
	rc := lib.Xsqlite3_file_control(c.tls, c.db, uintptr(schema), lib.SQLITE_FCNTL_HAS_MOVED, c.scratch)
	if rc != lib.SQLITE_OK {
		return false, c.failure(rc)
	}
	return libc.AtomicLoadPInt32(c.scratch) != 0, nil
}

// LeaveLog has Close leave the write-ahead log as it is: nothing of it is written into
// the database, and it is not removed.
func (c *Conn) LeaveLog() error {
	on := libc.VaList(c.scratch, int32(1), uintptr(0))
	return c.check(lib.Xsqlite3_db_config(c.tls, c.db, lib.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, on))
}

// LockState is the lock that this connection itself has on the file of the
// attached database: one of the Lock constants.
func (c *Conn) LockState(schema Text) (int, error) {
	rc := lib.Xsqlite3_file_control(c.tls, c.db, uintptr(schema), lib.SQLITE_FCNTL_LOCKSTATE, c.scratch)
	if rc != lib.SQLITE_OK {
		return 0, c.failure(rc)
	}
	return int(libc.AtomicLoadPInt32(c.scratch)), nil
}

// LockReserved is the state from which on no other connection may write; then come
// PENDING and LockExclusive, in which no other may read either.
const (
	LockReserved  = lib.SQLITE_LOCK_RESERVED
	LockExclusive = lib.SQLITE_LOCK_EXCLUSIVE
)

// ReadOnly reports whether the file of the attached database schema could only be
// opened for reading, which SQLite does without a word when it may not write it.
func (c *Conn) ReadOnly(schema Text) bool {
	return lib.Xsqlite3_db_readonly(c.tls, c.db, uintptr(schema)) != 0 // -1: no such schema
}

func (c *Conn) check(rc int32) error {
	if rc == lib.SQLITE_OK {
		return nil
	}
	return c.failure(rc)
}

func (c *Conn) failure(rc int32) error {
	e := &Error{Code: int(rc)}
	if c.db == 0 {
		e.Message = libc.GoString(lib.Xsqlite3_errstr(c.tls, rc))
		return e
	}
	e.Message = libc.GoString(lib.Xsqlite3_errmsg(c.tls, c.db))
	if extended := lib.Xsqlite3_extended_errcode(c.tls, c.db); extended&0xff == rc&0xff {
		e.Code = int(extended)
	}
	switch e.Primary() {
	case CantOpen, IOErr, ReadOnly, Full, Perm:
		// Elsewhere the value is an old one: SQLite keeps it until the next.
		e.Errno = syscall.Errno(lib.Xsqlite3_system_errno(c.tls, c.db))
	}
	return e
}

// cstring copies s, or is 0 when there is no memory.
func (c *Conn) cstring(s string) uintptr {
	if len(s) >= math.MaxInt32 {
		return 0
	}
	p := lib.Xsqlite3_malloc(c.tls, int32(len(s)+1))
	if p != 0 {
		b := libc.GoBytes(p, len(s)+1)
		copy(b, s)
		b[len(s)] = 0
	}
	return p
}

func (c *Conn) free(p uintptr) {
	if p != 0 {
		lib.Xsqlite3_free(c.tls, p)
	}
}

func noMemory() error { return &Error{Code: NoMem, Message: "out of memory"} }
