//go:build linux

package processlock_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
)

// fails wants a *Failure with the reason, soon, that names the path, and nothing held.
func fails(t *testing.T, path string, want platform.Reason, options ...processlock.Option) {
	t.Helper()
	began := time.Now()
	result := processlock.Acquire(context.Background(), platform.OS(), path, options...)
	failure, ok := errors.AsType[*processlock.Failure](result.Error())
	if !ok {
		t.Fatalf("want a Failure, got %v", result)
	}
	if failure.Reason != want || failure.Tag() != "ProcessLockFailure" || failure.Path != path {
		t.Fatalf("reason %q, want %q: %v", failure.Reason, want, failure)
	}
	if shown, _, _ := strings.Cut(path[:min(len(path), 100)], "\x00"); !strings.Contains(failure.Error(), shown) {
		t.Fatalf("%q does not name the path", failure.Error())
	}
	if lines := processlock.InProcessLines(); lines != 0 {
		t.Fatal("the turn is kept")
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Fatal("it took ", took)
	}
}

func TestK12_BadPaths(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		dir := t.TempDir()
		in := func(name string) string { return filepath.Join(dir, name) }
		write(t, in("file"), "text")
		if err := os.Mkdir(in("directory"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mkfifo(in("fifo"), 0o644); err != nil {
			t.Fatal(err)
		}
		for name, target := range map[string]string{"dangling": in("nowhere"), "link": in("file"), "loop": in("loop")} {
			if err := os.Symlink(target, in(name)); err != nil {
				t.Fatal(err)
			}
		}
		before := entries(t, dir)
		for name, c := range map[string]struct {
			path   string
			reason platform.Reason
		}{
			"missing directory":            {in("none/l"), platform.ReasonNotFound},
			"a file on the way":            {in("file/l"), platform.ReasonNotDirectory},
			"a directory at the path":      {in("directory"), platform.ReasonIsDirectory},
			"a slash at the end":           {in("x") + "/", platform.ReasonIsDirectory},
			"a dot":                        {in("directory") + "/.", platform.ReasonIsDirectory},
			"empty":                        {"", platform.ReasonInvalid},
			"a NUL":                        {in("a\x00b"), platform.ReasonInvalid},
			"a FIFO":                       {in("fifo"), platform.ReasonNotRegular},
			"F18 a dangling symlink":       {in("dangling"), platform.ReasonSymlink},
			"F23 a symlink":                {in("link"), platform.ReasonSymlink},
			"a symlink to itself":          {in("loop"), platform.ReasonSymlink},
			"F24 5,000 characters":         {in(strings.Repeat("x", 5000)), platform.ReasonNameTooLong},
			"F24 5,000 characters of path": {in(strings.Repeat("x/", 2500) + "l"), platform.ReasonNotFound},
			"a device":                     {"/dev/null", platform.ReasonNotRegular},
		} {
			t.Run(name, func(t *testing.T) {
				fails(t, c.path, c.reason, options...)
				held, err := processlock.IsHeld(context.Background(), platform.OS(), c.path, options...)
				if held || c.reason != platform.ReasonNotFound && err == nil {
					t.Fatal("IsHeld: ", held, err)
				}
			})
		}
		if after := entries(t, dir); after != before {
			t.Fatalf("%s, was %s", after, before)
		}
		if data, err := os.ReadFile(in("file")); err != nil || string(data) != "text" {
			t.Fatal("the link's target was touched: ", string(data), err)
		}
	})
}

func TestK12_NotADatabase(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"text":    "just some text that is longer than the header of a database, which has a hundred bytes, so here is more of it",
		"NUL":     strings.Repeat("\x00", 5000),
		"cut off": "SQLite format 3\x00\x10\x00",
		"one":     "x",
	} {
		path := filepath.Join(dir, name)
		write(t, path, content)
		fails(t, path, platform.ReasonNotLock)
		if data, err := os.ReadFile(path); err != nil || string(data) != content {
			t.Fatal(name, " was changed")
		}
		if names := entries(t, dir); strings.Contains(names, "holder") || strings.Contains(names, "journal") {
			t.Fatal(names)
		}
	}
}

