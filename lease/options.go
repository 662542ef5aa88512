package lease

// RepositoryOption changes how a repository on files works.
type RepositoryOption func(*repositorySettings)

type repositorySettings struct {
	network       bool
	withoutSQLite bool
	checked       bool
}

// AllowNetworkStorage does not refuse a location on a network file system.
// Whether anybody is kept out there is between you and that file system.
func AllowNetworkStorage() RepositoryOption {
	return func(s *repositorySettings) { s.network = true }
}

// WithoutSQLite makes the guard and the fences of a FileRepository lock files in
// place of SQLite databases. All who use one directory must agree.
func WithoutSQLite() RepositoryOption {
	return func(s *repositorySettings) { s.withoutSQLite = true }
}

func repositorySettingsOf(options []RepositoryOption) (s repositorySettings) {
	for _, o := range options {
		o(&s)
	}
	return s
}
