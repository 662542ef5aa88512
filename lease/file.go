package lease

import (
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// Files is a Repository in a directory: one file a key, NAME.lease.json, which is
// replaced as a whole under the process lock NAME.lease.guard; the fence is the
// process lock NAME.lease.fence.
type Files struct {
	platform *platform.Platform
	dir      string
	settings repositorySettings
	hub      releaseHub
	swept    atomic.Bool
}

var (
	_ Repository     = (*Files)(nil)
	_ ReleaseWatcher = (*Files)(nil)
)

// NewFileRepository makes a repository in the directory dir, which must exist. It
// opens nothing. A relative dir is that of the working directory now. On a platform
// without SQLite its locks are lock files.
func NewFileRepository(p *platform.Platform, dir string, options ...RepositoryOption) *Files {
	s := &Files{platform: p, dir: absolute(p, dir), settings: repositorySettingsOf(options)}
	s.settings.withoutSQLite = s.settings.withoutSQLite || p.SQLite == nil
	return s
}

// guardFor is how long a Save waits for the guard.
const guardFor = time.Second

func (s *Files) path(key, suffix string) string {
	return s.dir + string(filepath.Separator) + fileName(key) + ".lease." + suffix
}

func (s *Files) place() string { return "files:" + s.dir }

func (s *Files) lockOptions() (options []processlock.Option) {
	if s.settings.network {
		options = append(options, processlock.AllowNetworkStorage())
	}
	if s.settings.withoutSQLite {
		options = append(options, processlock.WithoutSQLite())
	}
	return options
}

// Load implements Repository. It reads one file and takes no lock.
func (s *Files) Load(key string) effect.Effect[mo.Option[Record]] {
	return effect.Direct(func(f *scope.Fiber) (mo.Option[Record], *scope.Cause) {
		return offload(f, func() (mo.Option[Record], error) { return s.load(key) })
	})
}

func (s *Files) load(key string) (mo.Option[Record], error) {
	if err := s.admit(); err != nil {
		return mo.None[Record](), keyed(key, platformFailure(key, err))
	}
	path := s.path(key, "json")
	data, err := s.platform.FS.ReadFile(path, maxRecordJSON)
	switch {
	case platform.IsNotFound(err):
		return mo.None[Record](), nil
	case platform.ReasonOf(err) == platform.ReasonTooLarge:
		return mo.None[Record](), s.unreadable(key, RepositoryInvalidRecord, err)
	case err != nil:
		return mo.None[Record](), platformFailure(key, err)
	}
	r, reason, err := parseRecordFile(data)
	// Bytes that are no UTF-8 are in the name, but not in the JSON.
	if err == nil && r.Key != key && r.Key != string([]rune(key)) {
		reason, err = RepositoryInvalidRecord, invalid("its key is %s", quote(r.Key))
	}
	if err != nil {
		return mo.None[Record](), s.unreadable(key, reason, err)
	}
	r.Key = key
	return mo.Some(r), nil
}

func (s *Files) unreadable(key string, reason RepositoryReason, err error) error {
	return &RepositoryFailure{
		Key: key, Reason: reason, Cause: err,
		Message: "the file " + strconv.Quote(s.path(key, "json")) + " was left as it is: " + err.Error(),
	}
}

// admit refuses a directory on a network file system, and one that is not there:
// a missing directory is not an empty one.
func (s *Files) admit() error {
	dir, err := s.platform.FS.ResolveDir(s.dir)
	if err != nil || s.settings.network {
		return err
	}
	return checkStorage(s.platform, dir)
}

// Save implements Repository. It takes the guard, reads, compares and replaces
// the file, synced, in a renewal as well: what replaces the file that has the
// generation must be on the disk before its name is. On a disk that takes about a
// millisecond, and the processor works for more than half of it. The first one lists
// the directory, to remove the temporary files that killed processes left.
func (s *Files) Save(key string, next Record, expected mo.Option[int64]) effect.Effect[effect.Unit] {
	return effect.UninterruptibleMask(func(restore effect.Restore) effect.Effect[effect.Unit] {
		return effect.Direct(func(f *scope.Fiber) (effect.Unit, *scope.Cause) {
			if err := checkSave(key, next); err != nil {
				return effect.Unit{}, scope.CauseFail(err)
			}
			lock, c := s.guard(f, restore, key)
			if c != nil {
				return effect.Unit{}, c
			}
			// On the fiber itself, which passes the guard's turn on when it is over.
			defer lock.Release()
			_, c = offload(f, func() (effect.Unit, error) { return effect.Unit{}, s.swap(key, next, expected) })
			_ = lock.Release()
			if c == nil && next.IsTombstone() {
				s.hub.tell(key)
				announceRelease(f, s.platform, s.path(key, wakeSuffix))
			}
			return effect.Unit{}, c
		})
	})
}

func (s *Files) guard(f *scope.Fiber, restore effect.Restore, key string) (*processlock.Lock, *scope.Cause) {
	began := f.Clock().Monotonic()
	options := append(s.lockOptions(), processlock.Wait(), processlock.Retry(time.Millisecond))
	lock, c := processlock.AcquireOn(f, restore, began+guardFor, s.platform, s.path(key, "guard"), options...)
	return lock, c.MapErrors(func(err error) error { return lockFailure(key, err) })
}

func (s *Files) swap(key string, next Record, expected mo.Option[int64]) error {
	if s.swept.CompareAndSwap(false, true) {
		sweep(s.platform, s.dir)
	}
	found, err := s.load(key)
	if err != nil {
		return err
	}
	stored := mo.None[int64]()
	r, ok := found.Get()
	if ok {
		stored = mo.Some(r.Revision)
	}
	if stored != expected || ok && !follows(r, next) {
		return &RevisionConflict{Key: key, ExpectedRevision: expected, StoredRevision: stored}
	}
	data, err := recordFile(next)
	if err == nil {
		err = s.platform.FS.WriteAtomic(s.path(key, "json"), data)
	}
	if err != nil {
		return platformFailure(key, err)
	}
	return nil
}

// Fence implements Repository.
func (s *Files) Fence(key string) effect.Effect[effect.Unit] {
	return processFence(s.platform, key, s.path(key, "fence"), s.lockOptions()...)
}

// WatchReleases implements ReleaseWatcher: releases through this value, and on
// Linux those of other processes on this machine.
func (s *Files) WatchReleases(key string, changed func()) effect.Effect[effect.Unit] {
	return s.hub.watch(key, changed).AndThen(watchWake(s.platform, s.path(key, wakeSuffix), changed))
}
