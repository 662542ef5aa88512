//go:build linux

package processlock_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rivus/tether/internal/child"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
)

// shared are folders that several users take a lock in.
var shared = map[string]struct {
	gid, mode uint32
	users     uint32 // the group of ann and bob, or 0 for one of their own each
	// works: what one creates the other can use. Else it is a failure.
	works bool
	// sticky: one cannot remove what the other left.
	sticky bool
}{
	"setgid":                            {child.Team, 0o2775, child.Team, true, false},
	"setgid, closed to others":          {child.Team, 0o2770, child.Team, true, false},
	"of the group that they have":       {child.Team, 0o775, child.Team, true, false},
	"setgid and sticky":                 {child.Team, 0o3775, child.Team, true, true},
	"sticky, as /tmp is":                {0, 0o1777, 0, false, true},
	"everybody's":                       {0, 0o777, 0, false, false},
	"everybody's, and theirs":           {child.Team, 0o777, child.Team, true, false},
	"everybody's, sticky and theirs":    {child.Team, 0o1777, child.Team, true, true},
	"of another group than they are of": {child.Team, 0o777, 0, false, false},
}

// F40: two users and root share a folder, whatever the umask is. What one creates the
// others can use, or they are told what to change; nothing is world-writable.
func TestF40_SharedFolders(t *testing.T) {
	child.NeedRoot(t)
	for name, c := range shared {
		t.Run(name, func(t *testing.T) {
			mechanisms(t, func(t *testing.T, file bool, _ ...processlock.Option) {
				for _, umask := range []int{0, 0o002, 0o022, 0o077} {
					dir := child.Folder(t, 0, int(c.gid), c.mode)
					path := filepath.Join(dir, "l")
					someone := func(uid uint32) *process {
						gid := c.users
						if gid == 0 {
							gid = uid
						}
						p := startAs(t, child.As(uid, gid))
						p.must(command{Do: "umask", Repeat: umask})
						return p
					}
					root := start(t, nil)
					root.must(command{Do: "umask", Repeat: umask})
					ann, bob := someone(child.Ann), someone(child.Bob)
					take, give := command{Do: "acquire", Path: path, File: file}, command{Do: "release", Path: path}
					ann.must(take)
					checkModes(t, dir)
					// With a umask of 077 a stranger cannot read what ann created.
					if r := bob.Do(take); r.OK || (c.works || umask != 0o077 && file) && (!r.Held || r.Holder != ann.PID()) {
						t.Fatalf("umask %o, beside ann: %+v", umask, r)
					}
					ann.must(give)
					r := bob.Do(take)
					if r.OK != (c.works || file) {
						t.Fatalf("umask %o, after ann: %+v", umask, r)
					}
					if !r.OK {
						unusable(t, r, path)
					} else {
						checkModes(t, dir)
						bob.must(give)
					}
					root.must(take)
					checkModes(t, dir)
					root.must(give)
					ann.must(take)

					ann.Kill()
					r = bob.Do(take)
					switch {
					case c.sticky || !c.works && !file:
						unusable(t, r, path)
					case !c.works && umask == 0o077: // ann's stamp cannot be read
						unusable(t, r, path)
					case !r.OK:
						t.Fatalf("umask %o, after ann was killed: %+v", umask, r)
					}
				}
			})
		})
	}
}

// unusable wants a failure that names the file and says what to change.
func unusable(t *testing.T, r reply, path string) {
	t.Helper()
	if r.OK || r.Held || r.Reason != string(platform.ReasonPermission) {
		t.Fatalf("%+v", r)
	}
	if !strings.Contains(r.Text, path) || !strings.Contains(r.Text, "change its owner or mode") {
		t.Fatal(r.Text)
	}
}

func checkModes(t *testing.T, dir string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode()&0o002 != 0 {
			t.Fatalf("%s is world-writable: %v", e.Name(), info.Mode())
		}
	}
}

// F40: root takes the lock in a user's folder first. The user is not locked out.
func TestF40_RootInAUsersFolder(t *testing.T) {
	child.NeedRoot(t)
	mechanisms(t, func(t *testing.T, file bool, _ ...processlock.Option) {
		for _, mode := range []uint32{0o755, 0o700, 0o2750} {
			dir := child.Folder(t, child.Ann, child.Ann, mode)
			path := filepath.Join(dir, "l")
			root, ann := start(t, nil), startAs(t, child.As(child.Ann, child.Ann))
			take, give := command{Do: "acquire", Path: path, File: file}, command{Do: "release", Path: path}
			root.must(take)
			if r := ann.Do(take); !r.Held || r.Holder != root.PID() {
				t.Fatalf("%+v", r)
			}
			root.must(give)
			ann.must(take)
			if r := root.Do(take); !r.Held || r.Holder != ann.PID() {
				t.Fatalf("%+v", r)
			}
			ann.must(give)
			root.must(take)
			root.Kill() // what it left can be replaced
			ann.must(take)
		}
	})
}

// F40: the lock that belongs to a database has its owner, group and mode.
func TestF40_CreatedLike(t *testing.T) {
	child.NeedRoot(t)
	for _, c := range []struct {
		uid, gid int
		mode     os.FileMode
		want     string
	}{
		{child.Ann, child.Team, 0o660, "65531:65533 -rw-rw----"},
		{child.Ann, child.Ann, 0o600, "65531:65531 -rw-------"},
		{0, child.Team, 0o666, "0:65533 -rw-rw-r--"},
		{child.Bob, child.Team, 0o640, "65532:65533 -rw-r-----"},
	} {
		dir := child.Folder(t, 0, child.Bob, 0o2775)
		path := filepath.Join(dir, "l")
		write(t, path+".db", "")
		if err := os.Chown(path+".db", c.uid, c.gid); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path+".db", c.mode); err != nil {
			t.Fatal(err)
		}
		mustRelease(t, acquire(t, path, processlock.CreatedLike(path+".db")))
		if got := whose(t, path); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// whose is a file's owner, group and mode.
func whose(t testing.TB, path string) string {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	stat := info.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("%d:%d %v", stat.Uid, stat.Gid, info.Mode())
}
