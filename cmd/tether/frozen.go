package main

import (
	"os"
	"path/filepath"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
)

// errInUse: what a read-only folder has of the database may be half of it.
var errInUse = errors.New("it is in use, or was not closed, in a folder that is read-only here, where SQLite cannot make the files that reading takes; " +
	"copy it with its -wal file to a folder of yours, or run as a user who may write")

// noCopy says that a database that may be read only could not be copied.
type noCopy struct{ cause error }

func (e *noCopy) Error() string {
	return "its folder is read-only here, so that reading it takes a copy, and none can be made; set TMPDIR to a folder of yours: " + e.cause.Error()
}
func (e *noCopy) Unwrap() error { return e.cause }

// readFrozen reads a database in a folder where SQLite may not make its -wal and -shm
// files. It reads a copy, which is whole if no process has the database open: then
// there is no -wal file, and everything is in the main one.
//
// By now no connection of this process is open, so that no lock is lost when the
// file is closed (rule K11).
func (d database) readFrozen(read func(database) error) error {
	before, err := d.atRest()
	if err != nil {
		return err
	}
	data, err := os.ReadFile(d.path)
	if err != nil {
		return err
	}
	// A writer may have come and gone meanwhile.
	after, err := d.atRest()
	if err != nil {
		return err
	}
	if !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) || before.Size() != after.Size() || int64(len(data)) != after.Size() {
		return errInUse
	}
	dir, err := os.MkdirTemp("", "tether-")
	if err != nil {
		return &noCopy{err}
	}
	defer os.RemoveAll(dir)
	copied := database{d.platform, filepath.Join(dir, "copy.db")}
	if err := os.WriteFile(copied.path, data, 0o600); err != nil {
		return &noCopy{err}
	}
	return read(copied)
}

// atRest fails when somebody has the database open, or died with it.
func (d database) atRest() (os.FileInfo, error) {
	for _, beside := range []string{"-wal", "-journal"} {
		switch _, err := os.Lstat(d.path + beside); {
		case err == nil:
			return nil, errInUse
		case !errors.Is(err, os.ErrNotExist):
			return nil, err
		}
	}
	return os.Lstat(d.path)
}

// isFrozen tells whether the failure is that of a database that may not be written.
func isFrozen(err error) bool {
	switch platform.ReasonOf(err) {
	case platform.ReasonPermission, platform.ReasonReadOnly:
		return true
	default:
		return false
	}
}
