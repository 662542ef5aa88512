//go:build linux

// Package alone runs a test in a process of its own: with other rights, limits or
// mounts, which a process cannot take back.
package alone

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const env = "TETHER_TEST_ALONE"

// Run runs the calling test alone in a process that change prepares, and answers
// false; inside that process it answers true. A test that was skipped there is
// skipped, and so is one whose process may not be made.
func Run(t *testing.T, change func(*exec.Cmd)) bool {
	t.Helper()
	if os.Getenv(env) != "" {
		return true
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$", "-test.v")
	cmd.Env = append(os.Environ(), env+"=1")
	change(cmd)
	out, err := cmd.CombinedOutput()
	text := string(out)
	switch {
	case errors.Is(err, syscall.EPERM):
		t.Skip("not permitted here: ", err)
	case err != nil:
		t.Fatalf("%v\n%s", err, text)
	case strings.Contains(text, "--- SKIP"):
		t.Skip(text)
	case !strings.Contains(text, "--- PASS"):
		t.Fatalf("it did not run:\n%s", text)
	}
	return false
}

// WithMounts is Run in a mount namespace of its own. It skips the test where that
// is not permitted.
func WithMounts(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	if !Run(t, func(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS} }) {
		return false
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Skip("not permitted here: ", err)
	}
	return true
}

// FullDisk mounts a small file system without a free byte at dir, until the test
// ends. free gives its space back.
func FullDisk(t *testing.T, dir string) (free func()) {
	t.Helper()
	mount(t, dir, func() error { return unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m") })
	const name = "/full"
	full, err := os.Create(dir + name)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = full.Write(make([]byte, 4096))
	}
	if err := full.Close(); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Truncate(dir+name, 0); err != nil {
			t.Fatal(err)
		}
	}
}

// Memory mounts an empty file system at dir until the test ends.
func Memory(t *testing.T, dir string) {
	t.Helper()
	mount(t, dir, func() error { return unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=755") })
}

// NoWrites makes the file system that is mounted at dir read-only, wherever it is
// seen.
func NoWrites(t *testing.T, dir string) {
	t.Helper()
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Skip("not permitted here: ", err)
	}
}

// ReadOnly makes a read-only mount of dir, which may be a file, until the test ends.
func ReadOnly(t *testing.T, dir string) {
	t.Helper()
	mount(t, dir, func() error { return unix.Mount(dir, dir, "", unix.MS_BIND, "") })
	if err := unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Skip("not permitted here: ", err)
	}
}

func mount(t *testing.T, dir string, do func() error) {
	t.Helper()
	if err := do(); err != nil {
		t.Skip("not permitted here: ", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
}
