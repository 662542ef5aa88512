// Package sqlite3 binds the few functions of SQLite's C interface that Tether
// uses, over the translated library (modernc.org/sqlite/lib), without
// database/sql. A statement that is bound, stepped and reset allocates nothing
// on the Go heap; a pool, a context or a goroutine is nowhere.
//
// It keeps the library's own rules: a Conn and its statements are used by one
// goroutine at a time; different Conns may be used at the same time. It never
// sets a busy timeout.
//
// The library is shared with everything else in the process that uses
// modernc.org/sqlite, so SQLite's table of POSIX locks is one, too.
package sqlite3
