//go:build linux

package processlock_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rivus/tether/internal/alone"
)

// F22: another file system is mounted over the folder, and its file has the number
// that the held one has, as the first files of two tmpfs have.
func TestF22_VerifyFindsAnotherFileSystem(t *testing.T) {
	if !alone.WithMounts(t) {
		return
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "l")
	number := func() uint64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Sys().(*syscall.Stat_t).Ino
	}
	alone.Memory(t, dir)
	write(t, path, "")
	lock, first := acquire(t, path), number()
	if ok, err := lock.Verify(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	alone.Memory(t, dir)
	write(t, path, "")
	if again := number(); again != first {
		t.Skip("this kernel numbers files otherwise: ", first, again)
	}
	start(t, nil).must(command{Do: "acquire", Path: path})
	if ok, err := lock.Verify(); ok || err != nil {
		t.Fatal("it did not notice: ", ok, err)
	}
	mustRelease(t, lock)
	if names := entries(t, dir); names != "[l l.holder]" {
		t.Fatal("the other's stamp was removed: ", names)
	}
}
