package lease

import (
	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/scope"
)

// MemoryRepository provides a repository in memory. Using the value twice in one
// build shares one store; each build makes a new one. It needs no services.
func MemoryRepository() effect.Layer {
	return RepositoryService.From(effect.Sync(NewMemoryRepository))
}

// SQLiteRepository provides a repository in the SQLite database at path, whose
// directory must exist. It needs platform.Service. The database is opened by the
// first call, or with the layer by [Checked], and closed with the layer.
func SQLiteRepository(path string, options ...RepositoryOption) effect.Layer {
	return RepositoryService.From(effect.AcquireRelease(
		platform.Service.Get().Map(func(p *platform.Platform) Repository { return NewSQLiteRepository(p, path, options...) }),
		func(r Repository, _ scope.Exit[any]) effect.Effect[effect.Unit] {
			return effect.SyncUnit(func() { _ = r.(*SQLite).Close() })
		}).FlatMap(func(r Repository) effect.Effect[Repository] { return checking(r, repositorySettingsOf(options)) }))
}

// FileRepository provides a repository of files in the directory dir, which must
// exist. It needs platform.Service.
func FileRepository(dir string, options ...RepositoryOption) effect.Layer {
	return RepositoryService.From(platform.Service.Get().FlatMap(func(p *platform.Platform) effect.Effect[Repository] {
		return checking(NewFileRepository(p, dir, options...), repositorySettingsOf(options))
	}))
}
