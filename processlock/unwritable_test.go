//go:build linux

package processlock_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/internal/alone"
	"github.com/rivus/tether/internal/child"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
)

func startAs(t testing.TB, as child.User) *process {
	t.Helper()
	cmd := child.Self(workerEnv + "=1")
	as(cmd)
	return started(t, cmd)
}

// immutableFlag is FS_IMMUTABLE_FL of linux/fs.h.
const immutableFlag = 0x10

// immutable is chattr +i, until the test ends.
func immutable(t testing.TB, path string) {
	t.Helper()
	set := func(flag int) error {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		return unix.IoctlSetPointerInt(int(file.Fd()), unix.FS_IOC_SETFLAGS, flag)
	}
	if err := set(immutableFlag); err != nil {
		t.Skip("chattr +i: ", err)
	}
	t.Cleanup(func() {
		if err := set(0); err != nil {
			t.Error(err)
		}
	})
}

// onlyRead are the ways in which a process may read a lock's file and not write it:
// each leaves an empty old file at path, and says who the process is.
var onlyRead = map[string]struct {
	mounts  bool // it needs a mount namespace
	reason  platform.Reason
	prepare func(t *testing.T) (path string, as child.User)
}{
	"another user's, in a sticky folder": {false, platform.ReasonPermission, func(t *testing.T) (string, child.User) {
		return old(t, child.Folder(t, 0, 0, 0o1777)), child.As(child.Ann, child.Ann)
	}},
	"another user's, in a setgid folder": {false, platform.ReasonPermission, func(t *testing.T) (string, child.User) {
		return old(t, child.Folder(t, 0, child.Team, 0o2775)), child.As(child.Ann, child.Team)
	}},
	"one's own, for reading": {false, platform.ReasonPermission, func(t *testing.T) (string, child.User) {
		if os.Geteuid() != 0 { // the one way that needs nobody else
			path := old(t, t.TempDir())
			if err := os.Chmod(path, 0o444); err != nil {
				t.Fatal(err)
			}
			return path, child.Same
		}
		path := old(t, child.Folder(t, child.Ann, child.Ann, 0o755))
		if err := errors.Join(os.Chown(path, child.Ann, child.Ann), os.Chmod(path, 0o444)); err != nil {
			t.Fatal(err)
		}
		return path, child.As(child.Ann, child.Ann)
	}},
	"immutable": {false, platform.ReasonPermission, func(t *testing.T) (string, child.User) {
		path := old(t, child.Folder(t, 0, 0, 0o755))
		immutable(t, path)
		return path, child.Same
	}},
	"a read-only mount of the file": {true, platform.ReasonReadOnly, func(t *testing.T) (string, child.User) {
		path := old(t, child.Folder(t, 0, 0, 0o755))
		alone.ReadOnly(t, path)
		return path, child.Same
	}},
	"a read-only mount of the folder": {true, platform.ReasonReadOnly, func(t *testing.T) (string, child.User) {
		path := old(t, child.Folder(t, 0, 0, 0o755))
		alone.ReadOnly(t, filepath.Dir(path))
		return path, child.Same
	}},
	"a file system that became read-only": {true, platform.ReasonReadOnly, func(t *testing.T) (string, child.User) {
		dir := child.Folder(t, 0, 0, 0o755)
		alone.Memory(t, dir)
		path := old(t, dir)
		alone.NoWrites(t, dir)
		return path, child.Same
	}},
}

// old is an empty file that has been there for an hour.
func old(t testing.TB, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "l")
	write(t, path, "")
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, past, past); err != nil {
		t.Fatal(err)
	}
	return path
}

