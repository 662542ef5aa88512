package lease

import (
	"path/filepath"
	"runtime"

	"github.com/rivus/tether/platform"
)

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
		// A mount may be of the file alone, as containers have them.
		if err := checkStorage(p, filepath.Join(dir, filepath.Base(path))); err != nil && !platform.IsNotFound(err) {
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
