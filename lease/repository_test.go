package lease_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// repositories are the ways to open one store, as other processes would.
var repositories = map[string]func(t *testing.T) (open func() lease.Repository){
	"memory": func(*testing.T) func() lease.Repository {
		r := lease.NewMemoryRepository()
		return func() lease.Repository { return r }
	},
	"sqlite": func(t *testing.T) func() lease.Repository {
		path := filepath.Join(t.TempDir(), "leases.db")
		return func() lease.Repository {
			r := lease.NewSQLiteRepository(platform.OS(), path)
			t.Cleanup(func() {
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			})
			return r
		}
	},
	"files": func(t *testing.T) func() lease.Repository {
		dir := t.TempDir()
		return func() lease.Repository { return lease.NewFileRepository(platform.OS(), dir) }
	},
	"files without SQLite": func(t *testing.T) func() lease.Repository {
		dir := t.TempDir()
		return func() lease.Repository { return lease.NewFileRepository(platform.OS(), dir, lease.WithoutSQLite()) }
	},
}

func onEach(t *testing.T, test func(t *testing.T, open func() lease.Repository)) {
	for name, store := range repositories {
		t.Run(name, func(t *testing.T) { test(t, store(t)) })
	}
}

// perform runs body on the parallel runtime.
func perform(t *testing.T, body func(do *effect.Do)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := effect.Run(ctx, effect.Scoped(effect.GenUnit(body))); err != nil {
		t.Fatal(err)
	}
}

func TestR1_LoadAndSave(t *testing.T) {
	keys := []string{
		key, "../x", "/", "a", "A", ".", "..", "nul\x00", "é😀", strings.Repeat("long", 1024), "!'()*.~", " ", "%",
	}
	onEach(t, func(t *testing.T, open func() lease.Repository) {
		a, b := open(), open()
		perform(t, func(do *effect.Do) {
			for _, key := range keys {
				if do.Await(a.Load(key)).IsPresent() {
					t.Fatalf("%.20q is there already", key)
				}
				first := record(1, 1, holderOf(9), "x")
				first.Key, first.RenewedAt = key, 1_700_000_000_000
				do.Await(a.Save(key, first, mo.None[int64]()))
				conflict := as[*lease.RevisionConflict](failure(do, b.Save(key, first, mo.None[int64]())))
				expect(t, "conflict", *conflict, lease.RevisionConflict{Key: key, StoredRevision: mo.Some(int64(1))})
				next := first
				next.Generation, next.Revision = 1<<53-1, 1<<53-1
				conflict = as[*lease.RevisionConflict](failure(do, b.Save(key, next, mo.Some(int64(7)))))
				expect(t, "conflict", *conflict, lease.RevisionConflict{
					Key: key, ExpectedRevision: mo.Some(int64(7)), StoredRevision: mo.Some(int64(1)),
				})
				do.Await(b.Save(key, next, mo.Some(int64(1))))
				expect(t, "record", do.Await(a.Load(key)), mo.Some(next))
				tombstone := lease.Record{Key: key, Generation: 1<<53 - 2, Revision: 1<<53 - 1}
				do.Await(a.Save(key, tombstone, mo.Some(int64(1<<53-1))))
				expect(t, "tombstone", do.Await(b.Load(key)), mo.Some(tombstone))
			}
			missing := as[*lease.RevisionConflict](failure(do, a.Save("new", lease.Record{Key: "new", Generation: 1, Revision: 2}, mo.Some(int64(1)))))
			expect(t, "missing", *missing, lease.RevisionConflict{Key: "new", ExpectedRevision: mo.Some(int64(1))})
			bad := as[*lease.RepositoryFailure](failure(do, a.Save("new", lease.Record{Key: "other", Generation: 1, Revision: 1}, mo.None[int64]())))
			expect(t, "reason", bad.Reason, lease.RepositoryInvalidRecord)
		})
	})
}

