package lease

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// SQLite is a Repository in a SQLite database, with one row a key and one
// connection, whose use takes turns. Fences are process locks beside it, at
// PATH.NAME.fence. The database is opened by the first call that needs it, and
// again after a failure or when the file at the path is another one.
//
// Nothing but SQLite may open the database file while it is in use.
type SQLite struct {
	platform *platform.Platform
	path     string
	settings repositorySettings
	hub      releaseHub

	// mu is held while SQLite works, and never while a fiber waits for anything.
	mu     sync.Mutex
	store  *sqliteStore // nil: not open
	closed bool
}

var (
	_ Repository     = (*SQLite)(nil)
	_ BatchSaver     = (*SQLite)(nil)
	_ ReleaseWatcher = (*SQLite)(nil)
)

// NewSQLiteRepository makes a repository in the database at path, whose directory
// must exist. It opens nothing yet. Close it in the end. A relative path is that of
// the working directory now, wherever the process goes later.
func NewSQLiteRepository(p *platform.Platform, path string, options ...RepositoryOption) *SQLite {
	return &SQLite{platform: p, path: absolute(p, path), settings: repositorySettingsOf(options)}
}

// Load implements Repository. It costs one prepared SELECT.
func (s *SQLite) Load(key string) effect.Effect[mo.Option[Record]] {
	return effect.Direct(func(f *scope.Fiber) (mo.Option[Record], *scope.Cause) {
		return use(f, s, key, false, func(st *sqliteStore) (mo.Option[Record], error) { return st.load(key) })
	})
}

// Save implements Repository. It is one transaction, synced when it raises the
// generation.
func (s *SQLite) Save(key string, next Record, expected mo.Option[int64]) effect.Effect[effect.Unit] {
	return effect.Direct(func(f *scope.Fiber) (effect.Unit, *scope.Cause) {
		if err := checkSave(key, next); err != nil {
			return effect.Unit{}, scope.CauseFail(err)
		}
		_, c := use(f, s, key, true, func(st *sqliteStore) (effect.Unit, error) { return effect.Unit{}, st.save(key, next, expected) })
		if c == nil && next.IsTombstone() {
			s.announce(f, key)
		}
		return effect.Unit{}, c
	})
}

// SaveAll implements BatchSaver. It is one transaction, as long as none of the
// writes proves to raise a generation when it was expected to renew.
func (s *SQLite) SaveAll(writes []Write) effect.Effect[[]error] {
	return effect.Direct(func(f *scope.Fiber) ([]error, *scope.Cause) {
		errs, c := use(f, s, "", true, func(st *sqliteStore) ([]error, error) { return st.saveAll(writes) })
		if c != nil {
			return nil, c
		}
		for i, w := range writes {
			if errs[i] == nil && w.Next.IsTombstone() {
				s.announce(f, w.Next.Key)
			}
		}
		return errs, nil
	})
}

func (s *SQLite) announce(f *scope.Fiber, key string) {
	s.hub.tell(key)
	announceRelease(f, s.platform, s.beside(key, wakeSuffix))
}

// beside is the path of a file that belongs to the key.
func (s *SQLite) beside(key, suffix string) string {
	return s.path + "." + fileName(key) + "." + suffix
}

func (s *SQLite) place() string { return "sqlite:" + s.path }

// lookAgain makes the next read look whether the path still leads to the file: what
// is read under a fence decides whether work runs.
func (s *SQLite) lookAgain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store != nil {
		s.store.checked = time.Time{}
	}
}

// Fence implements Repository.
func (s *SQLite) Fence(key string) effect.Effect[effect.Unit] {
	if s.platform.SQLite == nil {
		return effect.Fail[effect.Unit](errNoSQLite(key))
	}
	return processFence(s.platform, key, s.beside(key, "fence"), s.lockOptions()...).
		Tap(func(effect.Unit) effect.Effect[effect.Unit] { return effect.SyncUnit(s.lookAgain) })
}

func (s *SQLite) lockOptions() []processlock.Option {
	options := []processlock.Option{processlock.CreatedLike(s.path)}
	if s.settings.network {
		options = append(options, processlock.AllowNetworkStorage())
	}
	return options
}

// WatchReleases implements ReleaseWatcher: releases through this value, and on
// Linux those of other processes on this machine.
func (s *SQLite) WatchReleases(key string, changed func()) effect.Effect[effect.Unit] {
	return s.hub.watch(key, changed).AndThen(watchWake(s.platform, s.beside(key, wakeSuffix), changed))
}

// Close closes the database. Calls that follow fail with RepositoryUnavailable.
func (s *SQLite) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return s.drop()
}

func (s *SQLite) drop() error {
	if s.store == nil {
		return nil
	}
	st := s.store
	s.store = nil
	return st.conn.Close()
}

// busyFor is how long a locked database is tried.
const busyFor = 500 * time.Millisecond

// use runs op on the connection, again while others have the database locked.
// The pauses are on the runtime's clock, can be interrupted and keep nobody.
func use[A any](f *scope.Fiber, s *SQLite, key string, writes bool, op func(*sqliteStore) (A, error)) (A, *scope.Cause) {
	began, pause := f.Clock().Monotonic(), time.Millisecond
	for {
		v, c := offload(f, func() (A, error) { return locked(s, writes, op) })
		if c == nil {
			return v, nil
		}
		err, ok := c.Failure()
		if !ok {
			return v, c
		}
		if _, conflict := errors.AsType[*RevisionConflict](err); conflict {
			return v, c
		}
		waited := f.Clock().Monotonic() - began
		if !platform.IsBusy(err) || waited >= busyFor {
			return v, c.MapErrors(func(err error) error { return keyed(key, platformFailure(key, err)) })
		}
		if o, ok := ObserverService.Find(f.Env()); ok {
			o.tell(BusyRetry{Key: key, Waited: waited})
		}
		// Half of it at random, so that contenders do not meet again.
		if _, c := effect.RunOn(f, effect.Sleep(pause/2+rand.N(pause/2))); c != nil {
			return v, c
		}
		pause = min(2*pause, 16*time.Millisecond)
	}
}

// locked runs op with the connection to itself.
func locked[A any](s *SQLite, writes bool, op func(*sqliteStore) (A, error)) (v A, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return v, &RepositoryFailure{Reason: RepositoryUnavailable, Message: "the repository is closed"}
	}
	// A connection to files that were removed or replaced would agree with nobody.
	replaced := s.store != nil && s.store.moved(writes)
	if replaced {
		_ = s.drop()
	}
	if s.store == nil {
		if s.store, err = openStore(s.platform, s.path, s.settings); err != nil {
			return v, err
		}
	}
	s.store.replaced = replaced
	sound := false
	// What failed in a way that is not understood, or panicked, is not used again.
	defer func() {
		if !sound {
			_ = s.drop()
		}
	}()
	v, err = op(s.store)
	// What was written into files that were removed meanwhile is written nowhere.
	if writes && err == nil && s.store.moved(true) {
		return v, &RepositoryFailure{
			Reason: RepositoryIO, Message: "the database, or its -wal or -shm file, was removed or replaced during the write",
		}
	}
	s.store.replaced = false
	sound = !s.store.conn.InTransaction() && (platform.ReasonOf(err) == "" || platform.IsBusy(err))
	return v, err
}

// keyed sets the key of a failure that was made where it was not known.
func keyed(key string, err error) error {
	if e, ok := errors.AsType[*RepositoryFailure](err); ok && e.Key == "" {
		e.Key = key
	}
	return err
}
