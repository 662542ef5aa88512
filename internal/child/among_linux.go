package child

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// amongEnv is set in a run of the tests whose children are several users.
const amongEnv = "TETHER_TEST_AMONG_USERS"

// Among reports whether the children of this run are several users: root, Ann and Bob
// by turns, where Ann and Bob are in Team.
func Among() bool { return os.Getenv(amongEnv) != "" }

var turn atomic.Int64

// Next makes the command run as the user whose turn it is, if this run is among users.
func Next(cmd *exec.Cmd) {
	if !Among() {
		return
	}
	users := []User{As(Ann, Team), Same, As(Bob, Team)}
	users[int(turn.Add(1))%len(users)](cmd)
}

var sharedDirs sync.Map

// Share makes dir a folder of Team, with what is in it, if this run is among users and
// dir is there. It does so once.
func Share(t testing.TB, dir string) {
	t.Helper()
	if !Among() {
		return
	}
	if _, done := sharedDirs.LoadOrStore(dir, true); done {
		return
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return errors.Join(os.Chown(path, -1, Team), os.Chmod(path, 0o770|fs.ModeSetgid))
		case d.Type().IsRegular():
			return errors.Join(os.Chown(path, -1, Team), os.Chmod(path, 0o660))
		}
		return nil
	})
	if err == nil {
		err = os.Chmod(filepath.Dir(dir), 0o755) // t.TempDir is in one that is closed
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

// RunAs runs the tests of this binary that the pattern run names, but for those that
// skip names, again as a user, or among users where that is root. At least so many
// must pass.
func RunAs(t *testing.T, as User, among bool, run, skip string, least int) {
	t.Helper()
	NeedRoot(t)
	if Among() || os.Getenv("TETHER_TEST_AS") != "" {
		t.Skip("this is such a run")
	}
	limit := 8 * time.Minute
	if deadline, ok := t.Deadline(); ok {
		limit = min(limit, time.Until(deadline)-10*time.Second)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe", "-test.short", "-test.v", "-test.run="+run, "-test.skip="+skip)
	cmd.Env = append(os.Environ(), "TETHER_TEST_AS=1", "TMPDIR="+Folder(t, 0, 0, 0o1777))
	if among {
		cmd.Env = append(cmd.Env, amongEnv+"=1")
	}
	as(cmd)
	out, err := cmd.CombinedOutput()
	passed, skipped := bytes.Count(out, []byte("\n--- PASS: ")), bytes.Count(out, []byte("\n--- SKIP: "))
	if err != nil || passed < least {
		t.Fatalf("%v, %d passed, want %d\n%s", err, passed, least, failures(string(out)))
	}
	t.Logf("%d tests passed, %d were skipped", passed, skipped)
}

// failures is what a run said that failed, as far as anybody reads it.
func failures(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(strings.TrimSpace(line), "=== ") && !strings.Contains(line, "--- PASS") && !strings.Contains(line, "--- SKIP") {
			b.WriteString(line)
		}
	}
	const most = 8000
	if b.Len() > most {
		return fmt.Sprintf("%s\n... (%d bytes)", b.String()[:most], b.Len())
	}
	return b.String()
}
