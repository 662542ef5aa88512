package child

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Ann and Bob are two users of no rights, and Team is a group, which nobody need know
// of.
const Ann, Bob, Team = 65531, 65532, 65533

// A User is how a command is run as somebody.
type User func(*exec.Cmd)

// As is a user of the one group gid.
func As(uid, gid uint32) User {
	return func(c *exec.Cmd) {
		c.Dir = "/" // the one at hand may be closed to others
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
	}
}

// Same is the user of the test.
func Same(*exec.Cmd) {}

// NeedRoot skips the test where it cannot be several users.
func NeedRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("being several users needs root")
	}
}

// Folder makes a directory with this owner and these bits, setgid and sticky ones
// included, which any user can reach.
func Folder(t testing.TB, uid, gid int, mode uint32) string {
	t.Helper()
	dir := t.TempDir()
	// In this order: a change of the owner takes the setgid bit.
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chown(dir, uid, gid), unix.Chmod(dir, mode)); err != nil {
		t.Fatal(err)
	}
	return dir
}