// F39: who may only read the lock's file cannot exclude anybody with it. Two such
// processes are told so, with the file and the way out, and none that it holds.
func TestF39_OnlyRead(t *testing.T) {
	for name, c := range onlyRead {
		t.Run(name, func(t *testing.T) {
			if name != "one's own, for reading" {
				child.NeedRoot(t)
			}
			if c.mounts && !alone.WithMounts(t) {
				return
			}
			mechanisms(t, func(t *testing.T, file bool, _ ...processlock.Option) {
				path, as := c.prepare(t)
				won := 0
				for _, p := range []*process{startAs(t, as), startAs(t, as)} {
					for _, wait := range []bool{false, !file} {
						r := p.Do(command{Do: "acquire", Path: path, File: file, Wait: wait})
						if r.OK {
							won++
						}
						if file { // which the folder decides about
							continue
						}
						if r.Tag != "ProcessLockFailure" || r.Reason != string(c.reason) {
							t.Fatalf("want reason %q: %+v", c.reason, r)
						}
						if !strings.Contains(r.Text, path) || !strings.Contains(r.Text, "; ") {
							t.Fatal("no file, or no way out: ", r.Text)
						}
					}
				}
				if file && won <= 1 {
					return
				}
				if won > 0 {
					t.Fatal("told that it is held, ", won, " times")
				}
				if r := startAs(t, as).Do(command{Do: "isheld", Path: path}); !r.OK || r.Held {
					t.Fatalf("is held: %+v", r)
				}
				if names := entries(t, filepath.Dir(path)); names != "[l]" {
					t.Fatal("left: ", names)
				}
			})
		})
	}
}

// F39: beside one who may write it, and holds it, those who may only read it are
// told so at once, though they wait; afterwards, too.
func TestF39_OnlyReadBesideAHolder(t *testing.T) {
	child.NeedRoot(t)
	path := old(t, child.Folder(t, 0, child.Team, 0o2775))
	holder, reader := start(t, nil), startAs(t, child.As(child.Ann, child.Team))
	refusal := func() {
		t.Helper()
		for _, wait := range []bool{false, true} {
			if r := reader.Do(command{Do: "acquire", Path: path, Wait: wait}); r.OK || r.Reason != string(platform.ReasonPermission) {
				t.Fatalf("%+v", r)
			}
		}
	}
	holder.must(command{Do: "acquire", Path: path})
	refusal()
	if r := reader.Do(command{Do: "isheld", Path: path}); !r.Held {
		t.Fatalf("%+v", r)
	}
	holder.must(command{Do: "release", Path: path})
	refusal()
	holder.must(command{Do: "acquire", Path: path})
}

// K3, F39: where the lock may be written and its holder not be recorded, nobody is
// told that it is held, and the failure names the holder file.
func TestF39_HolderFileUnwritable(t *testing.T) {
	child.NeedRoot(t)
	for name, c := range map[string]struct {
		prepare func(t *testing.T, path string)
		as      child.User
	}{
		"another user's, in a sticky folder": {func(t *testing.T, path string) {
			write(t, path+".holder", stampOf(t, deadPid(t), nil))
		}, child.As(child.Ann, child.Ann)},
		"immutable": {func(t *testing.T, path string) {
			write(t, path+".holder", stampOf(t, deadPid(t), nil))
			immutable(t, path+".holder")
		}, child.Same},
		"a folder for reading": {func(t *testing.T, path string) {
			if err := os.Chmod(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
		}, child.As(child.Ann, child.Ann)},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(child.Folder(t, 0, 0, 0o1777), "l")
			write(t, path, "")
			if err := os.Chown(path, child.Ann, child.Ann); err != nil {
				t.Fatal(err)
			}
			c.prepare(t, path)
			first, second := startAs(t, c.as), startAs(t, c.as)
			for _, p := range []*process{first, second, first} {
				r := p.Do(command{Do: "acquire", Path: path})
				if r.OK || r.Held || r.Reason != string(platform.ReasonPermission) || !strings.Contains(r.Text, path+".holder") {
					t.Fatalf("%+v", r)
				}
			}
			if isHeld(t, path) {
				t.Fatal("a failed acquisition holds the lock")
			}
		})
	}
}
