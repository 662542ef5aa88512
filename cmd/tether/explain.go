package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
)

// purpose is what a file was opened for.
type purpose string

const (
	toRead  purpose = "read"
	toWrite purpose = "write"
)

// explained is a failure of a file in one sentence, for people. What the layers below
// said, each of it in its own, is the cause; JSON has that.
type explained struct {
	sentence string
	cause    error
}

func (e *explained) Error() string { return e.sentence }
func (e *explained) Unwrap() error { return e.cause }

// explain says what is wrong with the database or lock at path, and the way out.
// Failures of other kinds stay as they are.
func explain(path string, what purpose, err error) error {
	if s, ok := errors.AsType[*stillHeld](err); ok {
		return &stillHeld{explain(path, what, s.cause), s.waited}
	}
	if sentence := explanation(path, what, err); sentence != "" {
		return &explained{sentence, err}
	}
	return err
}

func explanation(path string, what purpose, err error) string {
	name := plain(path)
	if _, ok := errors.AsType[*noCopy](err); ok || errors.Is(err, errInUse) {
		return name + ": " + err.Error()
	}
	if f, ok := errors.AsType[*platform.Failure](err); ok {
		return explainFile(path, what, f)
	}
	if r, ok := errors.AsType[*lease.RepositoryFailure](err); ok {
		if r.Reason == lease.RepositoryInvalidRecord {
			return r.Error() + " (in " + name + ")"
		}
		return name + ": " + r.Message
	}
	// What is copied is not read through platform.
	if p, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrPermission) {
		return explainFile(path, what, &platform.Failure{Path: p.Path, Reason: platform.ReasonPermission})
	}
	return ""
}

// fileOf is the file that the failure is about, as the caller would write it: a fence
// or a holder file beside path has its name and more. Else it is path, or its folder.
func fileOf(path string, f *platform.Failure) string {
	if base := filepath.Base(f.Path); strings.HasPrefix(base, filepath.Base(path)+".") || strings.HasPrefix(base, filepath.Base(path)+"-") {
		return filepath.Join(filepath.Dir(path), base)
	}
	return path
}

func explainFile(path string, what purpose, f *platform.Failure) string {
	if f.PID != 0 {
		return f.Error()
	}
	path = fileOf(path, f)
	name := plain(path)
	switch f.Reason {
	case platform.ReasonNotFound:
		if dir := filepath.Dir(path); missing(dir) {
			return "the folder of " + name + " does not exist; make it with mkdir -p " + shellQuote(dir) + ", or check the path"
		}
		return name + " does not exist; check the path (tether run --lease makes it)"
	case platform.ReasonPermission:
		if what == toRead {
			return "this user may not read " + name + ", or enter its folder; run as its owner, or change the modes"
		}
		// Its fence and SQLite's own files are beside it.
		return "this user may not write " + name + " and what belongs to it in its folder; run as its owner, or change the modes"
	case platform.ReasonReadOnly:
		return name + " is on a read-only file system; choose a path on a writable one"
	case platform.ReasonNoSpace:
		return "no space is left for " + name + "; free some, or choose another file system"
	case platform.ReasonNotDatabase:
		if f.Code&0xff == codeCorrupt {
			return name + " is a damaged database, and was left as it is; restore it from a backup, or save what is left with sqlite3's .recover"
		}
		return name + " is no database, and was left as it is; check the path"
	case platform.ReasonNotLock:
		return name + " is no lock, nor a part of one, and was left as it is; choose another path for the lock"
	case platform.ReasonIsDirectory:
		return name + " is a folder; give the path of a file"
	case platform.ReasonNotDirectory:
		return "a part of " + name + " that should be a folder is none; check the path"
	case platform.ReasonSymlink:
		if to, err := filepath.EvalSymlinks(path); err == nil {
			return name + " is a symbolic link, which is not followed; give the path of the file itself, " + plain(to)
		}
		return name + " is a symbolic link, which is not followed; give the path of the file itself"
	case platform.ReasonNotRegular:
		return name + " is a FIFO, socket or device; give the path of a regular file"
	case platform.ReasonBusy:
		return name + " is kept locked by another program; end that, or try again"
	default:
		return name + ": " + reasonOf(f)
	}
}

// codeCorrupt is SQLITE_CORRUPT.
const codeCorrupt = 11

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// reasonOf is a platform's failure without its path.
func reasonOf(err error) string {
	f, ok := errors.AsType[*platform.Failure](err)
	if !ok {
		return err.Error()
	}
	bare := *f
	bare.Path = ""
	return strings.TrimPrefix(bare.Error(), bare.Op+": ")
}