// F20, in one process: only success and conflict come out.
func TestR1_F20_CompareAndSwap(t *testing.T) {
	onEach(t, func(t *testing.T, open func() lease.Repository) {
		const workers, rounds = 6, 15
		var won atomic.Int64
		var wg sync.WaitGroup
		for i := range workers {
			r := open()
			wg.Go(func() {
				perform(t, func(do *effect.Do) {
					for range rounds {
						stored := do.Await(r.Load(key))
						expected, next := mo.None[int64](), record(1, 1, holderOf(9), fmt.Sprint(i))
						if old, ok := stored.Get(); ok {
							expected, next.Revision = mo.Some(old.Revision), old.Revision+1
						}
						if err := failure(do, r.Save(key, next, expected)); err == nil {
							won.Add(1)
						} else {
							as[*lease.RevisionConflict](err)
						}
					}
				})
			})
		}
		wg.Wait()
		perform(t, func(do *effect.Do) {
			expect(t, "revision", do.Await(open().Load(key)).OrEmpty().Revision, won.Load())
		})
	})
}

// Who waits is started at once and runs to its wait, as far as the runtime can tell:
// one that got in would have ended.
func TestR1_Fence(t *testing.T) {
	onEach(t, func(t *testing.T, open func() lease.Repository) {
		a, b := open(), open()
		perform(t, func(do *effect.Do) {
			s := scope.New(scope.Sequential)
			do.Await(a.Fence(key).ProvideScope(s))
			// The same key waits, and can be interrupted.
			waiter := do.Await(effect.ForkChild(in(b.Fence(key)), effect.StartImmediately))
			expect(t, "waits", waiting(waiter), true)
			do.Await(waiter.Interrupt())
			var inside, most, entered atomic.Int64
			enter := effect.SyncUnit(func() {
				entered.Add(1)
				most.Store(max(most.Load(), inside.Add(1)))
			})
			leave := effect.SyncUnit(func() { inside.Add(-1) })
			work := enter.AndThen(effect.YieldNow()).AndThen(effect.YieldNow()).AndThen(leave)
			var waiters []*effect.Fiber[unit]
			for i := range 8 {
				w := do.Await(effect.ForkChild(in([]lease.Repository{a, b}[i%2].Fence(key).AndThen(work)), effect.StartImmediately))
				expect(t, "waits", waiting(w), true)
				waiters = append(waiters, w)
			}
			// Other keys are not affected.
			do.Await(in(b.Fence("other")))
			expect(t, "inside", entered.Load(), int64(0))
			do.Await(effect.CloseScope(s, scope.ExitSucceed(0)))
			for _, w := range waiters {
				do.Await(w.Join())
			}
			expect(t, "entered", entered.Load(), int64(8))
			expect(t, "most inside", most.Load(), int64(1))
		})
	})
}

func waiting(fb *effect.Fiber[unit]) bool {
	_, ended := fb.Exited()
	return !ended
}

// The whole path on each repository, on both runtimes.
func TestWholePath(t *testing.T) {
	onEach(t, func(t *testing.T, open func() lease.Repository) {
		w := newWorld(open())
		body := func(do *effect.Do) {
			for range 2 {
				before := do.Await(w.repo.Load(key)).OrEmpty().Generation
				do.Await(in(effect.GenUnit(func(do *effect.Do) {
					l := do.Await(w.manager().Acquire(key))
					as[*lease.Held](failure(do, w.manager().Acquire(key)))
					token := do.Await(l.RunFenced(func(token lease.FencingToken) effect.Effect[lease.FencingToken] { return effect.Succeed(token) }))
					expect(t, "generation", token.Generation, before+1)
				})))
				expect(t, "tombstone", do.Await(w.repo.Load(key)).OrEmpty().IsTombstone(), true)
			}
		}
		perform(t, body)
		simulate(t, body)
	})
}

