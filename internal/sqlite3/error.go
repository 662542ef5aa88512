package sqlite3

import (
	"strconv"
	"syscall"

	lib "modernc.org/sqlite/lib"
)

// Error is a result code of SQLite with the message that came with it.
type Error struct {
	Code    int           // extended result code
	Errno   syscall.Errno // what the system answered, or 0
	Message string
}

func (e *Error) Error() string {
	s := "sqlite: " + e.Message + " (code " + strconv.Itoa(e.Code) + ")"
	if e.Errno != 0 {
		s += ": " + e.Errno.Error()
	}
	return s
}

// Primary is the primary result code.
func (e *Error) Primary() int { return e.Code & 0xff }

// Unwrap is what the system answered, or nil.
func (e *Error) Unwrap() error {
	if e.Errno == 0 {
		return nil
	}
	return e.Errno
}

// The result codes that callers tell apart.
const (
	Perm            = lib.SQLITE_PERM
	Busy            = lib.SQLITE_BUSY
	Locked          = lib.SQLITE_LOCKED
	NoMem           = lib.SQLITE_NOMEM
	ReadOnly        = lib.SQLITE_READONLY
	IOErr           = lib.SQLITE_IOERR
	Corrupt         = lib.SQLITE_CORRUPT
	Full            = lib.SQLITE_FULL
	CantOpen        = lib.SQLITE_CANTOPEN
	CantOpenSymlink = lib.SQLITE_CANTOPEN | 6<<8
	Constraint      = lib.SQLITE_CONSTRAINT
	Misuse          = lib.SQLITE_MISUSE
	NotADB          = lib.SQLITE_NOTADB
)
