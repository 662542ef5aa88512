package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/samber/mo"
	"github.com/spf13/cobra"
)

// database reads a lease database whole. A lease.Repository knows one key at a time.
// It changes nothing, but that SQLite may make its -wal and -shm files; where it may
// not, a copy is read.
type database struct {
	platform *platform.Platform
	path     string
}

const (
	sqlVersion = "PRAGMA user_version"
	sqlTables  = "SELECT name = 'lease_record' FROM sqlite_schema WHERE type = 'table'"
	sqlAll     = "SELECT key, generation, revision, holder, holder_id, renewed_at FROM lease_record ORDER BY key"
	// schemaVersion is that of the table that docs/formats.md describes.
	schemaVersion = 1
)

// entries are all keys in order. Those whose record is none say so.
func (d database) entries() (found []entry, err error) {
	// The schema's lock and a writer's checkpoint are held for moments, and a writer
	// may be about to begin.
	for range 50 {
		if found, err = d.read(); isFrozen(err) {
			found, err = d.readFrozen()
		}
		if !platform.IsBusy(err) && !errors.Is(err, errInUse) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return found, explain(d.path, toRead, err)
}

func (d database) read() (found []entry, err error) {
	if d.path == "" {
		return nil, errors.New("the path of the database is empty")
	}
	conn, err := d.platform.SQLite.Open(d.path, platform.OpenExisting)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := isOurs(conn); err != nil {
		return nil, err
	}
	now, judge := d.platform.Clock.Now(), judgeBy(d.platform)
	all, err := conn.Prepare(sqlAll)
	if platform.ReasonOf(err) == platform.ReasonIO {
		return nil, unsupported("its table lease_record is not the one of version 1; check the path: " + reasonOf(err))
	}
	if err != nil {
		return nil, err
	}
	err = rows(all, func(row platform.SQLiteStmt) {
		r, err := record(row)
		if err != nil {
			found = append(found, entry{Key: row.ColumnText(0), State: invalid, Problem: err.Error()})
			return
		}
		found = append(found, entryOf(r, row.ColumnInt64(5), now, judge))
	})
	return found, err
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
	return rows(stmt, see)
}

// rows runs a statement and closes it.
func rows(stmt platform.SQLiteStmt, see func(platform.SQLiteStmt)) error {
	defer stmt.Close()
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
	all, err := d.entries()
	if err != nil {
		return entry{}, err
	}
	for _, e := range all {
		if e.Key == key {
			return e, nil
		}
	}
	return entry{}, &noSuchKey{d.path, key}
}

// noSuchKey says that a database never had a lease of the key.
type noSuchKey struct{ path, key string }

func (e *noSuchKey) Error() string {
	return plain(e.path) + " has no key " + strconv.Quote(e.key) + "; tether ls " + shellQuote(e.path) + " lists those that it has"
}

// completeKeys completes a KEY that begins so from the database, for the shell.
func completeKeys(path, begun string) ([]string, cobra.ShellCompDirective) {
	all, err := database{platform.OS(), path}.entries()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	keys := make([]string, 0, len(all))
	for _, e := range all {
		// A shell may print what it completes: no key may move a cursor.
		if strings.HasPrefix(e.Key, begun) && plain(e.Key) == e.Key {
			keys = append(keys, e.Key+"\t"+string(e.State))
		}
	}
	return keys, cobra.ShellCompDirectiveNoFileComp
}
