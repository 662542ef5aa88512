//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// copyOf copies the test program to where another user gets at it.
func copyOf(t *testing.T, to string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o755); err != nil {
		t.Fatal(err)
	}
}

// A database in a folder that the tool's user may read only.
func TestAReadOnlyFolder(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "folder")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	call(t, dir, "run", "--lease", "l.db", "job", "--", "true")
	program := filepath.Join(base, "tool")
	for _, path := range []string{filepath.Dir(base), base} {
		// For another user. These are the test's own.
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	copyOf(t, program)
	temporary := os.TempDir()
	read := func(args ...string) (out, errOut string, status int) {
		p := prepare(t, dir, args...)
		p.cmd.Env = append(p.cmd.Env, "TMPDIR="+temporary)
		p.cmd.Path = program
		if os.Getuid() == 0 {
			// Root may write anywhere; the tool is another user then.
			p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		p.begin()
		_ = p.in.Close()
		out, status = p.status()
		return out, p.err.String(), status
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	for _, c := range []string{"ls l.db", "show l.db job"} {
		if out, errOut, status := read(strings.Fields(c)...); status != 0 || !strings.Contains(out, "job") || !strings.Contains(out, "free") {
			t.Errorf("%s: status %d, %q, %q", c, status, out, errOut)
		}
	}

	temporary = filepath.Join(base, "none")
	if out, errOut, status := read("ls", "l.db"); status != statusLookTrouble || out != "" || !strings.Contains(errOut, "set TMPDIR") {
		t.Errorf("status %d, %q, %q", status, out, errOut)
	}
	temporary = os.TempDir()

	// Somebody died with it: what is in the main file alone is no answer.
	_ = os.Chmod(dir, 0o755)
	if err := os.WriteFile(filepath.Join(dir, "l.db-wal"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	_ = os.Chmod(dir, 0o555)
	if out, errOut, status := read("ls", "l.db"); status != statusLookTrouble || out != "" || !strings.Contains(errOut, "read-only") {
		t.Errorf("status %d, %q, %q", status, out, errOut)
	}
}
