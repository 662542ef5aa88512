//go:build unix

package main

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// tester is who runs the programs of a test.
type tester string

const (
	ourselves tester = "the tests' user"
	nobody    tester = "nobody"
)

// users are those that this process may be.
func users() []tester {
	if os.Getuid() == 0 {
		return []tester{ourselves, nobody}
	}
	return []tester{ourselves}
}

func (u tester) attributes(a *syscall.SysProcAttr) *syscall.SysProcAttr {
	if u == nobody {
		a.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	return a
}

// home is a folder of the user with the tool in it, by its name.
func (u tester) home(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tether-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if u == nobody {
		program = publicCopy()
		if err := os.Chown(dir, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"tether", "counter"} {
		if err := os.Symlink(program, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// publicCopy is this program where everybody gets at it.
var publicCopy = sync.OnceValue(func() string {
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	data, err := os.ReadFile(program)
	if err != nil {
		panic(err)
	}
	file, err := os.CreateTemp("", "tether-test-program-")
	if err != nil {
		panic(err)
	}
	_, _ = file.Write(data)
	_ = file.Chmod(0o755)
	_ = file.Close()
	atEnd = append(atEnd, func() { _ = os.Remove(file.Name()) })
	return file.Name()
})
