package lease_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// L1: every acquisition has an id of its own, of 128 random bits.
func TestL1_HolderIDIsFresh(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	seen := map[string]bool{}
	simulate(t, func(do *effect.Do) {
		for range 100 {
			do.Await(in(w.manager().Acquire(key).Tap(func(*lease.Lease) effect.Effect[unit] {
				return w.repo.Load(key).Map(func(r mo.Option[lease.Record]) unit {
					id := r.OrEmpty().HolderID.OrEmpty()
					if len(id) != 32 || seen[id] {
						t.Errorf("%q", id)
					}
					seen[id] = true
					return unit{}
				})
			})))
		}
	})
}

// L14: Blocking code keeps the fence until it returns, whatever becomes of the lease;
// a goroutine of TryPromise that is left behind does not.
func TestL14_BlockingKeepsTheFence(t *testing.T) {
	for name, blocking := range map[string]bool{"Blocking": true, "TryPromise": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(lease.NewMemoryRepository())
			began, cancelled, release, returned := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
			code := func(ctx context.Context) (unit, error) {
				close(began)
				<-ctx.Done()
				close(cancelled)
				<-release
				close(returned)
				return unit{}, nil
			}
			perform(t, func(do *effect.Do) {
				await := func(c chan struct{}) {
					do.Await(effect.Blocking(func(context.Context) (unit, error) { <-c; return unit{}, nil }))
				}
				s := scope.New(scope.Sequential)
				l := do.Await(w.manager().Acquire(key).ProvideScope(s))
				work := do.Await(effect.ForkChild(l.RunFenced(func(lease.FencingToken) effect.Effect[unit] {
					if blocking {
						return effect.Blocking(code)
					}
					return effect.TryPromise(code)
				})))
				await(began)
				closing := do.Await(effect.ForkChild(effect.CloseScope(s, scope.ExitSucceed(0))))
				await(cancelled)
				if blocking {
					// The lease is not even released yet: the close waits for the work.
					expect(t, "held", w.stored(do).IsTombstone(), false)
					free := do.Await(effect.TimeoutOption(in(w.repo.Fence(key)), 10*time.Millisecond))
					expect(t, "fence is free", free.IsPresent(), false)
				} else {
					do.Await(closing.Join())
					do.Await(in(w.repo.Fence(key)))
				}
				close(release)
				await(returned)
				do.Await(closing.Join())
				as[*lease.Lost](failure(do, work.Join()))
				do.Await(in(w.repo.Fence(key)))
			})
		})
	}
}

// L15: who loses a lease and takes it again has a new generation; the old handle is
// of no use, and a resource that saw the new token refuses the old one.
func TestL15_LostAndTakenAgain(t *testing.T) {
	r := newScripted()
	w := newWorld(r)
	simulate(t, func(do *effect.Do) {
		m := w.manager()
		old := do.Await(m.Acquire(key))
		r.onSave = func(int) plan { return failBefore(ioFailure()) }
		lost, _ := lossAt(do, old)
		expect(t, "reason", lost.Reason, lease.LostExpired)
		r.onSave = nil
		again := do.Await(m.Acquire(key, lease.Wait()))
		expect(t, "generation", again.Token().Generation, old.Token().Generation+1)
		if as[*lease.Lost](failure(do, old.RunFenced(noWork(t)))) != lost {
			t.Error("another loss")
		}
		seen := do.Await(again.RunFenced(func(token lease.FencingToken) effect.Effect[lease.FencingToken] { return effect.Succeed(token) }))
		_, err := lease.CheckFence(mo.Some(seen), old.Token()).Get()
		as[*lease.FenceRejected](err)
	})
}

// R2: a platform without SQLite has no SQLite repository, and its files have lock
// files for locks.
func TestR2_PlatformWithoutSQLite(t *testing.T) {
	p := *platform.OS()
	p.SQLite = nil
	dir := t.TempDir()
	s := lease.NewSQLiteRepository(&p, filepath.Join(dir, "x.db"))
	defer s.Close()
	perform(t, func(do *effect.Do) {
		for _, e := range []effect.Effect[unit]{
			s.Load(key).AsUnit(), s.Save(key, record(1, 1, holderOf(9), "x"), mo.None[int64]()), in(s.Fence(key)),
		} {
			f := as[*lease.RepositoryFailure](failure(do, e))
			expect(t, "reason", f.Reason, lease.RepositoryUnavailable)
			expect(t, "key", f.Key, key)
		}
		files := lease.NewFileRepository(&p, dir)
		do.Await(files.Save(key, record(1, 1, holderOf(9), "x"), mo.None[int64]()))
		do.Await(in(files.Fence(key)))
		expect(t, "record", do.Await(files.Load(key)).IsPresent(), true)
	})
}

