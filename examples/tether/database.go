package main

import (
	"fmt"
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
	sqlAll     = "SELECT key, generation, revision, holder, holder_id, renewed_at FROM lease_record ORDER BY key"
	// version is the table's that docs/formats.md describes.
	version = 1
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
	return found, err
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
	stored := int64(0)
	if err := each(conn, sqlVersion, func(row platform.SQLiteStmt) { stored = row.ColumnInt64(0) }); err != nil {
		return nil, err
	}
	if stored != version {
		return nil, d.unsupported(fmt.Sprintf("it is no lease database of version %d: its user_version is %d", version, stored))
	}
	now, judge := d.platform.Clock.Now(), judgeBy(d.platform)
	all, err := conn.Prepare(sqlAll)
	if platform.ReasonOf(err) == platform.ReasonIO {
		return nil, d.unsupported("its table is not the one of version 1: " + err.Error())
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

// unsupported is the failure that a lease in such a database has, without a key.
type unsupported struct {
	*lease.RepositoryFailure
}

func (d database) unsupported(why string) error {
	return &unsupported{&lease.RepositoryFailure{Reason: lease.RepositoryUnsupportedSchema, Message: d.path + ": " + why}}
}

func (e *unsupported) Error() string { return string(e.Reason) + ": " + e.Message }

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
	return entry{}, fmt.Errorf("%s has no key %q", d.path, key)
}

// completeKeys completes KEY from the database, for the shell.
func completeKeys(path string) ([]string, cobra.ShellCompDirective) {
	all, err := database{platform.OS(), path}.entries()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	keys := make([]string, 0, len(all))
	for _, e := range all {
		// A shell may print what it completes: no key may move a cursor.
		if plain(e.Key) == e.Key {
			keys = append(keys, e.Key+"\t"+string(e.State))
		}
	}
	return keys, cobra.ShellCompDirectiveNoFileComp
}
