package main

import (
	"fmt"
	"math"
	"time"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/samber/mo"
)

// database reads a lease database. A lease.Repository knows one key at a time. It
// changes nothing, but that SQLite may make its -wal and -shm files; where it may not,
// a copy is read.
type database struct {
	platform *platform.Platform
	path     string
}

// page is a part of the keys, in their order.
type page struct {
	prefix string // those that begin so
	after  string // those behind it
	limit  int    // so many; 0: all
}

// only is the page of one key.
func only(key string) page { return page{prefix: key, limit: 1} }

const (
	sqlVersion = "PRAGMA user_version"
	sqlTables  = "SELECT name = 'lease_record' FROM sqlite_schema WHERE type = 'table'"
	columns    = "key, generation, revision, holder, holder_id, renewed_at"
	// Keys are compared byte by byte, as they are ordered. A key is behind itself when
	// nothing is behind; what begins with a prefix is from it on, up to what does not.
	sqlPage = "SELECT " + columns + " FROM lease_record WHERE key >= ?1 AND key > ?2 AND substr(key, 1, length(?1)) = ?1 ORDER BY key LIMIT ?3"
	// The first of a table may be the empty key, which is behind nothing.
	sqlFirst = "SELECT " + columns + " FROM lease_record WHERE key >= ?1 AND substr(key, 1, length(?1)) = ?1 ORDER BY key LIMIT ?2"
	// schemaVersion is that of the table that docs/formats.md describes.
	schemaVersion = 1
)

// entries are the keys of the page in order. Those whose record is none say so.
func (d database) entries(of page) (found []entry, err error) {
	err = d.retried(func(d database) error {
		found = nil
		return d.reading(func(conn platform.SQLiteConn) error {
			found, err = readPage(conn, of, d.judgement())
			return err
		})
	})
	return found, explain(d.path, toRead, err)
}

