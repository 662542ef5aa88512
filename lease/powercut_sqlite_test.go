//go:build unix

package lease_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/scope"
)

// recorder is SQLite with a note of what its commits have made durable. It takes
// SQLite's word that a commit at synchronous FULL syncs the write-ahead log, and that
// one at NORMAL syncs nothing of it; what the package makes of that is what is tested.
type recorder struct {
	platform.SQLite
	path, images string
	noWAL        bool

	level   string
	synced  int64 // how much of the log is on the disk for certain
	commits []commit
}

// commit is the database as it was after one, copied.
type commit struct {
	level        string
	synced, size int64
	last         int64 // the last generation that was given until the next commit
}

func (r *recorder) Open(path string, mode platform.OpenMode) (platform.SQLiteConn, error) {
	conn, err := r.SQLite.Open(path, mode)
	if err != nil {
		return nil, err
	}
	return recordedConn{conn, r}, nil
}

type recordedConn struct {
	platform.SQLiteConn
	r *recorder
}

func (c recordedConn) Exec(sql string) error {
	if level, ok := strings.CutPrefix(sql, "PRAGMA synchronous = "); ok {
		c.r.level = level
	}
	err := c.SQLiteConn.Exec(sql)
	if sql == "COMMIT" && err == nil {
		c.r.committed()
	}
	return err
}

func (c recordedConn) Prepare(sql string) (platform.SQLiteStmt, error) {
	if c.r.noWAL && strings.HasPrefix(sql, "PRAGMA journal_mode") {
		sql = "PRAGMA journal_mode = TRUNCATE"
	}
	stmt, err := c.SQLiteConn.Prepare(sql)
	if sql == "COMMIT" && err == nil {
		stmt = recordedCommit{stmt, c.r}
	}
	return stmt, err
}

type recordedCommit struct {
	platform.SQLiteStmt
	r *recorder
}

func (s recordedCommit) Step() (bool, error) {
	row, err := s.SQLiteStmt.Step()
	if err == nil {
		s.r.committed()
	}
	return row, err
}

// committed copies the database. Another process reads it: a close in this one would
// drop SQLite's locks.
func (r *recorder) committed() {
	size := int64(0)
	if info, err := os.Stat(r.path + "-wal"); err == nil {
		size = info.Size()
	}
	if r.level != "NORMAL" {
		r.synced = size
	}
	to := r.image(len(r.commits))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		panic(err)
	}
	for _, suffix := range []string{"", "-wal"} {
		if _, err := os.Stat(r.path + suffix); err == nil {
			if err := exec.Command("cp", r.path+suffix, to+suffix).Run(); err != nil {
				panic(err)
			}
		}
	}
	r.commits = append(r.commits, commit{level: r.level, synced: r.synced, size: size})
}

func (r *recorder) given(generation int64) { r.commits[len(r.commits)-1].last = generation }

func (r *recorder) image(n int) string { return filepath.Join(r.images, fmt.Sprint(n), "leases.db") }

// onSQLite runs a program on a real database as the machine's only process.
func onSQLite(id string, sqlite platform.SQLite, path string, program func(*lease.Manager) effect.Effect[unit]) effect.RunReport[unit] {
	rt := scope.NewDeterministic(scope.DeterministicConfig{MaxSteps: 1_000_000})
	proc := newProcess(1)
	proc.self.BootID = id
	proc.runs(proc.self)
	p := &platform.Platform{FS: platform.OS().FS, SQLite: sqlite, Process: proc, Clock: rt.Clock()}
	repository := lease.NewSQLiteRepository(p, path)
	defer repository.Close()
	m, err := lease.NewManager(p, repository, silent)
	if err != nil {
		panic(err)
	}
	return effect.RunDeterministicOn(rt, program(m))
}

// L2, R3: the same on SQLite. After each commit the power is cut, and the log is on
// the disk as far as it was synced, or a part further, with or without garbage.
func TestL2_R3_PowerCutOnSQLite(t *testing.T) {
	dir := t.TempDir()
	r := &recorder{SQLite: platform.OS().SQLite, path: filepath.Join(dir, "leases.db"), images: t.TempDir()}
	out := onSQLite("first", r, r.path, func(m *lease.Manager) effect.Effect[unit] {
		return lives(m, func(token lease.FencingToken) { r.given(token.Generation) })
	})
	if exit, ended := out.Exit.Get(); !ended || exit.IsFailure() {
		t.Fatal(out.Exit, out.Report)
	}
	restarts, levels := 0, map[string]int{}
	last := int64(0)
	for n, c := range r.commits {
		levels[c.level]++
		last = max(last, c.last)
		for _, keep := range []int64{c.synced, (c.synced + c.size) / 2, c.size} {
			for _, garbage := range []int{0, 8192} {
				restarts++
				path := filepath.Join(t.TempDir(), "leases.db")
				for _, suffix := range []string{"", "-wal"} {
					data, err := os.ReadFile(r.image(n) + suffix)
					if err != nil {
						t.Fatal(err)
					}
					if suffix == "-wal" {
						data = append(data[:keep], make([]byte, garbage)...)
					}
					if err := os.WriteFile(path+suffix, data, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				next := int64(0)
				out := onSQLite("second", platform.OS().SQLite, path, func(m *lease.Manager) effect.Effect[unit] {
					return in(m.Acquire(key)).Map(func(l *lease.Lease) unit {
						next = l.Token().Generation
						return unit{}
					})
				})
				if exit, ended := out.Exit.Get(); !ended || exit.IsFailure() {
					t.Fatalf("commit %d, %d bytes of the log: %v\n%s", n, keep, out.Exit, out.Report)
				}
				if next <= last {
					t.Fatalf("commit %d (%+v), %d bytes of the log: generation %d was given again after %d", n, c, keep, next, last)
				}
			}
		}
	}
	t.Logf("%d commits %v, %d restarts", len(r.commits), levels, restarts)
	// R3: only what raises a generation, and the making of the table, is synced.
	expect(t, "synced commits", levels["FULL"], 3)
	if levels["NORMAL"] < 6 {
		t.Errorf("%v", levels)
	}
}

// R3: where WAL is refused every commit uses EXTRA.
func TestR3_WithoutWAL(t *testing.T) {
	r := &recorder{SQLite: platform.OS().SQLite, path: filepath.Join(t.TempDir(), "leases.db"), images: t.TempDir(), noWAL: true}
	out := onSQLite("first", r, r.path, func(m *lease.Manager) effect.Effect[unit] { return lives(m, func(lease.FencingToken) {}) })
	if exit, ended := out.Exit.Get(); !ended || exit.IsFailure() {
		t.Fatal(out.Exit, out.Report)
	}
	for n, c := range r.commits {
		if c.level != "EXTRA" {
			t.Errorf("commit %d at %s", n, c.level)
		}
	}
	if len(r.commits) < 8 {
		t.Errorf("%d commits", len(r.commits))
	}
}
