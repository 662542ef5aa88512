package platform

import (
	"io/fs"
	"syscall"

	"github.com/rivus/tether/errors"
)

// Reason says what kind of thing went wrong, in the words that logs and
// switches use. The set is closed: a new kind of failure gets a new constant.
type Reason string

// The reasons.
const (
	ReasonNotFound       Reason = "not-found"       // nothing is at the path, or a directory on the way is missing
	ReasonPermission     Reason = "permission"      // this user may not do it
	ReasonReadOnly       Reason = "read-only"       // the file system is mounted read-only
	ReasonNoSpace        Reason = "no-space"        // the disk or the quota is full
	ReasonTooManyFiles   Reason = "too-many-files"  // the process or the machine is out of file descriptors
	ReasonNameTooLong    Reason = "name-too-long"   // the path or one of its parts exceeds the file system's limit
	ReasonNotDirectory   Reason = "not-a-directory" // something on the way is no directory
	ReasonIsDirectory    Reason = "is-a-directory"  // a directory is where a file must be
	ReasonSymlink        Reason = "symlink"         // a symbolic link is where a file must be
	ReasonNotRegular     Reason = "not-a-regular"   // a FIFO, socket or device is where a file must be
	ReasonTooLarge       Reason = "too-large"       // the file exceeds the limit given for reading it
	ReasonNotDatabase    Reason = "not-a-database"  // the file is no SQLite database, or a damaged one
	ReasonNotLock        Reason = "not-a-lock"      // what is there, or beside it, belongs to no process lock
	ReasonBusy           Reason = "busy"            // SQLite found the file locked
	ReasonConstraint     Reason = "constraint"      // an SQL constraint refused the write
	ReasonNetworkStorage Reason = "network-storage" // the file system is on another machine
	ReasonUnsupported    Reason = "unsupported"     // this system or file system cannot do it
	ReasonInvalid        Reason = "invalid"         // the value given, or read, is malformed
	ReasonIO             Reason = "io"              // anything else the system answered
)

// advice is the way out that the message of a Failure ends with.
func (r Reason) advice() string {
	switch r {
	case ReasonNotFound:
		return "nothing is there; create it, or check the path"
	case ReasonPermission:
		return "this user may not; change its owner or mode, or run as another user"
	case ReasonReadOnly:
		return "the file system is read-only; choose a path on a writable one"
	case ReasonNoSpace:
		return "no space is left; free some, or choose another file system"
	case ReasonTooManyFiles:
		return "no file descriptor is left; close some, or raise the limit (ulimit -n)"
	case ReasonNameTooLong:
		return "the path is longer than the file system allows; choose a shorter one"
	case ReasonNotDirectory:
		return "a part of the path is no directory; check the path"
	case ReasonIsDirectory:
		return "a directory is there; choose the path of a file"
	case ReasonSymlink:
		return "a symbolic link is there and is not followed; give the path of the file itself"
	case ReasonNotRegular:
		return "a FIFO, socket or device is there; choose the path of a regular file"
	case ReasonTooLarge:
		return "the file is larger than anything that belongs there; look at it and remove it by hand"
	case ReasonNotDatabase:
		return "the file is no SQLite database; it was left as it is, choose another path or remove it by hand"
	case ReasonNotLock:
		return "no process lock made it; it was left as it is, choose another path or move it away"
	case ReasonBusy:
		return "another connection has it locked; try again"
	case ReasonNetworkStorage:
		return "locks on a network file system cannot be trusted; choose a local path"
	case ReasonUnsupported:
		return "this system cannot do it"
	default:
		return ""
	}
}

// reasonOf classifies what the system answered.
func reasonOf(err error) Reason {
	errno, ok := errors.AsType[syscall.Errno](err)
	if ok {
		if r := errnoReason(errno); r != "" {
			return r
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ReasonNotFound
	case errors.Is(err, fs.ErrPermission):
		return ReasonPermission
	case errors.Is(err, errors.ErrUnsupported):
		return ReasonUnsupported
	}
	return ReasonIO
}
