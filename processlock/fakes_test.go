//go:build linux

package processlock_test

import (
	"sync/atomic"
	"time"

	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/scope"
)

// cancellingClock calls cancel in the third pause.
type cancellingClock struct {
	scope.Clock
	pauses atomic.Int64
	cancel func()
}

func (c *cancellingClock) AfterFunc(d time.Duration, f func()) scope.Timer {
	if c.pauses.Add(1) == 3 {
		c.cancel()
	}
	return c.Clock.AfterFunc(d, f)
}

// cancellingProcess calls cancel when the own identity is read, which is after
// the kernel's lock is taken.
type cancellingProcess struct {
	platform.Process
	cancel func()
}

func (p cancellingProcess) Self() (platform.Identity, error) {
	p.cancel()
	return p.Process.Self()
}

// namelessProcess has no own identity, as on Windows.
type namelessProcess struct{ platform.Process }

func (namelessProcess) Self() (platform.Identity, error) {
	return platform.Identity{}, &platform.Failure{Op: "identify this process", Reason: platform.ReasonUnsupported}
}

// hiddenProcess cannot look at others.
type hiddenProcess struct {
	platform.Process
	reason platform.Reason
}

func (p hiddenProcess) Identify(pid int64) (id platform.Identity, runs bool, err error) {
	return id, false, &platform.Failure{Op: "identify process", PID: pid, Reason: p.reason}
}

// linkless is a file system without hard links.
type linkless struct{ platform.FS }

func (linkless) Link(_, path string) (bool, error) {
	return false, &platform.Failure{Op: "link file", Path: path, Reason: platform.ReasonUnsupported}
}

// networked says that every file system is on the network.
type networked struct{ platform.FS }

func (networked) FileSystemType(string) (platform.FileSystemType, error) {
	return platform.FileSystemType{Name: "fuse.sshfs", Network: true}, nil
}

// mountedFile says that the file at its path is on the network, and nothing else.
type mountedFile struct {
	platform.FS
	path string
}

func (m mountedFile) FileSystemType(path string) (platform.FileSystemType, error) {
	if path == m.path {
		return platform.FileSystemType{Name: "nfs", Network: true}, nil
	}
	return m.FS.FileSystemType(path)
}

// stickyFS cannot remove anything.
type stickyFS struct{ platform.FS }

func (stickyFS) Remove(path string) error {
	return &platform.Failure{Op: "remove file", Path: path, Reason: platform.ReasonIO}
}

// countingSQLite counts the tries and tells of each before it is made.
type countingSQLite struct {
	platform.SQLite
	tries *atomic.Int64
	tell  func(n int64)
}

func (s countingSQLite) TryLock(path string) (platform.SQLiteLock, error) {
	s.tell(s.tries.Add(1))
	return s.SQLite.TryLock(path)
}

// countingFS counts the looks at a lock file and tells of each before it is made.
type countingFS struct {
	platform.FS
	looks *atomic.Int64
	tell  func(n int64)
}

func (f countingFS) ReadFile(path string, limit int64) ([]byte, error) {
	f.tell(f.looks.Add(1))
	return f.FS.ReadFile(path, limit)
}

// recordingClock keeps the pauses, and tells of one when it has begun.
type recordingClock struct {
	scope.Clock
	pauses []pause
	notify int
	told   func()
}

func (c *recordingClock) AfterFunc(d time.Duration, f func()) scope.Timer {
	now := monotonic()
	c.pauses = append(c.pauses, pause{now, now + int64(d)})
	if len(c.pauses) == c.notify {
		c.told()
	}
	return c.Clock.AfterFunc(d, f)
}

// hookFS calls before each Link.
type hookFS struct {
	platform.FS
	link func(path string)
}

func (f hookFS) Link(existing, path string) (bool, error) {
	f.link(path)
	return f.FS.Link(existing, path)
}
