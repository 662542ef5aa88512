package platform

import (
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/internal/sqlite3"
)

// admit refuses what must not even be opened: opening a FIFO wakes its other end,
// opening a device may do anything. It looks without opening (rule K11).
func admit(op, path string, mode OpenMode) error {
	size, err := admitFile(op, path, mode)
	if err == nil && size > 0 && size < smallestDatabase {
		// SQLite takes such a file for an empty one.
		return &Failure{Op: op, Path: path, Reason: ReasonNotDatabase}
	}
	return err
}

// admitFile gives the size of the regular file at path, which may be missing when it
// may be created.
func admitFile(op, path string, mode OpenMode) (size int64, err error) {
	if !filepath.IsAbs(path) || strings.IndexByte(path, 0) >= 0 {
		return 0, &Failure{Op: op, Path: path, Reason: ReasonInvalid, Cause: errors.New("the path must be absolute and free of NUL bytes")}
	}
	kind, size, err := lstatKind(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if mode == OpenExisting {
			return 0, &Failure{Op: op, Path: path, Reason: ReasonNotFound}
		}
		return 0, nil
	case err != nil:
		return 0, fileFailure(op, path, err)
	case kind != KindRegular:
		return 0, &Failure{Op: op, Path: path, Reason: kind.Reason()}
	}
	return size, nil
}

// smallestDatabase is one page of the smallest size, in bytes.
const smallestDatabase = 512

// admitLock is admit for the database of a lock, which is empty for ever. Anything
// else is not even opened: SQLite would put right what a crash left of somebody's
// database, and on the way out write back and remove its WAL. Nor is an empty one
// beside which somebody keeps a file by the name of its journal: SQLite would take
// that for a leftover, and remove it.
func admitLock(op, path string) error {
	size, err := admitFile(op, path, OpenExisting)
	if err != nil {
		return err
	}
	if size > 0 {
		return &Failure{Op: op, Path: path, Reason: ReasonNotLock}
	}
	for _, suffix := range []string{"-journal", "-wal"} {
		if foreign(path + suffix) {
			return &Failure{Op: op, Path: path + suffix, Reason: ReasonNotLock}
		}
	}
	return nil
}

// foreign reports whether something is at path that is no journal of SQLite's, nor
// the beginning of one.
func foreign(path string) bool {
	if _, _, err := lstatKind(path); err != nil {
		return false // SQLite does not find it, or will say why not
	}
	const first = 4 // bytes of the magic numbers
	file, err := openRegular(path)
	if err != nil {
		return true
	}
	defer file.Close()
	begin := make([]byte, first)
	n, err := io.ReadFull(file, begin)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return true
	}
	switch string(begin) {
	case "\xd9\xd5\x05\xf9", "\x37\x7f\x06\x82", "\x37\x7f\x06\x83", "\x00\x00\x00\x00":
		return false // a journal, a WAL, and the zeros that end a kept or an unsynced one
	}
	return n > 0
}

// onlyRead is the failure of who may only read a file. SQLite opens it for reading
// then, and BEGIN EXCLUSIVE gives it a shared lock, as it gives others.
func onlyRead(op, path string) *Failure {
	cause := writeRefusal(path)
	if cause == nil {
		cause = errOnlyRead
	}
	f := &Failure{Op: op, Path: path, Reason: reasonOf(cause), Code: sqlite3.ReadOnly, Cause: cause}
	if f.Reason != ReasonReadOnly {
		f.Reason = ReasonPermission
		if whose := describeOwner(path); whose != "" {
			f.Cause = fmt.Errorf("%w; %s", cause, whose)
		}
	}
	return f
}

var errOnlyRead = errors.New("it could be opened for reading only, and who holds a lock must be able to write its file")
