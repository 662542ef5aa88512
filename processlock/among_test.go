//go:build linux

package processlock_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rivus/tether/internal/child"
)

// again skips where a second run of the contract costs more than it finds.
func again(t *testing.T) {
	t.Helper()
	if testing.Short() || raced {
		t.Skip("it runs the whole contract again: not with -short, nor under the race detector")
	}
}

// The whole contract of the lock, when the processes of the tests are root and two
// users by turns, in a folder of their group, and when all of them are one user
// without rights.
func TestContractAmongUsers(t *testing.T) {
	again(t)
	child.RunAs(t, child.Same, true, "^Test[KHRF][0-9]", "F39|F40|F49_Unreadable|K12", 40)
}

func TestContractAsAnotherUser(t *testing.T) {
	again(t)
	child.RunAs(t, child.As(child.Ann, child.Ann), false, "^Test[KHRF][0-9]", "", 40)
}

// K1: among users the processes are three users.
func TestK1_AmongUsers(t *testing.T) {
	if !child.Among() {
		t.Skip("this run is not among users; TestContractAmongUsers makes one")
	}
	path := filepath.Join(t.TempDir(), "l")
	owners := map[uint32]bool{}
	for range 3 {
		p := start(t, nil)
		info, err := os.Stat(fmt.Sprint("/proc/", p.PID()))
		if err != nil {
			t.Fatal(err)
		}
		owners[info.Sys().(*syscall.Stat_t).Uid] = true
		p.must(command{Do: "acquire", Path: path})
		p.must(command{Do: "release", Path: path})
	}
	if !maps.Equal(owners, map[uint32]bool{0: true, child.Ann: true, child.Bob: true}) {
		t.Fatal(owners)
	}
}