func TestR3_SQLiteFile(t *testing.T) {
	const table = "lease_record (key TEXT PRIMARY KEY, generation INTEGER NOT NULL, revision INTEGER NOT NULL, " +
		"holder TEXT, holder_id TEXT, renewed_at INTEGER NOT NULL) STRICT"
	for name, c := range map[string]struct {
		sql    string
		reason lease.RepositoryReason // "": it can be read
	}{
		"empty":          {"", ""},
		"from elsewhere": {"CREATE TABLE IF NOT EXISTS " + table + "; PRAGMA user_version = 1", ""},
		"of the other package": {"PRAGMA journal_mode=WAL; CREATE TABLE " + table + `; PRAGMA user_version = 1; INSERT INTO lease_record
			VALUES ('task:42', 9007199254740991, 9007199254740991, '{"host":"h","bootId":"b","pid":7,"startTime":9007199254740991,"more":{}}', 'x', 5)`, ""},
		"newer":                {"CREATE TABLE " + table + "; PRAGMA user_version = 2", lease.RepositoryUnsupportedSchema},
		"of another program":   {"CREATE TABLE users (a)", lease.RepositoryUnsupportedSchema},
		"another table":        {"CREATE TABLE lease_record (key TEXT); PRAGMA user_version = 1", lease.RepositoryUnsupportedSchema},
		"a broken holder":      {"CREATE TABLE " + table + "; PRAGMA user_version = 1; INSERT INTO lease_record VALUES ('task:42', 1, 1, '{', 'x', 5)", lease.RepositoryInvalidRecord},
		"half a holder":        {"CREATE TABLE " + table + "; PRAGMA user_version = 1; INSERT INTO lease_record VALUES ('task:42', 1, 1, NULL, 'x', 5)", lease.RepositoryInvalidRecord},
		"generation 0":         {"CREATE TABLE " + table + "; PRAGMA user_version = 1; INSERT INTO lease_record VALUES ('task:42', 0, 1, NULL, NULL, 5)", lease.RepositoryInvalidRecord},
		"F17 generation 2^53":  {"CREATE TABLE " + table + "; PRAGMA user_version = 1; INSERT INTO lease_record VALUES ('task:42', 9007199254740992, 9007199254740992, NULL, NULL, 5)", lease.RepositoryInvalidRecord},
		"F18 a holder of 4 MB": {"CREATE TABLE " + table + "; PRAGMA user_version = 1; INSERT INTO lease_record VALUES ('task:42', 1, 1, hex(zeroblob(2000000)), 'x', 5)", lease.RepositoryInvalidRecord},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			dump := func() string {
				return query(t, path, "SELECT group_concat(sql) FROM sqlite_schema") + query(t, path, "PRAGMA user_version")
			}
			if c.sql != "" {
				execute(t, path, c.sql)
			}
			before := dump()
			r := lease.NewSQLiteRepository(platform.OS(), path)
			defer r.Close()
			perform(t, func(do *effect.Do) {
				exit := do.Await(effect.Exit(r.Load(key)))
				if c.reason != "" {
					expect(t, "reason", as[*lease.RepositoryFailure](exit.Err()).Reason, c.reason)
					if after := dump(); after != before {
						t.Errorf("it was changed: %s, before %s", after, before)
					}
					return
				}
				if exit.IsFailure() {
					t.Fatal(exit)
				}
				do.Await(r.Save("new", lease.Record{Key: "new", Generation: 1, Revision: 1}, mo.None[int64]()))
			})
			if c.reason == "" {
				if got := dump(); got != "CREATE TABLE "+table+"1" {
					t.Errorf("schema: %s", got)
				}
			}
		})
	}
}

