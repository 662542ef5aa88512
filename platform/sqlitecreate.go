package platform

import (
	"io/fs"
	"os"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/internal/sqlite3"
)

// Create implements SQLite.
func (s *osSQLite) Create(path, like string) error {
	const op = "create database"
	if _, err := admitFile(op, path, OpenOrCreate); err != nil {
		return err
	}
	if like == "" {
		return createDatabase(op, path, nil)
	}
	model, err := os.Lstat(like)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		model = nil
	case err != nil:
		return fileFailure(op, like, err)
	case !model.Mode().IsRegular():
		model = nil // whoever opens that will be told
	}
	return createDatabase(op, path, model)
}

// createDatabase makes an empty file appear at path with its owner and mode, unless
// something is there. SQLite would give it the mode 0644, and could not be told
// otherwise: to open it here afterwards would drop locks (rule K11). The temporary
// file is closed before anybody can find it under its name.
func createDatabase(op, path string, model fs.FileInfo) error {
	temporary := TemporaryBeside(path)
	file, err := create(temporary, model)
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		return fileFailure(op, path, err)
	}
	err = os.Link(temporary, path)
	// What cannot be removed is told from other files by its name.
	_ = os.Remove(temporary)
	switch {
	case err == nil, errors.Is(err, fs.ErrExist):
		return nil
	case !noLinks(err):
		return fileFailure(op, path, err)
	}
	// Such file systems have no modes either.
	c, err := sqlite3.Open(path, sqlite3.OpenReadWrite|sqlite3.OpenCreate|sqlite3.OpenNoFollow|sqlite3.OpenNoMutex)
	if err == nil {
		err = c.Close()
	}
	if err != nil {
		return sqliteFailure(op, path, err)
	}
	return nil
}
