package processlock

import (
	"strconv"
	"time"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
)

// Option changes how a lock is taken or looked at.
type Option func(*settings)

type settings struct {
	wait      bool
	retry     time.Duration
	mechanism Mechanism
	network   bool
	like      string
}

// DefaultRetry is the first pause of a waiting Acquire.
const DefaultRetry = 50 * time.Millisecond

// Wait makes Acquire keep trying until it has the lock, its context ends, or
// something else than a holder is in the way. IsHeld ignores it.
func Wait() Option { return func(s *settings) { s.wait = true } }

// Retry sets the first pause of a waiting Acquire, which doubles up to 16 times
// it. It must be positive.
func Retry(pause time.Duration) Option { return func(s *settings) { s.retry = pause } }

// WithoutSQLite uses a lock file in place of a SQLite database. All who use one
// path must use the same mechanism.
func WithoutSQLite() Option { return func(s *settings) { s.mechanism = LockFile } }

// AllowNetworkStorage does not refuse a path on a network file system. Whether
// the lock excludes anybody there is between you and that file system.
func AllowNetworkStorage() Option { return func(s *settings) { s.network = true } }

// CreatedLike gives a lock database that has to be created the owner, group and mode
// of the file at path, as far as this process may, as SQLite does with the files that
// it keeps beside a database. It is for locks that belong to one. A relative path is
// that of the working directory now. Without the option, or where that file is
// missing, the lock's folder decides, as it does for lock files: see platform.FS.
func CreatedLike(path string) Option {
	if absolute, err := platform.Absolute(path); err == nil {
		path = absolute
	}
	return func(s *settings) { s.like = path }
}

func settingsOf(path string, options []Option) (settings, error) {
	s := settings{retry: DefaultRetry, mechanism: SQLite}
	for _, o := range options {
		o(&s)
	}
	if s.retry <= 0 {
		return s, failure(path, platform.ReasonInvalid, "Retry must be positive, not "+s.retry.String())
	}
	if s.retry > maxRetry {
		return s, failure(path, platform.ReasonInvalid, "Retry must be at most "+strconv.Itoa(int(maxRetry/time.Hour))+" hours, not "+s.retry.String())
	}
	return s, nil
}

// maxRetry keeps 16 times it, and a quarter more, inside a Duration.
const maxRetry = 24 * time.Hour

// Mechanism is how a lock is held.
type Mechanism uint8

// The mechanisms.
const (
	// SQLite: the path is a SQLite database that is locked. The kernel frees it.
	SQLite Mechanism = iota
	// LockFile: the path is a file that names its holder, whose death others judge.
	LockFile
)

// String is "sqlite" or "lock-file".
func (m Mechanism) String() string {
	if m == LockFile {
		return "lock-file"
	}
	return "sqlite"
}

// MarshalText implements encoding.TextMarshaler: "sqlite" or "file", as the TypeScript
// package names them in JSON.
func (m Mechanism) MarshalText() ([]byte, error) {
	if m == LockFile {
		return []byte("file"), nil
	}
	return []byte("sqlite"), nil
}

// UnmarshalText implements encoding.TextUnmarshaler. It fails on any other text.
func (m *Mechanism) UnmarshalText(text []byte) error {
	switch string(text) {
	case "sqlite":
		*m = SQLite
	case "file":
		*m = LockFile
	default:
		return errors.New("a mechanism is \"sqlite\" or \"file\"")
	}
	return nil
}
