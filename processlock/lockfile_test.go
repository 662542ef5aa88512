//go:build linux

package processlock_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
)

// stampOf is the stamp that a TypeScript program of pid would write, changed.
func stampOf(t testing.TB, pid int64, change func(map[string]any)) string {
	t.Helper()
	self, err := platform.OS().Process.Self()
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]any{
		"host": self.Host, "bootId": self.BootID, "pid": pid, "startTime": 1,
		"acquiredAt": int64(1_700_000_000_000), "nonce": "made by hand",
	}
	if found, runs, err := platform.OS().Process.Identify(pid); err == nil && runs {
		fields["startTime"] = found.StartTime
	}
	if change != nil {
		change(fields)
	}
	data, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// deadPid is the pid of a process that has ended and was reaped.
func deadPid(t testing.TB) int64 {
	t.Helper()
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return int64(cmd.Process.Pid)
}

// K4, H1, H2: lock files in every state in which a TypeScript program can leave them:
// only a dead one is reclaimed.
func TestK4_HandMadeLockFiles(t *testing.T) {
	dead := deadPid(t)
	old, fresh := time.Now().Add(-time.Minute), time.Now()
	parent := int64(os.Getppid())
	set := func(name string, value any) func(map[string]any) {
		return func(m map[string]any) { m[name] = value }
	}
	const (
		held    = "held"
		unnamed = "held by nobody known"
		free    = "reclaimed"
	)
	for name, c := range map[string]struct {
		content string
		mtime   time.Time
		want    string
	}{
		"created, not stamped yet":                 {"", fresh, unnamed},
		"created, never stamped":                   {"", old, free},
		"half a stamp":                             {stampOf(t, parent, nil)[:40], fresh, unnamed},
		"half a stamp, left":                       {stampOf(t, parent, nil)[:40], old, free},
		"NUL bytes, fresh":                         {"\x00\x00\x00", fresh, unnamed},
		"NUL bytes after a power cut":              {"\x00\x00\x00", old, free},
		"half a stamp, then zeros":                 {stampOf(t, parent, nil)[:40] + "\x00\x00", old, free},
		"a brace after a power cut":                {"{", old, free},
		"stamped, runs":                            {stampOf(t, parent, nil), old, held},
		"stamped with a newline, runs":             {stampOf(t, parent, nil) + "\n", old, held},
		"stamped with unknown fields, runs":        {stampOf(t, parent, set("version", 7)), old, held},
		"stamped, ended":                           {stampOf(t, dead, nil), fresh, free},
		"F12 stamped in the future, ended":         {stampOf(t, dead, set("acquiredAt", 9e15)), time.Now().Add(time.Hour), free},
		"F12 stamped in the future, runs":          {stampOf(t, parent, set("acquiredAt", 9e15)), time.Now().Add(time.Hour), held},
		"pid used again":                           {stampOf(t, parent, set("startTime", 1)), fresh, free},
		"other boot":                               {stampOf(t, parent, set("bootId", "x")), fresh, free},
		"other host":                               {stampOf(t, dead, set("host", "elsewhere")), old, held},
		"F13 other PID namespace":                  {stampOf(t, dead, set("pidNs", 1)), old, held},
		"F17 startTime at 2^53+1 is no stamp":      {strings.Replace(stampOf(t, dead, set("startTime", 0)), `"startTime":0`, `"startTime":9007199254740993`, 1), old, held},
		"F46 named, not to be judged":              {`{"host":"h","pid":42,"acquiredAt":1,"nonce":"n"}`, old, held},
		"F17 pid beyond any process is not judged": {stampOf(t, 1<<40, nil), old, held},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "l")
			write(t, path, c.content)
			if err := os.Chtimes(path, c.mtime, c.mtime); err != nil {
				t.Fatal(err)
			}
			option := processlock.WithoutSQLite()
			if got := isHeld(t, path, option); got != (c.want != free) {
				t.Fatal("IsHeld: ", got)
			}
			if data, err := os.ReadFile(path); err != nil || string(data) != c.content {
				t.Fatal("IsHeld changed it", err)
			}
			if c.want == free {
				lock := acquire(t, path, option)
				if ok, err := lock.Verify(); !ok || err != nil {
					t.Fatal(ok, err)
				}
				mustRelease(t, lock)
				return
			}
			if h := refused(t, path, option); h.Holder.IsPresent() != (c.want == held) {
				t.Fatal(h)
			}
			if data, err := os.ReadFile(path); err != nil || string(data) != c.content {
				t.Fatal("Acquire changed it", err)
			}
		})
	}
}

