package lease_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rivus/tether/internal/child"
	"github.com/rivus/tether/lease"
)

// F39: a fence or a guard whose file may only be read excludes nobody. Two users of
// the folder are told so, naming the file and the way out, and neither gets in.
func TestF39_OnlyRead(t *testing.T) {
	child.NeedRoot(t)
	for name, c := range map[string]struct{ store, do, file string }{
		"the fence beside a database": {"sqlite", "fence", "leases.db.task%3A42.fence"},
		"the fence of a folder":       {"files", "fence", "task%3A42.lease.fence"},
		"the guard of a folder":       {"files", "save", "task%3A42.lease.guard"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := child.Folder(t, 0, child.Team, 0o2775)
			file := filepath.Join(dir, c.file)
			if err := os.WriteFile(file, nil, 0o644); err != nil {
				t.Fatal(err)
			}
			for _, uid := range []uint32{child.Ann, child.Bob, child.Ann} {
				r := spawnAs(t, quick(c.store, dir), child.As(uid, child.Team)).Do(command{Do: c.do})
				if r.OK || r.Tag != "LeaseRepositoryFailure" || r.Reason != string(lease.RepositoryIO) {
					t.Fatalf("%+v", r)
				}
				if !strings.Contains(r.Text, file) || !strings.Contains(r.Text, "permission") || !strings.Contains(r.Text, "change its owner or mode") {
					t.Fatal("no file, no permission or no way out: ", r.Text)
				}
			}
			if names, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(names) != 1 {
				t.Fatal("written: ", names, err)
			}
			// With the file's mode put right one gets in, and the other does not meanwhile.
			if err := unix.Chmod(file, 0o664); err != nil {
				t.Fatal(err)
			}
			ann := spawnAs(t, quick(c.store, dir), child.As(child.Ann, child.Team))
			ann.must(command{Do: c.do})
			bob := spawnAs(t, quick(c.store, dir), child.As(child.Bob, child.Team))
			if c.do == "fence" {
				bob.Tell(command{Do: "fence"})
				ann.Kill()
				if r := bob.reply(); !r.OK {
					t.Fatalf("%+v", r)
				}
			} else if r := bob.Do(command{Do: "save"}); r.Tag != "RevisionConflict" {
				t.Fatalf("%+v", r)
			}
		})
	}
}
