package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
	"github.com/rivus/tether/scope"
)

// process42 is the process of the examples in formats.md.
type process42 struct{}

var identity42 = platform.Identity{Host: "h", BootID: "b00", PID: 42, StartTime: 700, PIDNs: 4026531836, TimeNs: 4026531834}

func (process42) PID() int64                       { return 42 }
func (process42) Self() (platform.Identity, error) { return identity42, nil }
func (process42) Identify(int64) (platform.Identity, bool, error) {
	return identity42, true, nil
}

// disk is a folder, what the text says of it, and a machine that uses it.
type disk struct {
	t        *testing.T
	dir      string
	text     string
	runtime  *scope.Deterministic
	platform *platform.Platform
}

func newDisk(t *testing.T) *disk {
	text, err := os.ReadFile("formats.md")
	if err != nil {
		t.Fatal(err)
	}
	d := scope.NewDeterministic(scope.DeterministicConfig{Start: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)})
	return &disk{t: t, dir: t.TempDir(), text: string(text), runtime: d, platform: &platform.Platform{
		FS: platform.OS().FS, SQLite: platform.OS().SQLite, Process: process42{}, Clock: d.Clock(),
	}}
}

// hold takes the lease of task:42 from the repository and has during called while
// fenced work runs.
func (d *disk) hold(r lease.Repository, during func()) {
	d.t.Helper()
	program := effect.Scoped(effect.GenUnit(func(do *effect.Do) {
		leases := do.Await(lease.MakeManager(lease.Config{TTL: time.Minute, Heartbeat: 15 * time.Second}))
		l := do.Await(leases.Acquire("task:42"))
		do.Await(l.RunFenced(func(lease.FencingToken) effect.Effect[effect.Unit] { return effect.SyncUnit(during) }))
	})).
		ProvideService(lease.HolderIDs, func() string { return "0123456789abcdef0123456789abcdef" }).
		Provide(lease.RepositoryService.Of(r).ProvideMerge(platform.Service.Of(d.platform)))
	out := effect.RunDeterministicOn(d.runtime, program)
	if exit, ended := out.Exit.Get(); !ended || exit.IsFailure() {
		d.t.Fatalf("%v", out)
	}
}

var nonce = regexp.MustCompile(`"nonce":"[0-9a-f]{32}"`)

// says checks that a code block of the text is what was found.
func (d *disk) says(found string) {
	d.t.Helper()
	found = nonce.ReplaceAllString(found, `"nonce":"NONCE"`)
	if !strings.Contains(d.text, "\n"+found+"\n```") {
		d.t.Errorf("formats.md has no block\n%s", found)
	}
}

func (d *disk) read(name string) string {
	d.t.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(data)
}

func (d *disk) expect(names ...string) {
	d.t.Helper()
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		d.t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		found = append(found, e.Name())
	}
	slices.Sort(names)
	if !slices.Equal(found, names) {
		d.t.Errorf("there are %q, not %q", found, names)
	}
}

func (d *disk) query(name, sql string) (text string) {
	d.t.Helper()
	conn, err := d.platform.SQLite.Open(filepath.Join(d.dir, name), platform.OpenExisting)
	if err != nil {
		d.t.Fatal(err)
	}
	defer conn.Close()
	stmt, err := conn.Prepare(sql)
	if err != nil {
		d.t.Fatal(err)
	}
	defer stmt.Close()
	if row, err := stmt.Step(); err != nil || !row {
		d.t.Fatalf("%v, %v", row, err)
	}
	return stmt.ColumnText(0)
}

func TestFormatOfTheDatabase(t *testing.T) {
	d := newDisk(t)
	r := lease.NewSQLiteRepository(d.platform, filepath.Join(d.dir, "leases.db"))
	d.hold(r, func() {
		d.expect("leases.db", "leases.db-wal", "leases.db-shm", "leases.db.task%3A42.fence", "leases.db.task%3A42.fence.holder")
		d.says(d.read("leases.db.task%3A42.fence.holder"))
		d.says(d.query("leases.db", "SELECT sql FROM sqlite_schema WHERE type = 'table'"))
		d.says(d.query("leases.db", "SELECT holder FROM lease_record"))
		if row := d.query("leases.db", "SELECT concat_ws(' ', key, generation, revision, holder_id, renewed_at) FROM lease_record"); row !=
			"task:42 1 1 0123456789abcdef0123456789abcdef 1893456000000" {
			t.Error(row)
		}
		if v := d.query("leases.db", "PRAGMA user_version") + d.query("leases.db", "PRAGMA journal_mode"); v != "1wal" {
			t.Error(v)
		}
	})
	if row := d.query("leases.db", "SELECT concat_ws(' ', generation, revision, ifnull(holder, 'NULL'), ifnull(holder_id, 'NULL')) FROM lease_record"); row !=
		"1 2 NULL NULL" {
		t.Error(row)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	d.expect("leases.db", "leases.db.task%3A42.fence")
	if fence := d.read("leases.db.task%3A42.fence"); fence != "" {
		t.Errorf("the fence holds %q", fence)
	}
}

func TestFormatOfTheFiles(t *testing.T) {
	d := newDisk(t)
	d.hold(lease.NewFileRepository(d.platform, d.dir), func() {
		d.expect("task%3A42.lease.json", "task%3A42.lease.guard", "task%3A42.lease.fence", "task%3A42.lease.fence.holder")
		d.says(d.read("task%3A42.lease.json"))
	})
	d.expect("task%3A42.lease.json", "task%3A42.lease.guard", "task%3A42.lease.fence")
	d.says(d.read("task%3A42.lease.json"))
}

func TestFormatOfTheLocks(t *testing.T) {
	d := newDisk(t)
	self, err := identity42.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	d.says(string(self))
	for _, c := range []struct {
		options      []processlock.Option
		stamp        string
		during, then []string
	}{
		{nil, "a.lock.holder", []string{"a.lock", "a.lock.holder"}, []string{"a.lock"}},
		{[]processlock.Option{processlock.WithoutSQLite()}, "b.lock", []string{"a.lock", "b.lock"}, []string{"a.lock"}},
	} {
		name := strings.TrimSuffix(c.stamp, ".holder")
		lock, err := processlock.Acquire(t.Context(), d.platform, filepath.Join(d.dir, name), c.options...).Get()
		if err != nil {
			t.Fatal(err)
		}
		d.expect(c.during...)
		d.says(d.read(c.stamp))
		if err := lock.Release(); err != nil {
			t.Fatal(err)
		}
		d.expect(c.then...)
	}
	if content := d.read("a.lock"); content != "" {
		t.Errorf("%q", content)
	}
}
