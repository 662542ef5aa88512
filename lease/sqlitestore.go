package lease

import (
	"math"
	"runtime"
	"time"

	"github.com/rivus/tether/platform"
	"github.com/samber/mo"
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
	sqlUpdate = "UPDATE lease_record SET generation = ?2, revision = ?3, holder = ?4, holder_id = ?5, renewed_at = ?6 " +
		"WHERE key = ?1 AND revision = ?7 AND generation >= ?8"
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
	// checked is when the path was last seen to lead to this file.
	checked time.Time
}

// openStore opens the database at path and makes its table when it is new.
// Nothing is written to a database of another version, or of somebody else.
func openStore(p *platform.Platform, path string, s repositorySettings) (*sqliteStore, error) {
	if !s.network {
		dir, err := p.FS.ResolveDir(platform.Dir(path))
		if err != nil {
			return nil, err
		}
		if err := checkStorage(p, dir); err != nil {
			return nil, err
		}
	}
	if p.SQLite == nil {
		return nil, errNoSQLite("")
	}
	conn, err := p.SQLite.Open(path, platform.OpenOrCreate)
	if err != nil {
		return nil, err
	}
	st := &sqliteStore{conn: conn, mine: make(map[string]string), holders: make(map[string]Holder)}
	if err := st.prepare(); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return st, nil
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

func (s *sqliteStore) prepare() error {
	version, err := s.number(sqlVersion)
	if err != nil {
		return err
	}
	if version != 0 && version != 1 {
		return unsupported("its user_version is " + number(version) + ", and this program knows 1; use a newer program")
	}
	if version == 0 {
		// Somebody else's database stays as it is.
		if err := s.checkNew(); err != nil {
			return err
		}
	}
	if runtime.GOOS == "darwin" {
		if err := s.conn.Exec("PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1"); err != nil {
			return err
		}
	}
	mode, err := s.text("PRAGMA journal_mode = WAL")
	if err != nil {
		return err
	}
	s.wal = mode == "wal"
	if err := s.sync(true); err != nil {
		return err
	}
	if version == 0 {
		if err := s.create(); err != nil {
			return err
		}
	}
	for _, x := range []struct {
		into *platform.SQLiteStmt
		sql  string
	}{
		{&s.begin, "BEGIN IMMEDIATE"},
		{&s.commit, "COMMIT"},
		{&s.rollback, "ROLLBACK"},
		{&s.query, sqlLoad},
		{&s.tooLong, sqlTooLong},
		{&s.insert, sqlInsert},
		{&s.update, sqlUpdate},
		{&s.current, sqlRevision},
	} {
		if *x.into, err = s.conn.Prepare(x.sql); err != nil {
			if platform.ReasonOf(err) == platform.ReasonIO {
				return unsupported("its table is not the one of version 1: " + err.Error())
			}
			return err
		}
	}
	return nil
}

func (s *sqliteStore) checkNew() error {
	tables, err := s.number(sqlForeign)
	if err != nil {
		return err
	}
	if tables > 0 {
		// Another process may just have made the table; then the version is 1.
		if version, err := s.number(sqlVersion); err != nil || version == 1 {
			return err
		}
		return unsupported("it is another program's database: it has tables, and its user_version is 0; choose another path")
	}
	return nil
}

// create makes the table, unless another process has made it meanwhile.
func (s *sqliteStore) create() error {
	if err := s.conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := func() error {
		version, err := s.number(sqlVersion)
		if err != nil || version == 1 {
			return err
		}
		if version != 0 {
			return unsupported("its user_version is " + number(version))
		}
		if err := s.checkNew(); err != nil {
			return err
		}
		return s.conn.Exec(sqlSchema + "; PRAGMA user_version = 1")
	}()
	if err == nil {
		err = s.conn.Exec("COMMIT")
	}
	if err != nil && s.conn.InTransaction() {
		_ = s.conn.Exec("ROLLBACK")
	}
	return err
}

func unsupported(why string) error {
	return &RepositoryFailure{Reason: RepositoryUnsupportedSchema, Message: why}
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

// number and text run a statement once and give its first column.
func (s *sqliteStore) number(sql string) (n int64, err error) {
	err = s.once(sql, func(stmt platform.SQLiteStmt) { n = stmt.ColumnInt64(0) })
	return n, err
}

func (s *sqliteStore) text(sql string) (text string, err error) {
	err = s.once(sql, func(stmt platform.SQLiteStmt) { text = stmt.ColumnText(0) })
	return text, err
}

func (s *sqliteStore) once(sql string, read func(platform.SQLiteStmt)) error {
	stmt, err := s.conn.Prepare(sql)
	if err != nil {
		return err
	}
	defer stmt.Close()
	row, err := stmt.Step()
	if err != nil {
		return err
	}
	if row {
		read(stmt)
	}
	return nil
}

// load reads the key's record.
func (s *sqliteStore) load(key string) (mo.Option[Record], error) {
	if err := s.query.BindText(1, key); err != nil {
		return mo.None[Record](), err
	}
	row, err := s.query.Step()
	if err != nil || !row {
		_ = s.query.Reset()
		if err == nil {
			err = s.checkMissing(key)
		}
		return mo.None[Record](), err
	}
	r, err := s.decode(key)
	if reset := s.query.Reset(); err == nil {
		err = reset
	}
	if err != nil {
		return mo.None[Record](), err
	}
	return mo.Some(r), nil
}

// checkMissing tells a key without a record from one whose record is too long to
// be read. It asks for just that: since the query another process may have written
// the key's first record, which is none of its business.
func (s *sqliteStore) checkMissing(key string) error {
	if err := s.tooLong.BindText(1, key); err != nil {
		return err
	}
	row, err := s.tooLong.Step()
	_ = s.tooLong.Reset()
	if err == nil && row {
		err = invalidStored(invalid("its holder or holder_id is longer than any holder needs"))
	}
	return err
}

func (s *sqliteStore) decode(key string) (Record, error) {
	q := s.query
	r := Record{Key: key, Generation: q.ColumnInt64(0), Revision: q.ColumnInt64(1), RenewedAt: float64(q.ColumnInt64(2))}
	if !q.ColumnIsNull(3) {
		s.buffer = q.AppendColumnText(s.buffer[:0], 3)
		h, known := s.holders[string(s.buffer)]
		if !known {
			if err := h.UnmarshalJSON(s.buffer); err != nil {
				return r, invalidStored(err)
			}
			if len(s.holders) >= 64 {
				clear(s.holders)
			}
			s.holders[string(s.buffer)] = h
		}
		r.Holder = mo.Some(h)
	}
	if !q.ColumnIsNull(4) {
		r.HolderID = mo.Some(q.ColumnText(4))
	}
	if err := r.Validate(); err != nil {
		return r, invalidStored(err)
	}
	return r, nil
}

func invalidStored(err error) error {
	return &RepositoryFailure{
		Reason: RepositoryInvalidRecord, Cause: err,
		Message: "the stored record is invalid and was left as it is: " + err.Error(),
	}
}

// save compares and swaps.
func (s *sqliteStore) save(key string, next Record, expected mo.Option[int64]) error {
	done, err := s.swap(key, next, expected, !s.renews(next, expected))
	if err == nil && !done {
		// It raises the generation after all.
		_, err = s.swap(key, next, expected, true)
	}
	s.note(key, next, err)
	return err
}

// renews guesses that the write raises no generation.
func (s *sqliteStore) renews(next Record, expected mo.Option[int64]) bool {
	id, holds := next.HolderID.Get()
	return expected.IsPresent() && (!holds || s.mine[next.Key] == id)
}

func (s *sqliteStore) note(key string, next Record, err error) {
	id, holds := next.HolderID.Get()
	if err == nil && holds {
		s.mine[key] = id
	} else {
		delete(s.mine, key)
	}
}

// swap is one transaction. done is false, and nothing is written, when it would
// raise the generation without being durable.
func (s *sqliteStore) swap(key string, next Record, expected mo.Option[int64], durable bool) (done bool, err error) {
	err = s.transact(durable, func() (writes bool, err error) {
		done, err = s.write(key, next, expected, durable)
		return done, err
	})
	return done && err == nil, err
}

// saveAll is save of each, in one transaction where that suffices. The error is one
// of all.
func (s *sqliteStore) saveAll(writes []Write) ([]error, error) {
	errs := make([]error, len(writes))
	done := make([]bool, len(writes))
	durable := false
	for i, w := range writes {
		errs[i] = checkSave(w.Next.Key, w.Next)
		durable = durable || errs[i] == nil && !s.renews(w.Next, w.Expected)
	}
	err := s.transact(durable, func() (wrote bool, err error) {
		for i, w := range writes {
			if errs[i] != nil {
				continue
			}
			done[i], err = s.write(w.Next.Key, w.Next, w.Expected, durable)
			if _, conflict := err.(*RevisionConflict); conflict {
				errs[i], err = err, nil
			}
			if err != nil {
				return false, err
			}
			wrote = wrote || done[i]
		}
		return wrote, nil
	})
	for i, w := range writes {
		switch {
		case err != nil:
			s.note(w.Next.Key, w.Next, err)
		case errs[i] == nil && !done[i]:
			errs[i] = s.save(w.Next.Key, w.Next, w.Expected)
			// The others are written: this must not look as if they were not.
			if platform.ReasonOf(errs[i]) != "" {
				errs[i] = platformFailure(w.Next.Key, errs[i])
			}
		default:
			s.note(w.Next.Key, w.Next, errs[i])
		}
	}
	return errs, err
}

// transact runs op in a transaction, which it commits when op has written. A failed
// one is rolled back.
func (s *sqliteStore) transact(durable bool, op func() (writes bool, err error)) error {
	if err := s.sync(durable); err != nil {
		return err
	}
	if err := s.run(s.begin); err != nil {
		return err
	}
	defer func() {
		if s.conn.InTransaction() {
			// The connection is dropped if this fails, too; see SQLite.use.
			_ = s.run(s.rollback)
		}
	}()
	writes, err := op()
	if err != nil || !writes {
		return err
	}
	return s.run(s.commit)
}

// write compares and swaps inside a transaction. done is false, and nothing is
// written, when it would raise the generation and the transaction is not durable.
func (s *sqliteStore) write(key string, next Record, expected mo.Option[int64], durable bool) (done bool, err error) {
	write, lowest := s.insert, next.Generation
	if revision, ok := expected.Get(); ok {
		write = s.update
		if durable {
			lowest = 0
		}
		if err := firstError(write.BindInt64(7, revision), write.BindInt64(8, lowest)); err != nil {
			return false, err
		}
	}
	if err := s.bind(write, key, next); err != nil {
		return false, err
	}
	if err := s.run(write); err != nil {
		return false, err
	}
	if s.conn.Changes() > 0 {
		return true, nil
	}
	stored, err := s.revision(key)
	if err != nil {
		return false, err
	}
	if stored == expected && !durable {
		return false, nil
	}
	return false, &RevisionConflict{Key: key, ExpectedRevision: expected, StoredRevision: stored}
}

func (s *sqliteStore) bind(stmt platform.SQLiteStmt, key string, r Record) error {
	holder, id := stmt.BindNull(4), stmt.BindNull(5)
	if h, ok := r.Holder.Get(); ok {
		s.buffer = h.appendJSON(s.buffer[:0])
		holder = stmt.BindText(4, string(s.buffer))
	}
	if text, ok := r.HolderID.Get(); ok {
		id = stmt.BindText(5, text)
	}
	// The column is an integer; a time beyond all integers is for nobody.
	renewedAt := int64(math.Max(math.MinInt64/2, math.Min(math.MaxInt64/2, r.RenewedAt)))
	return firstError(stmt.BindText(1, key), stmt.BindInt64(2, r.Generation), stmt.BindInt64(3, r.Revision),
		holder, id, stmt.BindInt64(6, renewedAt))
}

// revision is the stored one.
func (s *sqliteStore) revision(key string) (mo.Option[int64], error) {
	if err := s.current.BindText(1, key); err != nil {
		return mo.None[int64](), err
	}
	row, err := s.current.Step()
	revision := s.current.ColumnInt64(0)
	_ = s.current.Reset()
	if err != nil || !row {
		return mo.None[int64](), err
	}
	return mo.Some(revision), nil
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