// retried calls read until the database is not busy, on a copy where it must be.
func (d database) retried(read func(database) error) (err error) {
	// The schema's lock and a writer's checkpoint are held for moments, and a writer
	// may be about to begin.
	for range 50 {
		if err = read(d); isFrozen(err) {
			err = d.readFrozen(read)
		}
		if !platform.IsBusy(err) && !errors.Is(err, errInUse) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

// reading calls read with the database open.
func (d database) reading(read func(platform.SQLiteConn) error) error {
	conn, err := d.open()
	if err != nil {
		return err
	}
	defer conn.Close()
	return read(conn)
}

// open opens a lease database.
func (d database) open() (platform.SQLiteConn, error) {
	if d.path == "" {
		return nil, errors.New("the path of the database is empty")
	}
	conn, err := d.platform.SQLite.Open(d.path, platform.OpenExisting)
	if err != nil {
		return nil, err
	}
	if err := isOurs(conn); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// judgement makes entries of records as of now.
func (d database) judgement() judgement {
	return judgement{now: d.platform.Clock.Now(), of: judgeBy(d.platform)}
}

// judgement judges the holders of one look.
type judgement struct {
	now time.Time
	of  func(platform.Identity) string
}

func readPage(conn platform.SQLiteConn, of page, j judgement) (found []entry, err error) {
	limit := int64(of.limit)
	if limit == 0 {
		limit = math.MaxInt64
	}
	sql := sqlPage
	if of.after == "" {
		sql = sqlFirst
	}
	stmt, err := prepared(conn, sql)
	if err != nil {
		return nil, err
	}
	defer stmt.Close()
	err = stmt.BindText(1, of.prefix)
	if err == nil && of.after != "" {
		err = stmt.BindText(2, of.after)
		if err == nil {
			err = stmt.BindInt64(3, limit)
		}
	} else if err == nil {
		err = stmt.BindInt64(2, limit)
	}
	if err != nil {
		return nil, err
	}
	err = rows(stmt, func(row platform.SQLiteStmt) { found = append(found, j.entry(row)) })
	return found, err
}

// countKeys counts the keys that begin so.
func countKeys(conn platform.SQLiteConn, prefix string) (n int, err error) {
	stmt, err := conn.Prepare("SELECT count(*) FROM lease_record WHERE key >= ?1 AND substr(key, 1, length(?1)) = ?1")
	if err != nil {
		return 0, err
	}
	defer stmt.Close()
	if err := stmt.BindText(1, prefix); err != nil {
		return 0, err
	}
	err = rows(stmt, func(row platform.SQLiteStmt) { n = int(row.ColumnInt64(0)) })
	return n, err
}

// prepared compiles a statement about the table, which another program's may be unlike.
func prepared(conn platform.SQLiteConn, sql string) (platform.SQLiteStmt, error) {
	stmt, err := conn.Prepare(sql)
	if platform.ReasonOf(err) == platform.ReasonIO {
		return nil, unsupported("its table lease_record is not the one of version 1; check the path: " + reasonOf(err))
	}
	return stmt, err
}

// entry is a row of columns.
func (j judgement) entry(row platform.SQLiteStmt) entry {
	r, err := record(row)
	if err != nil {
		return entry{Key: row.ColumnText(0), State: invalid, Problem: err.Error()}
	}
	return entryOf(r, row.ColumnInt64(5), j.now, j.of)
}

// isOurs tells a lease database from one of another program or version.
func isOurs(conn platform.SQLiteConn) error {
	var stored, tables int64
	ours := false
	err := each(conn, sqlVersion, func(row platform.SQLiteStmt) { stored = row.ColumnInt64(0) })
	if err == nil {
		err = each(conn, sqlTables, func(row platform.SQLiteStmt) {
			tables++
			ours = ours || row.ColumnInt64(0) == 1
		})
	}
	switch {
	case err != nil:
		return err
	case stored == schemaVersion && ours:
		return nil
	case stored > schemaVersion && ours:
		return unsupported(fmt.Sprintf("its format is version %d, and this program knows %d; use a newer tether", stored, schemaVersion))
	case tables == 0 && stored == 0:
		return unsupported("it is an empty database: a process lock, or one that no lease was ever taken in; check the path")
	default:
		return unsupported("it is another program's database; check the path")
	}
}

// unsupported is the failure that a lease in such a database has, without a key.
func unsupported(why string) error {
	return &lease.RepositoryFailure{Reason: lease.RepositoryUnsupportedSchema, Message: why}
}

func record(row platform.SQLiteStmt) (r lease.Record, err error) {
	r = lease.Record{
		Key: row.ColumnText(0), Generation: row.ColumnInt64(1), Revision: row.ColumnInt64(2),
		RenewedAt: float64(row.ColumnInt64(5)),
	}
	if !row.ColumnIsNull(3) {
		var h lease.Holder
		if err := h.UnmarshalJSON([]byte(row.ColumnText(3))); err != nil {
			return r, err
		}
		r.Holder = mo.Some(h)
	}
	if !row.ColumnIsNull(4) {
		r.HolderID = mo.Some(row.ColumnText(4))
	}
	return r, r.Validate()
}

// each runs a query.
func each(conn platform.SQLiteConn, sql string, see func(platform.SQLiteStmt)) error {
	stmt, err := conn.Prepare(sql)
	if err != nil {
		return err
	}
	defer stmt.Close()
	return rows(stmt, see)
}

// rows runs a statement to its end.
func rows(stmt platform.SQLiteStmt, see func(platform.SQLiteStmt)) error {
	for {
		row, err := stmt.Step()
		if err != nil || !row {
			return err
		}
		see(stmt)
	}
}

// entry is the one of key.
func (d database) entry(key string) (entry, error) {
	found, err := d.entries(only(key))
	if err != nil {
		return entry{}, err
	}
	if len(found) == 1 && found[0].Key == key {
		return found[0], nil
	}
	return entry{}, &noSuchKey{d.path, key}
}
