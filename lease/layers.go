package lease

import "github.com/rivus/tether/effect"

// MemoryRepository provides a repository in memory. Using the value twice in one
// build shares one store; each build makes a new one. It needs no services.
func MemoryRepository() effect.Layer {
	return RepositoryService.From(effect.Sync(NewMemoryRepository))
}
