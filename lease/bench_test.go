package lease_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// raw is what a program would write by hand: one compare-and-set a call.
type raw struct {
	conn                         platform.SQLiteConn
	begin, update, query, commit platform.SQLiteStmt
}

func newRaw(b *testing.B, level string) *raw {
	r := &raw{}
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	var err error
	r.conn, err = platform.OS().SQLite.Open(filepath.Join(b.TempDir(), "raw.db"), platform.OpenOrCreate)
	must(err)
	b.Cleanup(func() { _ = r.conn.Close() })
	must(r.conn.Exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=" + level + "; CREATE TABLE l (key TEXT PRIMARY KEY, " +
		"generation INTEGER, revision INTEGER, holder TEXT, holder_id TEXT, renewed_at INTEGER) STRICT; " +
		`INSERT INTO l VALUES ('task:42', 1, 1, '{"host":"h","bootId":"b","pid":1,"startTime":101,"ttlMs":60000}', 'x', 0)`))
	for into, sql := range map[*platform.SQLiteStmt]string{
		&r.begin: "BEGIN IMMEDIATE", &r.commit: "COMMIT",
		&r.update: "UPDATE l SET generation=?, revision=?, holder=?, holder_id=?, renewed_at=? WHERE key=? AND revision=?",
		&r.query:  "SELECT generation, revision, holder, holder_id, renewed_at FROM l WHERE key=?",
	} {
		*into, err = r.conn.Prepare(sql)
		must(err)
	}
	return r
}

func (r *raw) swap(b *testing.B, revision int64) {
	u := r.update
	for _, err := range []error{
		u.BindInt64(1, revision+1), u.BindInt64(2, revision+1),
		u.BindText(3, `{"host":"h","bootId":"b","pid":1,"startTime":101,"ttlMs":60000}`), u.BindText(4, "0123456789abcdef0123456789abcdef"),
		u.BindInt64(5, 1), u.BindText(6, key), u.BindInt64(7, revision),
	} {
		if err != nil {
			b.Fatal(err)
		}
	}
	for _, s := range []platform.SQLiteStmt{r.begin, u, r.commit} {
		if _, err := s.Step(); err != nil {
			b.Fatal(err)
		}
		_ = s.Reset()
	}
}

func BenchmarkRawSwapFull(b *testing.B)   { benchRaw(b, "FULL") }
func BenchmarkRawSwapNormal(b *testing.B) { benchRaw(b, "NORMAL") }

func benchRaw(b *testing.B, level string) {
	r := newRaw(b, level)
	for i := int64(1); b.Loop(); i++ {
		r.swap(b, i)
	}
}

func BenchmarkRawRead(b *testing.B) {
	r := newRaw(b, "FULL")
	for b.Loop() {
		_ = r.query.BindText(1, key)
		if row, err := r.query.Step(); !row || err != nil {
			b.Fatal(err)
		}
		_, _, _ = r.query.ColumnInt64(0), r.query.ColumnText(2), r.query.ColumnText(3)
		_ = r.query.Reset()
	}
}

// benchOn runs body on a SQLite repository.
func benchOn(b *testing.B, body func(do *effect.Do, r lease.Repository)) {
	r := lease.NewSQLiteRepository(platform.OS(), filepath.Join(b.TempDir(), "leases.db"))
	defer r.Close()
	if _, err := effect.Run(context.Background(), effect.Scoped(effect.GenUnit(func(do *effect.Do) { body(do, r) }))); err != nil {
		b.Fatal(err)
	}
}

func benchSave(b *testing.B, raises bool) {
	benchOn(b, func(do *effect.Do, r lease.Repository) {
		h := holderOf(1)
		h.TTL = ttl
		rec := record(1, 1, h, "0123456789abcdef0123456789abcdef")
		do.Await(r.Save(key, rec, mo.None[int64]()))
		for b.Loop() {
			rec.Revision++
			if raises {
				rec.Generation++
			}
			do.Await(r.Save(key, rec, mo.Some(rec.Revision-1)))
		}
	})
}

func BenchmarkSaveAcquire(b *testing.B) { benchSave(b, true) }
func BenchmarkSaveRenew(b *testing.B)   { benchSave(b, false) }

func BenchmarkRead(b *testing.B) {
	benchOn(b, func(do *effect.Do, r lease.Repository) {
		m, _ := lease.NewManager(platform.OS(), r, config)
		do.Await(m.Acquire(key))
		for b.Loop() {
			do.Await(m.Read(key))
		}
	})
}

// BenchmarkAcquireRelease is a synced and an unsynced commit, two reads, and the
// handle with its heartbeat; compare with the sum of the raw swaps.
func BenchmarkAcquireRelease(b *testing.B) {
	benchOn(b, func(do *effect.Do, r lease.Repository) {
		m, _ := lease.NewManager(platform.OS(), r, config)
		for b.Loop() {
			s := scope.New(scope.Sequential)
			do.Await(m.Acquire(key).ProvideScope(s))
			do.Await(effect.CloseScope(s, scope.ExitSucceed(0)))
		}
	})
}
