package lease

import (
	"context"
	"path/filepath"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/scope"
)

// checkName stands where the name of a key stands in a file's name. No key has it: in
// those a tilde is encoded, or has 64 characters before it.
const checkName = "~check"

// Checked makes the layer of a repository run its Check when it is built, so that a
// program with a repository that is of no use ends at its start. NewSQLiteRepository
// and NewFileRepository ignore it: call Check.
func Checked() RepositoryOption { return func(s *repositorySettings) { s.checked = true } }

// Check does everything that the repository will be asked to do, so that what is wrong
// is found at a program's start and not at the first acquisition: it opens the
// database, creates it when nothing is there, reads all of it, begins a transaction that
// may write, takes a fence of its own (PATH.~check.fence, which stays), and looks up who
// this process is. It changes no record. It fails with *RepositoryFailure, without a
// key, or with an error of ctx.
func (s *SQLite) Check(ctx context.Context) error {
	_, err := plainly(ctx, scope.NewParallel(), "", s.check())
	return err
}

func (s *SQLite) check() effect.Effect[effect.Unit] {
	store := effect.Direct(func(f *scope.Fiber) (effect.Unit, *scope.Cause) {
		return use(f, s, "", true, func(st *sqliteStore) (effect.Unit, error) { return effect.Unit{}, st.check() })
	})
	fence := effect.Suspend(func() effect.Effect[effect.Unit] {
		return processFence(s.platform, "", s.path+"."+checkName+".fence", s.lockOptions()...)
	})
	return store.AndThen(effect.Scoped(fence)).AndThen(checkSelf(s.platform))
}

// check reads the whole database and takes its write lock. It writes nothing.
func (s *sqliteStore) check() error {
	found, err := s.text("PRAGMA quick_check(1)")
	switch {
	case err != nil:
		return err
	case found != "ok":
		return &RepositoryFailure{Reason: RepositoryIO, Message: "the database is damaged: " + found + "; restore it from a backup, or recover it with sqlite3's .recover"}
	}
	if err := s.run(s.begin); err != nil {
		return err
	}
	return s.run(s.rollback)
}

// Check does everything that the repository will be asked to do, so that what is wrong
// is found at a program's start and not at the first acquisition: it looks for the
// directory, takes a guard and a fence of its own (~check.lease.guard and
// ~check.lease.fence, which stay), writes a file under the guard and removes it, and
// looks up who this process is. It changes no record. It fails with *RepositoryFailure,
// without a key, or with an error of ctx.
func (s *Files) Check(ctx context.Context) error {
	_, err := plainly(ctx, scope.NewParallel(), "", s.check())
	return err
}

func (s *Files) check() effect.Effect[effect.Unit] {
	path := func(suffix string) string {
		return s.dir + string(filepath.Separator) + checkName + ".lease." + suffix
	}
	lock := func(suffix string) effect.Effect[effect.Unit] {
		return effect.Suspend(func() effect.Effect[effect.Unit] {
			return processFence(s.platform, "", path(suffix), s.lockOptions()...)
		})
	}
	return attempted(s.admit).
		AndThen(effect.Scoped(lock("guard").AndThen(attempted(func() error {
			if err := s.platform.FS.WriteAtomic(path("tmp"), nil); err != nil {
				return err
			}
			return s.platform.FS.Remove(path("tmp"))
		})))).
		AndThen(effect.Scoped(lock("fence"))).
		AndThen(checkSelf(s.platform))
}

// attempted runs Go code that blocks for a moment at most, whose failure is the
// repository's.
func attempted(fn func() error) effect.Effect[effect.Unit] {
	return effect.Direct(func(f *scope.Fiber) (effect.Unit, *scope.Cause) {
		v, c := offload(f, func() (effect.Unit, error) { return effect.Unit{}, fn() })
		return v, c.MapErrors(func(err error) error { return platformFailure("", err) })
	})
}

// checkSelf looks whether a lease could name its holder.
func checkSelf(p *platform.Platform) effect.Effect[effect.Unit] {
	return attempted(func() error {
		if p.Process == nil {
			return &RepositoryFailure{Reason: RepositoryUnavailable, Message: "the platform has no Process; give it platform.OS()"}
		}
		_, err := p.Process.Self()
		if err == nil {
			return nil
		}
		return &RepositoryFailure{
			Reason: RepositoryUnavailable, Cause: err,
			Message: "a lease names its holder, and this process has no identity: " + err.Error(),
		}
	})
}

// checking is r, checked when the option asks for it.
func checking(r Repository, s repositorySettings) effect.Effect[Repository] {
	c, ok := r.(interface {
		check() effect.Effect[effect.Unit]
	})
	if !ok || !s.checked {
		return effect.Succeed(r)
	}
	return c.check().As(r)
}
