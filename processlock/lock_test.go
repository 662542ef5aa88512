//go:build linux

package processlock_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
)

func TestK1_OneHolderAndItsTraces(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		dir := t.TempDir()
		path := filepath.Join(dir, "daemon.lock")
		lock := acquire(t, path, options...)
		want := "[daemon.lock daemon.lock.holder]"
		if file {
			want = "[daemon.lock]"
		}
		if got := entries(t, dir); got != want {
			t.Fatalf("while held: %s, want %s", got, want)
		}
		if info, err := os.Stat(path); err != nil || !file && info.Size() != 0 {
			t.Fatal("something was written into the database", info.Size(), err)
		}
		if lock.Path() != path || (lock.Mechanism() == processlock.LockFile) != file {
			t.Fatal(lock.Path(), lock.Mechanism())
		}
		if ok, err := lock.Verify(); !ok || err != nil {
			t.Fatal(ok, err)
		}
		other := start(t, nil)
		if r := other.Do(command{Do: "acquire", Path: path, File: file}); !r.Held || r.Holder != int64(os.Getpid()) {
			t.Fatalf("%+v", r)
		}
		mustRelease(t, lock)
		want = "[daemon.lock]"
		if file {
			want = "[]"
		}
		if got := entries(t, dir); got != want {
			t.Fatalf("after release: %s, want %s", got, want)
		}
		other.must(command{Do: "acquire", Path: path, File: file})
		if h := refused(t, path, options...); h.Holder.OrEmpty().PID != other.PID() {
			t.Fatal(h)
		}
	})
}

func TestK2_HeldNamesPathAndHolder(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		lock := acquire(t, path, options...)
		held := refused(t, path, options...)
		if diff := cmp.Diff(lock.Holder().MustGet(), held.Holder.MustGet()); diff != "" || held.Path != path {
			t.Fatal(diff, held.Path)
		}
		if held.Tag() != "ProcessLockHeld" || errors.TagOf(held) != held.Tag() {
			t.Fatal(held.Tag())
		}
		data, err := json.Marshal(held)
		if err != nil {
			t.Fatal(err)
		}
		var fields struct {
			Tag    string `json:"_tag"`
			Path   string
			Holder map[string]any
		}
		if err := json.Unmarshal(data, &fields); err != nil || fields.Tag != "ProcessLockHeld" || fields.Path != path {
			t.Fatal(string(data), err)
		}
		for _, name := range []string{"host", "bootId", "pid", "startTime", "acquiredAt", "nonce"} {
			if fields.Holder[name] == nil {
				t.Fatalf("no %s in %s", name, data)
			}
		}
	})
}

func TestK2_HeldWithoutHolder(t *testing.T) {
	data, err := json.Marshal(&processlock.Held{Path: "/x"})
	if err != nil || string(data) != `{"_tag":"ProcessLockHeld","path":"/x"}` {
		t.Fatal(string(data), err)
	}
	path := filepath.Join(t.TempDir(), "l")
	other := start(t, nil)
	other.must(command{Do: "acquire", Path: path})
	for _, content := range []string{"", "{", "null", "[1]", `{"host":"h"}`, strings.Repeat("[", 60000), "\x00\x00"} {
		write(t, path+".holder", content)
		if h := refused(t, path); h.Holder.IsPresent() {
			t.Fatalf("%.20q gave %v", content, h)
		}
	}
	if err := os.Remove(path + ".holder"); err != nil {
		t.Fatal(err)
	}
	if h := refused(t, path); h.Holder.IsPresent() {
		t.Fatal(h)
	}
}

func TestK3_HolderFileIsTheStampOfTheHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	write(t, path+".holder", `{"host":"x","bootId":"b","pid":1,"startTime":1,"acquiredAt":1,"nonce":"left by a dead one"}`)
	lock := acquire(t, path)
	data, err := os.ReadFile(path + ".holder")
	if err != nil {
		t.Fatal(err)
	}
	var got processlock.Holder
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	self, err := platform.OS().Process.Self()
	if err != nil {
		t.Fatal(err)
	}
	if got != lock.Holder().MustGet() || got.Identity != self || len(got.Nonce) != 32 || got.AcquiredAt <= 0 {
		t.Fatalf("%s", data)
	}
	mustRelease(t, lock)
	if _, err := os.Stat(path + ".holder"); !os.IsNotExist(err) {
		t.Fatal(err)
	}
}

// K3: the holder file's place may be taken by a file of somebody else's, which is
// refused as it is; what a power cut leaves of a stamp is not in the way.
func TestK3_TheHolderFileIsNobodyElses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	for _, foreign := range []string{"my notes", `{"a": 1}`, strings.Repeat("{", 1<<20)} {
		write(t, path+".holder", foreign)
		fails(t, path, platform.ReasonInvalid)
		if data, err := os.ReadFile(path + ".holder"); err != nil || string(data) != foreign {
			t.Fatal(string(data), err)
		}
		if isHeld(t, path) {
			t.Fatal("held")
		}
	}
	for _, left := range []string{"", "\x00\x00\x00", `{"host":"x","pi`} {
		write(t, path+".holder", left)
		mustRelease(t, acquire(t, path))
	}
	for _, option := range [][]processlock.Option{nil, {processlock.WithoutSQLite()}} {
		fails(t, path+".holder", platform.ReasonInvalid, option...)
	}
}

