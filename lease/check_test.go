package lease_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/samber/mo"
)

// checked is a repository that can be checked.
type checked interface {
	lease.Repository
	Check(ctx context.Context) error
}

// onMachine is the machine with something changed.
func onMachine(change func(p *platform.Platform)) *platform.Platform {
	p := *platform.OS()
	change(&p)
	return &p
}

// namelessProcess has no identity, as on Windows.
type namelessProcess struct{ platform.Process }

func (namelessProcess) Self() (platform.Identity, error) {
	return platform.Identity{}, errors.New("no identity here")
}

// fullDisk takes no file.
type fullDisk struct{ platform.FS }

func (fullDisk) WriteAtomic(path string, _ []byte) error {
	return &platform.Failure{Op: "write", Path: path, Reason: platform.ReasonNoSpace}
}

// R2: what would fail at the first acquisition fails in a Check, by the layer's option
// when the layer is built.
func TestR2_R8_Check(t *testing.T) {
	type place struct {
		p    *platform.Platform
		path string
	}
	os_ := platform.OS()
	garbage := strings.Repeat("no database ", 1000)
	write := func(t *testing.T, path, content string) string {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		files  bool
		at     func(t *testing.T, dir string) place
		reason lease.RepositoryReason
		text   string
	}{
		"SQLite: nothing there": {false, func(_ *testing.T, dir string) place { return place{os_, dir + "/x.db"} }, "", ""},
		"SQLite: no directory":  {false, func(_ *testing.T, dir string) place { return place{os_, dir + "/missing/x.db"} }, lease.RepositoryIO, "missing"},
		"SQLite: no database":   {false, func(t *testing.T, dir string) place { return place{os_, write(t, dir+"/x.db", garbage)} }, lease.RepositoryIO, "database"},
		"SQLite: another program's": {false, func(t *testing.T, dir string) place {
			execute(t, dir+"/x.db", "CREATE TABLE users (a)")
			return place{os_, dir + "/x.db"}
		}, lease.RepositoryUnsupportedSchema, "another program"},
		"SQLite: a damaged one": {false, func(t *testing.T, dir string) place { return place{os_, damaged(t, dir+"/x.db")} }, lease.RepositoryIO, "damaged"},
		"SQLite: no fence":      {false, func(t *testing.T, dir string) place { return place{os_, blocked(t, dir+"/x.db", ".~check.fence")} }, lease.RepositoryIO, ".~check.fence"},
		"SQLite: network": {false, func(_ *testing.T, dir string) place {
			return place{onMachine(func(p *platform.Platform) { p.FS = network{p.FS} }), dir + "/x.db"}
		}, lease.RepositoryUnavailable, "nfs"},
		"SQLite: no identity": {false, func(_ *testing.T, dir string) place {
			return place{onMachine(func(p *platform.Platform) { p.Process = namelessProcess{p.Process} }), dir + "/x.db"}
		}, lease.RepositoryUnavailable, "no identity"},
		"SQLite: none": {false, func(_ *testing.T, dir string) place {
			return place{onMachine(func(p *platform.Platform) { p.SQLite = nil }), dir + "/x.db"}
		}, lease.RepositoryUnavailable, "no SQLite"},
		"files: an empty directory": {true, func(_ *testing.T, dir string) place { return place{os_, dir} }, "", ""},
		"files: no directory":       {true, func(_ *testing.T, dir string) place { return place{os_, dir + "/missing"} }, lease.RepositoryIO, "missing"},
		"files: a file":             {true, func(t *testing.T, dir string) place { return place{os_, write(t, dir+"/x", "")} }, lease.RepositoryIO, "directory"},
		"files: no guard": {true, func(t *testing.T, dir string) place {
			blocked(t, dir+"/~check", ".lease.guard")
			return place{os_, dir}
		}, lease.RepositoryIO, "guard"},
		"files: no fence": {true, func(t *testing.T, dir string) place {
			blocked(t, dir+"/~check", ".lease.fence")
			return place{os_, dir}
		}, lease.RepositoryIO, "fence"},
		"files: a full disk": {true, func(_ *testing.T, dir string) place {
			return place{onMachine(func(p *platform.Platform) { p.FS = fullDisk{p.FS} }), dir}
		}, lease.RepositoryIO, "no space"},
		"files: no identity": {true, func(_ *testing.T, dir string) place {
			return place{onMachine(func(p *platform.Platform) { p.Process = namelessProcess{p.Process} }), dir}
		}, lease.RepositoryUnavailable, "no identity"},
	} {
		t.Run(name, func(t *testing.T) {
			at := c.at(t, t.TempDir())
			var r checked
			layer := lease.SQLiteRepository(at.path, lease.Checked())
			if c.files {
				r, layer = lease.NewFileRepository(at.p, at.path), lease.FileRepository(at.path, lease.Checked())
			} else {
				s := lease.NewSQLiteRepository(at.p, at.path)
				defer s.Close()
				r = s
			}
			_, built := effect.Run(t.Context(), effect.Void().Provide(layer.Provide(platform.Service.Of(at.p))))
			for what, err := range map[string]error{"Check": r.Check(t.Context()), "the layer": built} {
				if c.reason == "" {
					if err != nil {
						t.Errorf("%s: %v", what, err)
					}
					continue
				}
				f := as[*lease.RepositoryFailure](err)
				if f.Reason != c.reason || !strings.Contains(err.Error(), c.text) || f.Key != "" || !strings.HasPrefix(err.Error(), "lease repository: ") {
					t.Errorf("%s: %v", what, err)
				}
			}
			if c.reason != "" {
				return
			}
			// What it leaves is in nobody's way, and it can be done again, by many.
			m, err := lease.NewManager(at.p, r, config)
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Hold(t.Context(), "check", func(ctx context.Context, _ lease.FencingToken) error { return r.Check(ctx) }); err != nil {
				t.Error(err)
			}
			if names, _ := filepath.Glob(filepath.Join(filepath.Dir(at.path), "*.tmp")); len(names) > 0 {
				t.Errorf("left: %v", names)
			}
		})
	}
}

// R3: a check changes no record, ends with its context, and waits for who writes.
func TestR3_CheckIsNoWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	r := lease.NewSQLiteRepository(platform.OS(), path)
	defer r.Close()
	aside(t, r.Save(key, record(1, 1, holderOf(9), "x"), mo.None[int64]()))
	before := query(t, path, "SELECT group_concat(key || revision || holder_id) FROM lease_record")
	if err := r.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect(t, "records", query(t, path, "SELECT group_concat(key || revision || holder_id) FROM lease_record"), before)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Check(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	conn, err := platform.OS().SQLite.Open(path, platform.OpenExisting)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	expect(t, "reason", as[*lease.RepositoryFailure](r.Check(t.Context())).Reason, lease.RepositoryBusy)
}

// damaged is a database of leases with a page that is none.
func damaged(t *testing.T, path string) string {
	t.Helper()
	r := lease.NewSQLiteRepository(platform.OS(), path)
	aside(t, r.Save(key, record(1, 1, holderOf(9), "x"), mo.None[int64]()))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	size := int(data[16])<<8 | int(data[17])
	copy(data[len(data)-size:], make([]byte, size))
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// blocked has a directory where a file beside path must be.
func blocked(t *testing.T, path, suffix string) string {
	t.Helper()
	if err := os.Mkdir(path+suffix, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