// K4: a TypeScript program creates its file first and stamps it second. What others
// see meanwhile, and what becomes of one that is stopped in between for too long.
func TestK4_BesideOneThatStampsSecond(t *testing.T) {
	option := processlock.WithoutSQLite()
	path := filepath.Join(t.TempDir(), "l")
	create := func() *os.File {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() })
		return file
	}
	age := func() {
		old := time.Now().Add(-31 * time.Second)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	stamp := stampOf(t, int64(os.Getppid()), nil)

	file := create()
	if h := refused(t, path, option); h.Holder.IsPresent() || !isHeld(t, path, option) {
		t.Fatal("created: ", h)
	}
	if _, err := file.WriteString(stamp[:50]); err != nil {
		t.Fatal(err)
	}
	if h := refused(t, path, option); h.Holder.IsPresent() {
		t.Fatal("half stamped: ", h)
	}
	if _, err := file.WriteString(stamp[50:]); err != nil {
		t.Fatal(err)
	}
	age() // the age of a stamped file means nothing
	if h := refused(t, path, option); h.Holder.OrEmpty().PID != int64(os.Getppid()) {
		t.Fatal("stamped: ", h)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}

	// Stopped for 30 s before it stamps, it is taken for dead. It stamps the file that
	// it has open, which nobody finds any more, and reads another's nonce back.
	file = create()
	age()
	lock := acquire(t, path, option)
	if _, err := file.WriteString(stamp); err != nil {
		t.Fatal(err)
	}
	if ok, err := lock.Verify(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	// If it writes by the path instead, both hold it until one looks: ours does by
	// Verify, and leaves the other's file alone.
	write(t, path, stamp)
	if ok, err := lock.Verify(); ok || err != nil {
		t.Fatal(ok, err)
	}
	mustRelease(t, lock)
	if h := refused(t, path, option); h.Holder.OrEmpty().PID != int64(os.Getppid()) {
		t.Fatal(h)
	}
}

// K3, K4: our files have the fields that the TypeScript package reads, as it writes
// them, and two more that it ignores.
func TestK3K4_StampFieldForField(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		lock := acquire(t, path, options...)
		if !file {
			path += ".holder"
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		h := lock.Holder().MustGet()
		want := fmt.Sprintf(`{"host":%q,"bootId":%q,"pid":%d,"startTime":%d,"pidNs":%d,"timeNs":%d,"acquiredAt":%d,"nonce":%q}`,
			h.Host, h.BootID, h.PID, h.StartTime, h.PIDNs, h.TimeNs, h.AcquiredAt, h.Nonce)
		if string(data) != want {
			t.Fatalf("%s\nwant %s", data, want)
		}
	})
}

func TestK4_WithoutOwnIdentity(t *testing.T) {
	dir := t.TempDir()
	p := *platform.OS()
	p.Process = namelessProcess{p.Process}
	err := processlock.Acquire(context.Background(), &p, filepath.Join(dir, "l"), processlock.WithoutSQLite()).Error()
	if failure, ok := errors.AsType[*processlock.Failure](err); !ok || failure.Reason != platform.ReasonUnsupported {
		t.Fatal(err)
	}
	if got := entries(t, dir); got != "[]" {
		t.Fatal(got)
	}
}

func TestK3_WithoutOwnIdentity(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "l")
	write(t, path+".holder", stampOf(t, deadPid(t), nil))
	p := *platform.OS()
	p.Process = namelessProcess{p.Process}
	lock, err := processlock.Acquire(context.Background(), &p, path).Get()
	if err != nil || lock.Holder().IsPresent() {
		t.Fatal(err)
	}
	if got := entries(t, dir); got != "[l]" {
		t.Fatal("a dead one's stamp is left: ", got)
	}
	if r := start(t, nil).Do(command{Do: "acquire", Path: path}); !r.Held || r.Holder != 0 {
		t.Fatalf("%+v", r)
	}
	mustRelease(t, lock)
}

// K4: a file system without hard links.
func TestK4_WithoutLinks(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "l")
	p := *platform.OS()
	p.FS = linkless{p.FS}
	for _, left := range []string{"", stampOf(t, deadPid(t), nil)} {
		if left != "" {
			write(t, path, left)
		}
		lock, err := processlock.Acquire(context.Background(), &p, path, processlock.WithoutSQLite()).Get()
		if err != nil {
			t.Fatal(err)
		}
		if r := start(t, nil).Do(command{Do: "acquire", Path: path, File: true}); !r.Held || r.Holder != int64(os.Getpid()) {
			t.Fatalf("%+v", r)
		}
		mustRelease(t, lock)
		if got := entries(t, dir); got != "[]" {
			t.Fatal(got)
		}
	}
}

// K8: a lock file that could not be removed can be released again; what cannot be
// read is not removed, as it may be another's by now.
func TestK8_ReleaseAgainRemovesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	blind := blindFS{FS: platform.OS().FS}
	p := *platform.OS()
	p.FS = &blind
	lock := processlock.Acquire(context.Background(), &p, path, processlock.WithoutSQLite()).MustGet()
	blind.on.Store(true)
	for range 2 {
		if err := lock.Release(); platform.ReasonOf(errors.Unwrap(err)) != platform.ReasonIO {
			t.Fatal(err)
		}
	}
	if ok, err := lock.Verify(); ok || err != nil {
		t.Fatal("verified after Release", err)
	}
	blind.on.Store(false)
	for range 2 {
		if err := lock.Release(); err != nil {
			t.Fatal(err)
		}
		if names := entries(t, filepath.Dir(path)); names != "[]" {
			t.Fatal(names)
		}
		// Released twice, and another's since.
		next := acquire(t, path, processlock.WithoutSQLite())
		if err := lock.Release(); err != nil {
			t.Fatal(err)
		}
		if ok, err := next.Verify(); !ok || err != nil {
			t.Fatal("its file was taken away", err)
		}
		mustRelease(t, next)
	}
}

// blindFS cannot read while on is set, as when there is no free descriptor.
type blindFS struct {
	platform.FS
	on atomic.Bool
}

func (fs *blindFS) ReadFile(path string, limit int64) ([]byte, error) {
	if fs.on.Load() {
		return nil, &platform.Failure{Op: "read", Path: path, Reason: platform.ReasonIO}
	}
	return fs.FS.ReadFile(path, limit)
}