// R3: the sqlite3 shell reads what is written here and shows the exact table, and what
// it writes is read here.
func TestR3_Sqlite3Shell(t *testing.T) {
	shell, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("no sqlite3 shell on this machine")
	}
	path := filepath.Join(t.TempDir(), "leases.db")
	sql := func(text string) string {
		t.Helper()
		out, err := exec.Command(shell, path, text).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", text, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	r := lease.NewSQLiteRepository(platform.OS(), path)
	defer r.Close()
	perform(t, func(do *effect.Do) {
		h := holderOf(9)
		h.TTL = ttl
		first := record(1<<53-1, 1<<53-1, h, "x")
		first.RenewedAt = 1_700_000_000_123
		do.Await(r.Save(key, first, mo.None[int64]()))
		expect(t, "schema", sql(".schema"), "CREATE TABLE lease_record (key TEXT PRIMARY KEY, generation INTEGER NOT NULL, "+
			"revision INTEGER NOT NULL, holder TEXT, holder_id TEXT, renewed_at INTEGER NOT NULL) STRICT;")
		expect(t, "version", sql("PRAGMA user_version"), "1")
		expect(t, "row", sql("SELECT * FROM lease_record"), `task:42|9007199254740991|9007199254740991|`+
			`{"host":"h","bootId":"b","pid":9,"startTime":109,"ttlMs":60000}|x|1700000000123`)
		sql(`UPDATE lease_record SET generation = 7, revision = 8, holder_id = 'y',
			holder = '{"host":"h","bootId":"b","pid":7,"startTime":9007199254740991,"more":{"x":[1]}}'`)
		got := do.Await(r.Load(key)).OrEmpty()
		expect(t, "pid", got.Holder.OrEmpty().PID, int64(7))
		expect(t, "start", got.Holder.OrEmpty().StartTime, int64(1<<53-1))
		sql("UPDATE lease_record SET revision = 9, holder = NULL, holder_id = NULL")
		expect(t, "tombstone", do.Await(r.Load(key)).OrEmpty().IsTombstone(), true)
	})
}

// R3, L7, L11: a COMMIT that fails, before or after it has worked, is rolled back; the
// save fails, what became of it is found out, and the next one works.
func TestR3_FailedCommit(t *testing.T) {
	for name, after := range map[string]bool{"before": false, "after": true} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "leases.db")
			broken := &failingCommits{SQLite: platform.OS().SQLite, after: after}
			p := *platform.OS()
			p.SQLite = broken
			r := lease.NewSQLiteRepository(&p, path)
			defer r.Close()
			perform(t, func(do *effect.Do) {
				do.Await(r.Save(key, record(1, 1, holderOf(9), "x"), mo.None[int64]()))
				broken.fail = 1
				f := as[*lease.RepositoryFailure](failure(do, r.Save(key, record(1, 2, holderOf(9), "x"), mo.Some(int64(1)))))
				expect(t, "reason", f.Reason, lease.RepositoryIO)
				want := int64(1)
				if after {
					want = 2
				}
				expect(t, "revision", do.Await(r.Load(key)).OrEmpty().Revision, want)
				do.Await(r.Save(key, record(1, want+1, holderOf(9), "x"), mo.Some(want)))
				// An acquisition whose COMMIT fails either way has the lease, or not.
				do.Await(r.Save(key, lease.Record{Key: key, Generation: 1, Revision: want + 2}, mo.Some(want+1)))
				broken.fail = 1
				exit := do.Await(effect.Exit(in(newWorld(r).manager().Acquire(key))))
				expect(t, "acquired", exit.IsSuccess(), after)
				do.Await(in(newWorld(r).manager().Acquire(key)))
			})
		})
	}
}

// failingCommits is SQLite whose next commits fail.
type failingCommits struct {
	platform.SQLite
	fail  int
	after bool
}

func (s *failingCommits) Open(path string, mode platform.OpenMode) (platform.SQLiteConn, error) {
	conn, err := s.SQLite.Open(path, mode)
	return failingConn{conn, s}, err
}

type failingConn struct {
	platform.SQLiteConn
	s *failingCommits
}

func (c failingConn) Prepare(sql string) (platform.SQLiteStmt, error) {
	stmt, err := c.SQLiteConn.Prepare(sql)
	if sql == "COMMIT" && err == nil {
		stmt = failingStmt{stmt, c.s}
	}
	return stmt, err
}

type failingStmt struct {
	platform.SQLiteStmt
	s *failingCommits
}

func (f failingStmt) Step() (bool, error) {
	if f.s.fail == 0 {
		return f.SQLiteStmt.Step()
	}
	f.s.fail--
	if f.s.after {
		if row, err := f.SQLiteStmt.Step(); err != nil {
			return row, err
		}
	}
	return false, &platform.Failure{Op: "commit", Reason: platform.ReasonIO, Cause: errors.New("scripted")}
}