// F18, F24: what is no database, or not usable, is a typed failure in bounded time,
// and is left as it is.
func TestR2_F18_F24_OddPaths(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "nowhere"), link); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path   string
		reason lease.RepositoryReason
	}{
		"no database":       {write("text", strings.Repeat("no database ", 1000)), lease.RepositoryIO},
		"a directory":       {dir, lease.RepositoryIO},
		"missing directory": {filepath.Join(dir, "missing", "x.db"), lease.RepositoryIO},
		"a dangling link":   {link, lease.RepositoryIO},
		"too long":          {filepath.Join(dir, strings.Repeat("x", 5000)), lease.RepositoryUnavailable},
		"NUL":               {filepath.Join(dir, "a\x00b"), lease.RepositoryIO},
	} {
		t.Run(name, func(t *testing.T) {
			r := lease.NewSQLiteRepository(platform.OS(), c.path)
			defer r.Close()
			perform(t, func(do *effect.Do) {
				f := as[*lease.RepositoryFailure](failure(do, r.Load(key)))
				expect(t, "reason", f.Reason, c.reason)
				expect(t, "key", f.Key, key)
			})
		})
	}
	if data, err := os.ReadFile(filepath.Join(dir, "text")); err != nil || !strings.HasPrefix(string(data), "no database") {
		t.Error("the file was changed")
	}
}

func TestR5_RecordFiles(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		reason  lease.RepositoryReason
	}{
		"good":          {`{"schemaVersion":1,"record":{"key":"task:42","generation":3,"revision":4,"holder":null,"holderId":null,"renewedAt":5}}`, ""},
		"newer":         {`{"schemaVersion":2,"record":{}}`, lease.RepositoryUnsupportedSchema},
		"no version":    {`{"record":{}}`, lease.RepositoryInvalidRecord},
		"empty":         {"", lease.RepositoryInvalidRecord},
		"no record":     {`{"schemaVersion":1}`, lease.RepositoryInvalidRecord},
		"R6 other case": {`{"schemaVersion":1,"record":{"key":"TASK:42","generation":3,"revision":4,"holder":null,"holderId":null,"renewedAt":5}}`, lease.RepositoryInvalidRecord},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "task%3A42.lease.json")
			if err := os.WriteFile(path, []byte(c.content), 0o644); err != nil {
				t.Fatal(err)
			}
			r := lease.NewFileRepository(platform.OS(), dir)
			perform(t, func(do *effect.Do) {
				exit := do.Await(effect.Exit(r.Load(key)))
				if c.reason == "" {
					v, _ := exit.Value()
					expect(t, "record", v, mo.Some(lease.Record{Key: key, Generation: 3, Revision: 4, RenewedAt: 5}))
					return
				}
				expect(t, "reason", as[*lease.RepositoryFailure](exit.Err()).Reason, c.reason)
				expect(t, "reason of a save", as[*lease.RepositoryFailure](failure(do, r.Save(key, record(1, 1, holderOf(9), "x"), mo.None[int64]()))).Reason, c.reason)
			})
			if data, err := os.ReadFile(path); err != nil || string(data) != c.content {
				t.Errorf("the file is %q now, %v", data, err)
			}
		})
	}
}

// R3: a locked database is tried for half a second, on the runtime's clock, and
// other fibers go on.
func TestR3_Busy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	r := lease.NewSQLiteRepository(platform.OS(), path)
	defer r.Close()
	perform(t, func(do *effect.Do) { do.Await(r.Load(key)) })
	other, err := platform.OS().SQLite.Open(path, platform.OpenExisting)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	retries := 0
	simulate(t, func(do *effect.Do) {
		save := r.Save(key, record(1, 1, holderOf(9), "x"), mo.None[int64]()).
			ProvideService(lease.ObserverService, func(e lease.Event) {
				if _, ok := e.(lease.BusyRetry); ok {
					retries++
				}
			})
		f := as[*lease.RepositoryFailure](failure(do, save))
		expect(t, "reason", f.Reason, lease.RepositoryBusy)
		if at := now(do); at < 500*time.Millisecond || at > 600*time.Millisecond {
			t.Errorf("busy after %v", at)
		}
		if retries < 10 {
			t.Errorf("%d retries", retries)
		}
		// An interruption ends it, and the repository goes on working.
		if do.Await(effect.TimeoutOption(save, 100*time.Millisecond)).IsPresent() {
			t.Error("saved while locked")
		}
		do.Await(effect.ForkChild(effect.Sleep(200 * time.Millisecond).AndThen(effect.Try(func() (unit, error) {
			return unit{}, other.Exec("ROLLBACK")
		}))))
		do.Await(save)
	})
}