// F18: 100 MB where a stamp belongs: bounded time and memory, and left alone.
func TestF18_HugeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	write(t, path, "")
	if err := os.Truncate(path, 100<<20); err != nil {
		t.Fatal(err)
	}
	fails(t, path, platform.ReasonTooLarge, processlock.WithoutSQLite())
	if info, err := os.Stat(path); err != nil || info.Size() != 100<<20 {
		t.Fatal(err)
	}
}

// F18: odd things where the holder file of a SQLite lock belongs.
func TestF18_OddHolderFiles(t *testing.T) {
	other := start(t, nil)
	for name, c := range map[string]struct {
		make   func(path string) error
		reason platform.Reason // "": it is replaced
	}{
		"100 MB":    {func(p string) error { return errors.Join(os.WriteFile(p, nil, 0o644), os.Truncate(p, 100<<20)) }, ""},
		"FIFO":      {func(p string) error { return unix.Mkfifo(p, 0o644) }, platform.ReasonNotRegular},
		"directory": {func(p string) error { return os.Mkdir(p, 0o755) }, platform.ReasonIsDirectory},
		"dangling":  {func(p string) error { return os.Symlink("/nowhere", p) }, platform.ReasonSymlink},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "l")
			other.must(command{Do: "acquire", Path: path})
			if err := errors.Join(os.Remove(path+".holder"), c.make(path+".holder")); err != nil {
				t.Fatal(err)
			}
			if h := refused(t, path); h.Holder.IsPresent() { // read it, in bounded time
				t.Fatal(h)
			}
			_ = other.Do(command{Do: "release", Path: path})
			if c.reason == "" {
				mustRelease(t, acquire(t, path))
				return
			}
			_ = os.Remove(path + ".holder")
			if err := c.make(path + ".holder"); err != nil {
				t.Fatal(err)
			}
			fails(t, path, c.reason)
			if r := other.Do(command{Do: "acquire", Path: path}); r.Held {
				t.Fatal("the failed acquisition holds the lock")
			}
		})
	}
}

func TestR8_NetworkStorage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	p := *platform.OS()
	p.FS = networked{p.FS}
	err := processlock.Acquire(context.Background(), &p, path).Error()
	failure, ok := errors.AsType[*processlock.Failure](err)
	if !ok || failure.Reason != platform.ReasonNetworkStorage || !strings.Contains(err.Error(), "fuse.sshfs") {
		t.Fatal(err)
	}
	if _, err := processlock.IsHeld(context.Background(), &p, path); platform.Reason("") == reasonOf(err) {
		t.Fatal(err)
	}
	lock, err := processlock.Acquire(context.Background(), &p, path, processlock.AllowNetworkStorage()).Get()
	if err != nil {
		t.Fatal(err)
	}
	mustRelease(t, lock)
}

// R8: a container may have the one file from a network, in a folder of its own.
func TestR8_NetworkFileInALocalFolder(t *testing.T) {
	mechanisms(t, func(t *testing.T, _ bool, options ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		p := *platform.OS()
		p.FS = mountedFile{p.FS, path}
		err := processlock.Acquire(context.Background(), &p, path, options...).Error()
		if reasonOf(err) != platform.ReasonNetworkStorage || !strings.Contains(err.Error(), "nfs") {
			t.Fatal(err)
		}
	})
}

func reasonOf(err error) platform.Reason {
	if f, ok := errors.AsType[*processlock.Failure](err); ok {
		return f.Reason
	}
	return ""
}

func TestRetryMustBePositive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	for _, d := range []time.Duration{0, -1, 1 << 62} {
		fails(t, path, platform.ReasonInvalid, processlock.Retry(d))
	}
}
