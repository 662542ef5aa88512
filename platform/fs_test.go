//go:build unix

package platform_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivus/tether/platform"
)

var files = platform.OS().FS

func listing(t testing.TB, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name()
	}
	return strings.Join(names, " ")
}

func wantReason(t testing.TB, err error, want platform.Reason) {
	t.Helper()
	if platform.ReasonOf(err) != want {
		t.Fatalf("reason %q, want %q: %v", platform.ReasonOf(err), want, err)
	}
}

func TestP6_WriteAtomic(t *testing.T) {
	for name, write := range map[string]func(string, []byte) error{"atomic": files.WriteAtomic, "whole": files.WriteWhole} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			for _, content := range []string{"one", "", strings.Repeat("x", 1<<20)} {
				if err := write(path, []byte(content)); err != nil {
					t.Fatal(err)
				}
				if data, err := os.ReadFile(path); err != nil || string(data) != content {
					t.Fatal(len(data), err)
				}
			}
			old := unix.Umask(0o077)
			defer unix.Umask(old)
			for _, mode := range []os.FileMode{0o640, 0o664, 0o666, 0o600} {
				if err := os.Chmod(path, mode); err != nil {
					t.Fatal(err)
				}
				if err := write(path, []byte("two")); err != nil {
					t.Fatal(err)
				}
				if info, err := os.Stat(path); err != nil || info.Mode() != mode&^0o002 { // never world-writable
					t.Fatal("the mode was not kept: ", info.Mode(), mode, err)
				}
			}
			if got := listing(t, dir); got != "f" {
				t.Fatal("left: ", got)
			}
		})
	}
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b", ".c", "a"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	if names, err := files.List(dir); err != nil || strings.Join(names, " ") != ".c a b fifo" {
		t.Fatal(names, err)
	}
	for name, want := range map[string]platform.Reason{
		"none": platform.ReasonNotFound, "a": platform.ReasonNotDirectory, "fifo": platform.ReasonNotDirectory,
	} {
		_, err := files.List(filepath.Join(dir, name))
		wantReason(t, err, want)
	}
}

func TestP6_WriteAtomicFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	before := listing(t, dir)
	for name, want := range map[string]platform.Reason{
		"d": platform.ReasonIsDirectory, "link": platform.ReasonSymlink, "fifo": platform.ReasonNotRegular,
		"none/f": platform.ReasonNotFound, strings.Repeat("x", 300): platform.ReasonNameTooLong,
	} {
		wantReason(t, files.WriteAtomic(filepath.Join(dir, name), []byte("x")), want)
	}
	if after := listing(t, dir); after != before {
		t.Fatalf("%q, was %q", after, before)
	}
}

// P6: readers see the one content or the other, whole.
func TestP6_ReadersSeeWholeFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	contents := [][]byte{bytes.Repeat([]byte("a"), 10_000), bytes.Repeat([]byte("b"), 20_000)}
	if err := files.WriteWhole(path, contents[0]); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	over := make(chan struct{})
	all.Go(func() {
		defer close(over)
		for i := range 200 {
			if err := files.WriteWhole(path, contents[i%2]); err != nil {
				t.Error(err)
			}
		}
	})
	for going := true; going; {
		select {
		case <-over:
			going = false
		default:
		}
		data, err := files.ReadFile(path, 1<<20)
		if err != nil || !bytes.Equal(data, contents[0]) && !bytes.Equal(data, contents[1]) {
			t.Fatal(len(data), err)
		}
	}
	all.Wait()
}

func TestP6_CreateExclusiveAndLink(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for i, want := range []bool{true, false} {
		if got, err := files.CreateExclusive(path, []byte{'0' + byte(i)}); err != nil || got != want {
			t.Fatal(got, err)
		}
	}
	if data, _ := os.ReadFile(path); string(data) != "0" {
		t.Fatal(string(data))
	}
	second := filepath.Join(dir, "second")
	for _, want := range []bool{true, false} {
		if got, err := files.Link(path, second); err != nil || got != want {
			t.Fatal(got, err)
		}
	}
	a, b := mustStat(t, path), mustStat(t, second)
	if a.Inode != b.Inode || a.Device != b.Device || a.Size != 1 || a.Kind != platform.KindRegular {
		t.Fatal(a, b)
	}
	dangling := filepath.Join(dir, "dangling")
	if err := os.Symlink("nowhere", dangling); err != nil {
		t.Fatal(err)
	}
	if got, err := files.CreateExclusive(dangling, nil); got || err != nil {
		t.Fatal("F18: a dangling link was followed", err)
	}
	if got, err := files.Link(path, dangling); got || err != nil {
		t.Fatal(got, err)
	}
	for range 2 { // removing nothing succeeds
		if err := files.Remove(dangling); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(dangling, 0o755); err != nil {
		t.Fatal(err)
	}
	if files.Remove(dangling) == nil {
		t.Fatal("a directory was removed")
	}
}

func mustStat(t testing.TB, path string) platform.FileInfo {
	t.Helper()
	info, found, err := files.Stat(path)
	if err != nil || !found {
		t.Fatal(found, err)
	}
	return info
}

// F18: bounded time and memory, whatever is at the path.
func TestF18_ReadFile(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(in("f"), []byte("12345"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in("huge"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(in("huge"), 100<<20); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(in("fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(in("f"), in("link")); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int64{5, 6, 1 << 40} {
		if data, err := files.ReadFile(in("f"), limit); err != nil || string(data) != "12345" {
			t.Fatal(string(data), err)
		}
	}
	for name, want := range map[string]platform.Reason{
		"huge": platform.ReasonTooLarge, "fifo": platform.ReasonNotRegular, "link": platform.ReasonSymlink,
		".": platform.ReasonIsDirectory, "none": platform.ReasonNotFound, "f/x": platform.ReasonNotDirectory,
	} {
		_, err := files.ReadFile(in(name), 1<<16)
		wantReason(t, err, want)
	}
	_, err := files.ReadFile(in("f"), 4)
	wantReason(t, err, platform.ReasonTooLarge)
	// Files of /proc say that they are empty.
	if data, err := files.ReadFile("/proc/self/status", 1<<16); err == nil && len(data) == 0 {
		t.Fatal("the size was believed")
	}
	began := time.Now()
	if _, err := files.ReadFile("/dev/zero", 1<<16); platform.ReasonOf(err) != platform.ReasonNotRegular || time.Since(began) > time.Second {
		t.Fatal(err)
	}
}

func TestResolveDir(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link, file := filepath.Join(dir, "link"), filepath.Join(dir, "file")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, path := range []string{dir, dir + "/", link, link + "/link/", ".", "./link", ""} {
		if got, err := files.ResolveDir(path); err != nil || got != dir {
			t.Fatal(path, got, err)
		}
	}
	for path, want := range map[string]platform.Reason{file: platform.ReasonNotDirectory, "none": platform.ReasonNotFound, "file/x": platform.ReasonNotDirectory} {
		_, err := files.ResolveDir(path)
		wantReason(t, err, want)
	}
	if err := files.SyncDir(dir); err != nil {
		t.Fatal(err)
	}
	if err := files.Rename(file, file+"2"); err != nil {
		t.Fatal(err)
	}
	wantReason(t, files.Rename(file, file+"2"), platform.ReasonNotFound)
}

func TestR8_FileSystemType(t *testing.T) {
	kind, err := files.FileSystemType(t.TempDir())
	if err != nil || kind.Network || kind.Name == "" {
		t.Fatal(kind, err)
	}
	_, err = files.FileSystemType("/none")
	wantReason(t, err, platform.ReasonNotFound)
}