// A database that is replaced while it is open is noticed by the next call.
func TestR3_F22_ReplacedDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	r := lease.NewSQLiteRepository(platform.OS(), path)
	defer r.Close()
	perform(t, func(do *effect.Do) {
		do.Await(r.Save(key, record(1, 1, holderOf(9), "x"), mo.None[int64]()))
		for _, suffix := range []string{"", "-wal", "-shm"} {
			_ = os.Remove(path + suffix)
		}
		conflict := as[*lease.RevisionConflict](failure(do, r.Save(key, record(1, 2, holderOf(9), "x"), mo.Some(int64(1)))))
		expect(t, "stored", conflict.StoredRevision, mo.None[int64]())
	})
}

func TestR7_MemoryLayerIsShared(t *testing.T) {
	layer := lease.MemoryRepository()
	var mu sync.Mutex
	var seen []lease.Repository
	note := effect.LayerDiscard(lease.RepositoryService.Get().Map(func(r lease.Repository) unit {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r)
		return unit{}
	}))
	build := effect.Scoped(note.Provide(layer).Merge(note.Fresh().Provide(layer)).Build()).AsUnit()
	for range 2 {
		if _, err := effect.Run(context.Background(), build); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 4 || seen[0] != seen[1] || seen[2] != seen[3] || seen[0] == seen[2] {
		t.Errorf("%v", seen)
	}
}

// R8: a location on a network file system is refused by name, or allowed.
func TestR8_NetworkStorage(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		dir := t.TempDir()
		p := *platform.OS()
		p.FS = network{p.FS}
		var options []lease.RepositoryOption
		if allowed {
			options = append(options, lease.AllowNetworkStorage())
		}
		s := lease.NewSQLiteRepository(&p, filepath.Join(dir, "x.db"), options...)
		defer s.Close()
		for name, r := range map[string]lease.Repository{"sqlite": s, "files": lease.NewFileRepository(&p, dir, options...)} {
			perform(t, func(do *effect.Do) {
				for _, e := range []effect.Effect[unit]{
					r.Load(key).AsUnit(), r.Save(key, record(1, 1, holderOf(9), "x"), mo.None[int64]()), in(r.Fence(key)),
				} {
					err := failure(do, e)
					if allowed {
						expect(t, name, err, nil)
						continue
					}
					f := as[*lease.RepositoryFailure](err)
					expect(t, name, f.Reason, lease.RepositoryUnavailable)
					if !strings.Contains(f.Message, "nfs") {
						t.Error(f.Message)
					}
				}
			})
		}
	}
}

type network struct{ platform.FS }

func (network) FileSystemType(string) (platform.FileSystemType, error) {
	return platform.FileSystemType{Name: "nfs", Network: true}, nil
}

func execute(t *testing.T, path, sql string) {
	t.Helper()
	conn, err := platform.OS().SQLite.Open(path, platform.OpenOrCreate)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(conn.Exec(sql), conn.Close()); err != nil {
		t.Fatal(err)
	}
}

func query(t *testing.T, path, sql string) (text string) {
	t.Helper()
	conn, err := platform.OS().SQLite.Open(path, platform.OpenOrCreate)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	stmt, err := conn.Prepare(sql)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stmt.Step(); err != nil {
		t.Fatal(err)
	}
	return stmt.ColumnText(0)
}
