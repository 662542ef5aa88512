//go:build !unix

package sqlite3

// LogMoved is false: Windows lets nobody remove or replace a file that SQLite has open.
func (c *Conn) LogMoved() (bool, error) { return false, nil }