// R5: a record is written under the process lock NAME.lease.guard, for which a save
// waits for a second, on the runtime's clock; the fence is NAME.lease.fence.
func TestR5_GuardAndFence(t *testing.T) {
	for name, file := range map[string]bool{"SQLite": false, "lock files": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var locks []processlock.Option
			var options []lease.RepositoryOption
			if file {
				locks, options = append(locks, processlock.WithoutSQLite()), append(options, lease.WithoutSQLite())
			}
			r := lease.NewFileRepository(platform.OS(), dir, options...)
			hold := func(suffix string) *processlock.Lock {
				lock, err := processlock.Acquire(t.Context(), platform.OS(), filepath.Join(dir, "task%3A42.lease."+suffix), locks...).Get()
				if err != nil {
					t.Fatal(err)
				}
				return lock
			}
			guard := hold("guard")
			simulate(t, func(do *effect.Do) {
				f := as[*lease.RepositoryFailure](failure(do, r.Save(key, record(1, 1, holderOf(9), "x"), mo.None[int64]())))
				expect(t, "reason", f.Reason, lease.RepositoryBusy)
				expect(t, "after", now(do), time.Second)
				// Reading needs no guard.
				expect(t, "record", do.Await(r.Load(key)).IsPresent(), false)
			})
			_ = guard.Release()
			fence := hold("fence")
			simulate(t, func(do *effect.Do) {
				do.Await(r.Save(key, record(1, 1, holderOf(9), "x"), mo.None[int64]()))
				expect(t, "two hold the fence", do.Await(effect.TimeoutOption(in(r.Fence(key)), time.Minute)).IsPresent(), false)
			})
			_ = fence.Release()
			perform(t, func(do *effect.Do) { do.Await(in(r.Fence(key))) })
			if data, err := os.ReadFile(filepath.Join(dir, "task%3A42.lease.json")); err != nil ||
				!strings.HasPrefix(string(data), `{"schemaVersion":1,"record":{"key":"task:42","generation":1,"revision":1,"holder":{"host":"h",`) {
				t.Errorf("%s, %v", data, err)
			}
		})
	}
}

// What an observer hears of a life, and what the slog adapter makes of it.
func TestEvents(t *testing.T) {
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{
		Level:       slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr { return dropTime(a) },
	}))
	w := newWorld(lease.NewMemoryRepository())
	w.process.running[9] = mo.Ok(mo.None[platform.Identity]()) // it is dead
	simulate(t, func(do *effect.Do) {
		c := config
		c.Observer = lease.SlogObserver(log)
		m, err := lease.NewManager(&platform.Platform{Process: w.process}, w.repo, c)
		if err != nil {
			t.Fatal(err)
		}
		do.Await(in(m.Acquire(key).AndThen(effect.Sleep(heartbeat))))
		do.Await(put(w.repo, record(2, 9, holderOf(9), "x")))
		do.Await(in(m.Acquire(key).AndThen(put(w.repo, record(4, 11, holderOf(9), "y"))).AndThen(effect.Sleep(heartbeat))))
	})
	want := `level=INFO msg="lease acquired" _tag=LeaseAcquired key=task:42 generation=1
level=DEBUG msg="lease renewed" _tag=LeaseRenewed key=task:42 generation=1 revision=2 took=0s
level=INFO msg="lease released" _tag=LeaseReleased key=task:42 generation=1
level=WARN msg="lease taken over" _tag=LeaseAcquired key=task:42 generation=3 takeover=dead previousHolder="pid 9 on host h"
level=WARN msg="lease lost" _tag=LeaseLost key=task:42 generation=3 reason=taken-over
`
	if got := text.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func dropTime(a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// account is a resource that fences itself: it keeps the last token that it accepted
// with its balance and changes both in one step.
type account struct {
	balance int
	seen    mo.Option[lease.FencingToken]
}

func (a *account) deposit(token lease.FencingToken, amount int) error {
	seen, err := lease.CheckFence(a.seen, token).Get()
	if err != nil {
		return err
	}
	a.seen, a.balance = mo.Some(seen), a.balance+amount
	return nil
}

// L16: a resource keeps the highest token in its own atomic write.
func ExampleCheckFence() {
	var a account
	fmt.Println(a.deposit(lease.FencingToken{Key: "task:42", Generation: 1}, 10))
	fmt.Println(a.deposit(lease.FencingToken{Key: "task:42", Generation: 2}, 10))
	fmt.Println(a.deposit(lease.FencingToken{Key: "task:42", Generation: 1}, 10)) // late
	fmt.Println(a.balance)
	// Output:
	// <nil>
	// <nil>
	// lease "task:42": the fence refuses generation 1: 2 is current
	// 20
}
