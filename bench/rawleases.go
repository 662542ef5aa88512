package main

import (
	"database/sql"
	"fmt"

	_ "modernc.org/sqlite" // database/sql's driver of the same SQLite

	"github.com/rivus/tether/internal/sqlite3"
)

const (
	holderJSON = `{"host":"host","bootId":"00000000-0000-0000-0000-000000000000","pid":4242,"startTime":123456789,"ttlMs":60000}`
	holderID   = "0123456789abcdef0123456789abcdef"

	rawSchema = "CREATE TABLE IF NOT EXISTS lease_record (key TEXT PRIMARY KEY, generation INTEGER NOT NULL, " +
		"revision INTEGER NOT NULL, holder TEXT, holder_id TEXT, renewed_at INTEGER NOT NULL) STRICT"
	rawInsert = "INSERT INTO lease_record VALUES (?1, 1, 1, NULL, NULL, 0) ON CONFLICT DO NOTHING"
	rawSwap   = "UPDATE lease_record SET generation = generation + ?1, revision = ?2, holder = ?3, holder_id = ?4, renewed_at = ?5 " +
		"WHERE key = ?6 AND revision = ?7"
	rawRead = "SELECT generation, revision, renewed_at, holder, holder_id FROM lease_record WHERE key = ?1"
)

// rawLeases is what a program would write by hand, on the driver that Tether uses:
// one compare-and-set a call. It remembers the revisions, as if it had just read
// them.
type rawLeases struct {
	conn                        *sqlite3.Conn
	begin, commit, update, read *sqlite3.Stmt
	revisions                   map[string]int64
}

func openRaw(path, level string, keys []string) *rawLeases {
	r := &rawLeases{revisions: make(map[string]int64, len(keys))}
	r.conn = must(sqlite3.Open(path, sqlite3.OpenReadWrite|sqlite3.OpenCreate|sqlite3.OpenNoMutex))
	check(r.conn.Exec("PRAGMA busy_timeout = 60000; PRAGMA journal_mode = WAL; PRAGMA synchronous = " + level + "; " + rawSchema))
	r.begin, r.commit = must(r.conn.Prepare("BEGIN IMMEDIATE")), must(r.conn.Prepare("COMMIT"))
	insert := must(r.conn.Prepare(rawInsert))
	r.step(r.begin)
	for _, key := range keys {
		check(insert.BindText(1, key))
		r.step(insert)
		r.revisions[key] = 1
	}
	r.step(r.commit)
	check(insert.Close())
	r.update, r.read = must(r.conn.Prepare(rawSwap)), must(r.conn.Prepare(rawRead))
	return r
}

func (r *rawLeases) step(s *sqlite3.Stmt) {
	must(s.Step())
	check(s.Reset())
}

// swap writes one record: a new acquisition when it raises the generation, a
// tombstone when it holds nothing, else a renewal.
func (r *rawLeases) swap(key string, raises, holds bool) {
	r.step(r.begin)
	r.write(key, raises, holds)
	r.step(r.commit)
}

func (r *rawLeases) write(key string, raises, holds bool) {
	u, revision := r.update, r.revisions[key]
	generation := int64(0)
	if raises {
		generation = 1
	}
	check(u.BindInt64(1, generation))
	check(u.BindInt64(2, revision+1))
	if holds {
		check(u.BindText(3, holderJSON))
		check(u.BindText(4, holderID))
	} else {
		check(u.BindNull(3))
		check(u.BindNull(4))
	}
	check(u.BindInt64(5, revision))
	check(u.BindText(6, key))
	check(u.BindInt64(7, revision))
	r.step(u)
	assert(r.conn.Changes() == 1, "the revision was the expected one")
	r.revisions[key] = revision + 1
}

func (r *rawLeases) load(key string) (generation int64) {
	check(r.read.BindText(1, key))
	assert(must(r.read.Step()), "there is a record")
	generation = r.read.ColumnInt64(0)
	_, _, _, _ = r.read.ColumnInt64(1), r.read.ColumnInt64(2), r.read.ColumnText(3), r.read.ColumnText(4)
	check(r.read.Reset())
	return generation
}

func (r *rawLeases) close() {
	for _, s := range []*sqlite3.Stmt{r.begin, r.commit, r.update, r.read} {
		check(s.Close())
	}
	check(r.conn.Close())
}

// sqlLeases is the same through database/sql.
type sqlLeases struct {
	db           *sql.DB
	update, read *sql.Stmt
	revisions    map[string]int64
}

func openSQL(path, level string, keys []string) *sqlLeases {
	openRaw(path, level, keys).close()
	r := &sqlLeases{revisions: make(map[string]int64, len(keys))}
	r.db = must(sql.Open("sqlite", fmt.Sprintf("file:%s?_pragma=synchronous(%s)&_txlock=immediate", path, level)))
	r.db.SetMaxOpenConns(1)
	r.update, r.read = must(r.db.Prepare(rawSwap)), must(r.db.Prepare(rawRead))
	for _, key := range keys {
		r.revisions[key] = 1
	}
	return r
}

func (r *sqlLeases) swap(key string, raises, holds bool) {
	tx := must(r.db.Begin())
	generation := 0
	if raises {
		generation = 1
	}
	var holder, id any
	if holds {
		holder, id = holderJSON, holderID
	}
	revision := r.revisions[key]
	result := must(tx.Stmt(r.update).Exec(generation, revision+1, holder, id, revision, key, revision))
	assert(must(result.RowsAffected()) == 1, "the revision was the expected one")
	check(tx.Commit())
	r.revisions[key] = revision + 1
}

func (r *sqlLeases) load(key string) (generation int64) {
	var revision, renewedAt int64
	var holder, id sql.NullString
	check(r.read.QueryRow(key).Scan(&generation, &revision, &renewedAt, &holder, &id))
	return generation
}

func (r *sqlLeases) close() {
	check(r.update.Close())
	check(r.read.Close())
	check(r.db.Close())
}