// K4: PATH.stale is the guard of a lock file, and no lock of its own. Beside a
// SQLite lock nothing has that name.
func TestK4_TheGuardIsNobodyElses(t *testing.T) {
	dir := t.TempDir()
	before := entries(t, dir)
	for _, name := range []string{"l.stale", "l.stale.stale", ".stale"} {
		path := filepath.Join(dir, name)
		fails(t, path, platform.ReasonInvalid, processlock.WithoutSQLite())
		if _, err := processlock.IsHeld(context.Background(), platform.OS(), path, processlock.WithoutSQLite()); reasonOf(err) != platform.ReasonInvalid {
			t.Fatal(err)
		}
		if names := entries(t, dir); names != before {
			t.Fatal(names)
		}
	}
	mustRelease(t, acquire(t, filepath.Join(dir, "l.stale")))
}

func TestK8_ReleaseIsIdempotentAndConcurrent(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		for range rounds(50) {
			lock := acquire(t, path, options...)
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					if err := lock.Release(); err != nil {
						t.Error(err)
					}
					if ok, err := lock.Verify(); ok || err != nil {
						t.Error("a released lock verifies", err)
					}
				})
			}
			all.Wait()
			next := acquire(t, path, options...)
			mustRelease(t, lock) // a late one must not touch the successor's
			if ok, err := next.Verify(); !ok || err != nil {
				t.Fatal(ok, err)
			}
			if h := refused(t, path, options...); h.Holder.OrEmpty().Nonce != next.Holder().MustGet().Nonce {
				t.Fatal(h)
			}
			mustRelease(t, next)
		}
	})
}

func TestK9_IsHeld(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		dir := t.TempDir()
		path := filepath.Join(dir, "l")
		if isHeld(t, path, options...) || isHeld(t, filepath.Join(dir, "none", "l"), options...) {
			t.Fatal("what is not there is held")
		}
		if got := entries(t, dir); got != "[]" {
			t.Fatal("it created ", got)
		}
		lock := acquire(t, path, options...)
		if !isHeld(t, path, options...) {
			t.Fatal("own lock is free")
		}
		mustRelease(t, lock)
		if isHeld(t, path, options...) {
			t.Fatal("held after release")
		}
		other := start(t, nil)
		other.must(command{Do: "acquire", Path: path, File: file})
		if !isHeld(t, path, options...) {
			t.Fatal("another's lock is free")
		}
		before := entries(t, dir)
		other.Kill()
		if isHeld(t, path, options...) {
			t.Fatal("a dead one's lock is held")
		}
		if after := entries(t, dir); after != before {
			t.Fatal(before, after)
		}
	})
}

func TestK9_ContextIsLookedAtOnce(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	if _, err := processlock.IsHeld(ctx, platform.OS(), filepath.Join(t.TempDir(), "l")); !errors.Is(err, cause) {
		t.Fatal(err)
	}
}

func TestF22_VerifyFindsTheFileReplaced(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		for name, spoil := range map[string]func(path string) error{
			"removed": os.Remove,
			"renamed": func(path string) error { return os.Rename(path, path+".old") },
			"replaced": func(path string) error {
				if err := os.WriteFile(path+".new", nil, 0o644); err != nil {
					return err
				}
				return os.Rename(path+".new", path)
			},
		} {
			t.Run(name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "l")
				lock := acquire(t, path, options...)
				if err := spoil(path); err != nil {
					t.Fatal(err)
				}
				if ok, err := lock.Verify(); ok || err != nil {
					t.Fatal(ok, err)
				}
				// Another process may get it by the same path; its traces stay.
				if name == "replaced" && file {
					return // an empty file counts as held for a while
				}
				other := start(t, nil)
				other.must(command{Do: "acquire", Path: path, File: file})
				mustRelease(t, lock)
				if r := other.Do(command{Do: "verify", Path: path}); !r.OK {
					t.Fatal("the late release spoiled the other's lock")
				}
				if h := refused(t, path, options...); h.Holder.OrEmpty().PID != other.PID() {
					t.Fatal("the late release took the other's stamp: ", h)
				}
			})
		}
	})
}

func TestF23_DirectorySwappedForALink(t *testing.T) {
	mechanisms(t, func(t *testing.T, _ bool, options ...processlock.Option) {
		root := t.TempDir()
		dir, elsewhere := filepath.Join(root, "dir"), filepath.Join(root, "elsewhere")
		for _, d := range []string{dir, elsewhere} {
			if err := os.Mkdir(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		precious := []string{filepath.Join(elsewhere, "l"), filepath.Join(elsewhere, "l.holder")}
		for _, p := range precious {
			write(t, p, "precious")
		}
		lock := acquire(t, filepath.Join(dir, "l"), options...)
		if err := os.Rename(dir, dir+".old"); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(elsewhere, dir); err != nil {
			t.Fatal(err)
		}
		if ok, err := lock.Verify(); ok || err != nil {
			t.Fatal(ok, err)
		}
		mustRelease(t, lock)
		for _, p := range precious {
			if data, err := os.ReadFile(p); err != nil || string(data) != "precious" {
				t.Fatal(p, string(data), err)
			}
		}
	})
}
