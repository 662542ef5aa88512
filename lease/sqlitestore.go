package lease

import (
	"time"

	"github.com/rivus/tether/platform"
)

// The SQL. The table is the TypeScript package's, too; nothing may be added.
const (
	sqlVersion = "PRAGMA user_version"
	sqlSchema  = `CREATE TABLE lease_record (key TEXT PRIMARY KEY, generation INTEGER NOT NULL, ` +
		`revision INTEGER NOT NULL, holder TEXT, holder_id TEXT, renewed_at INTEGER NOT NULL) STRICT`
	sqlForeign = "SELECT count(*) FROM sqlite_schema"
	// A holder that is far too long is not even read into memory.
	sqlLoad = "SELECT generation, revision, renewed_at, holder, holder_id FROM lease_record WHERE key = ?1 " +
		"AND ifnull(octet_length(holder), 0) <= 65536 AND ifnull(octet_length(holder_id), 0) <= 65536"
	sqlTooLong = "SELECT 1 FROM lease_record WHERE key = ?1 " +
		"AND (octet_length(holder) > 65536 OR octet_length(holder_id) > 65536)"
	sqlInsert = "INSERT INTO lease_record (key, generation, revision, holder, holder_id, renewed_at) " +
		"VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (key) DO NOTHING"
	// A database that was set back counts its revisions anew: a renewal is one of the
	// same acquisition only, whatever the revision.
	sqlUpdate = "UPDATE lease_record SET generation = ?2, revision = ?3, holder = ?4, holder_id = ?5, renewed_at = ?6 " +
		"WHERE key = ?1 AND revision = ?7 AND generation >= ?8 AND (generation <> ?2 OR ?5 IS NULL OR holder_id IS ?5)"
	sqlRevision = "SELECT revision, generation FROM lease_record WHERE key = ?1"
)

// sqliteStore is one open connection. It is used by one goroutine at a time, and
// no call leaves a transaction open. Its errors are *platform.Failure,
// *RepositoryFailure (without the key) and *RevisionConflict.
type sqliteStore struct {
	conn platform.SQLiteConn
	// wal: the database is in WAL mode, where a commit that raises no generation
	// need not be synced.
	wal bool
	// synced: synchronous is FULL or EXTRA now, not NORMAL.
	synced bool

	begin, commit, rollback                 platform.SQLiteStmt
	query, tooLong, insert, update, current platform.SQLiteStmt

	// mine are the acquisitions that were written here and not released, by key.
	// A write for one of them is expected to be a renewal. It is a guess: the
	// statement itself sees to it that no generation is raised without a sync.
	mine map[string]string
	// holders keeps the holders that were decoded last: most records name one of
	// a few processes.
	holders map[string]Holder
	buffer  []byte
	// replaced: the call at hand found that this database is another one than those
	// before it, from which its caller's revisions are.
	replaced bool
	// checked is when the path was last seen to lead to this file.
	checked time.Time
}

func errNoSQLite(key string) error {
	return &RepositoryFailure{
		Key: key, Reason: RepositoryUnavailable,
		Message: "this platform has no SQLite; use a FileRepository",
	}
}

// moved tells whether the path leads to another file now, or none. Who writes
// always looks; who reads, ten times a second at most, since a look costs as much
// as a read.
func (s *sqliteStore) moved(writes bool) bool {
	now := time.Now()
	if !writes && now.Sub(s.checked) < 100*time.Millisecond {
		return false
	}
	s.checked = now
	moved, err := s.conn.Moved()
	return moved || err != nil
}

// sync sets whether the commits that follow survive a power cut. Without a WAL
// every commit does: there NORMAL could damage the file.
func (s *sqliteStore) sync(durable bool) error {
	durable = durable || !s.wal
	if durable == s.synced {
		return nil
	}
	level := "NORMAL"
	if durable {
		level = "FULL"
		if !s.wal {
			level = "EXTRA"
		}
	}
	if err := s.conn.Exec("PRAGMA synchronous = " + level); err != nil {
		return err
	}
	s.synced = durable
	return nil
}

// run steps a statement without rows to its end.
func (s *sqliteStore) run(stmt platform.SQLiteStmt) error {
	_, err := stmt.Step()
	if reset := stmt.Reset(); err == nil {
		err = reset
	}
	return err
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
