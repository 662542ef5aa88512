package platform

// SQLite opens database files. Every failure is a *Failure with SQLite's
// extended result code; IsBusy picks the one that a retry may cure.
//
// There is never a busy timeout: a call that finds a lock fails at once with
// ReasonBusy, so that no thread sleeps inside SQLite and the caller's own clock
// and context decide about retries.
//
// One connection here is one SQLite connection: there is no pool, no goroutine
// and no context. Connections, and the statements made from them, are used by
// one goroutine at a time (a mutex around a connection is enough; they are bound
// to no thread). Different connections may be used at the same time.
//
// A path is the path of a file, taken literally: no URI, no ":memory:". A symbolic link in
// its last part is refused (ReasonSymlink), so that nothing is created at or written
// through what a link points to.
//
// On unix SQLite's locks are POSIX record locks: closing any other descriptor of
// the file anywhere in the process drops them. Nothing but SQLite may open a
// database file that is in use (rule K11).
type SQLite interface {
	// Open opens a database for reading and writing. Nothing is read yet: a file
	// that is no database fails at its first statement.
	Open(path string, mode OpenMode) (SQLiteConn, error)

	// Create makes an empty database appear at path, unless something is there.
	// It has the owner, group and mode of the file at like, as far as this process
	// may give them, as the files have that SQLite makes beside a database, but is
	// never world-writable. Where like is "" or missing, it has those that its
	// folder asks for, as FS says. The path is as TryLock's.
	Create(path, like string) error

	// TryLock takes the whole file: locking_mode EXCLUSIVE, BEGIN EXCLUSIVE,
	// journal in memory. Nothing is ever written; a missing file is
	// ReasonNotFound. ReasonBusy: another connection is ahead. A file that may be read and
	// not written is ReasonPermission or ReasonReadOnly, whoever has it locked: it
	// could be locked against nobody. The kernel drops the lock when the process
	// ends; a child process does not inherit it.
	//
	// When only shared locks (probes, readers) are in the way, the result is a lock
	// that is not Taken yet, but is ahead of every other connection: call Take
	// again when they may be over, or Unlock.
	//
	// The database of a lock is empty: one with content is ReasonNotLock, and not
	// opened. The path must be absolute, with its directory resolved
	// (FS.ResolveDir): here a link in any part is refused.
	TryLock(path string) (SQLiteLock, error)

	// Probe takes a shared lock and gives it back: nil when that worked,
	// ReasonBusy when an exclusive lock is held (or being taken). It creates and
	// writes nothing; a missing file is ReasonNotFound. The path is as TryLock's.
	Probe(path string) error
}

// OpenMode is what Open does with a missing file.
type OpenMode uint8

// The modes.
const (
	OpenExisting OpenMode = iota // fail with ReasonNotFound
	OpenOrCreate                 // create an empty database, as Create does
)

// SQLiteLock is a file that TryLock took. Its methods may be called from any
// goroutine.
type SQLiteLock interface {
	// Taken tells whether the whole file is locked.
	Taken() bool
	// Take tries again to lock the whole file, and tells whether it is. A failure
	// leaves it as it was.
	Take() (bool, error)
	// Moved tells whether the path no longer leads to the file that is locked:
	// it was removed, renamed or replaced. After Unlock it answers true.
	Moved() (bool, error)
	// Unlock gives the file back and closes it. Later calls do nothing. A failure
	// is informative: the lock is gone with the descriptor all the same.
	Unlock() error
}

// SQLiteConn is one SQLite connection.
type SQLiteConn interface {
	// Exec runs any number of statements without parameters and ignores their
	// rows. For statements that run again and again use Prepare.
	Exec(sql string) error
	// Prepare compiles one statement. It must be closed before its connection.
	Prepare(sql string) (SQLiteStmt, error)
	// Changes is the number of rows that the last INSERT, UPDATE or DELETE changed.
	Changes() int64
	// InTransaction tells whether a transaction is open. After a failed COMMIT
	// it tells whether ROLLBACK is still to be called.
	InTransaction() bool
	// Moved tells whether the path no longer leads to the open file, or the path of
	// its write-ahead log, or of the log's index (-wal, -shm), to that which is open:
	// what is written or read here then is not what others write and read.
	Moved() (bool, error)
	// Close finalizes what statements are left, rolls back an open transaction and
	// closes the file. Later calls do nothing.
	Close() error
}

// SQLiteStmt is one prepared statement. The cycle is: bind, Step until it
// answers false, Reset; it allocates nothing on the Go heap but what ColumnText
// returns. Parameters and columns are counted from 1 and from 0, as in SQLite.
// A wrong index of a parameter is a failure, that of a column gives the zero
// value. Bound values stay bound over Reset.
type SQLiteStmt interface {
	BindInt64(parameter int, value int64) error
	// BindText copies value. SQLite takes it as UTF-8 without checking.
	BindText(parameter int, value string) error
	BindNull(parameter int) error
	// Step runs to the next row and answers true, or to the end and answers
	// false. After a failure (busy included) Reset must be called before the next
	// Step; it answers the same failure once more, so its result may be dropped.
	Step() (row bool, err error)
	ColumnInt64(column int) int64
	// ColumnText is a copy of the value as text, "" for NULL.
	ColumnText(column int) string
	// AppendColumnText appends the value as text to b.
	AppendColumnText(b []byte, column int) []byte
	ColumnIsNull(column int) bool
	// ColumnIsInteger tells whether the stored value is an integer.
	ColumnIsInteger(column int) bool
	// Reset ends the run, so that its locks are freed and it can run again.
	Reset() error
	// Close frees the statement. Later calls do nothing.
	Close() error
}
