//go:build unix

package bench_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"

	"github.com/rivus/tether/internal/sqlite3"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
)

// raw is a SQLite connection by hand: Tether's own driver and nothing around it.
func raw(b *testing.B, path string, flags int, sql string) *sqlite3.Conn {
	c, err := sqlite3.Open(path, sqlite3.OpenReadWrite|flags)
	if err == nil {
		err = c.Exec(sql)
	}
	if err != nil {
		b.Fatal(err)
	}
	return c
}

func must(b *testing.B, err error) {
	if err != nil {
		b.Fatal(err)
	}
}

// nameless has no own identity, so no holder file is written.
type nameless struct{ platform.Process }

func (nameless) Self() (platform.Identity, error) {
	return platform.Identity{}, &platform.Failure{Op: "identify", Reason: platform.ReasonUnsupported}
}

// synced syncs the holder file, as nothing needs it to be.
type synced struct{ platform.FS }

func (s synced) WriteWhole(path string, data []byte) error { return s.WriteAtomic(path, data) }

func platforms() (plain, noHolder, syncedHolder *platform.Platform) {
	plain = platform.OS()
	a, b := *plain, *plain
	a.Process, b.FS = nameless{a.Process}, synced{b.FS}
	return plain, &a, &b
}

// inMemory is a directory on a file system in memory, where there is one. On ext4 a
// loop that creates and removes a file measures something else: each new file is
// searched for past every inode that was freed in the last minute (the kernel's
// recently_deleted), some 150 us after a few thousand, 7 us for a program that takes
// a lock once. Set TETHER_BENCH_DIR to measure another one.
func inMemory(b *testing.B) string {
	dir := os.Getenv("TETHER_BENCH_DIR")
	if info, err := os.Stat("/dev/shm"); dir == "" && err == nil && info.IsDir() {
		dir = "/dev/shm"
	}
	dir, err := os.MkdirTemp(dir, "tether")
	must(b, err)
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func BenchmarkProcessLockAcquireRelease(b *testing.B) {
	path := filepath.Join(inMemory(b), "l")
	plain, noHolder, syncedHolder := platforms()
	b.Run("raw", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c := raw(b, path, sqlite3.OpenCreate, "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE")
			must(b, c.Exec("ROLLBACK"))
			must(b, c.Close())
		}
	})
	lock := func(path string, p *platform.Platform, options ...processlock.Option) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				lock, err := processlock.Acquire(context.Background(), p, path, options...).Get()
				must(b, err)
				must(b, lock.Release())
			}
		}
	}
	b.Run("tether", lock(path, plain))
	b.Run("tether-no-holder-file", lock(path, noHolder))
	b.Run("tether-synced-holder-file", lock(path, syncedHolder))
	b.Run("tether-lock-file", lock(path+".file", plain, processlock.WithoutSQLite()))
	// What a holder file costs at least: it appears and goes.
	b.Run("holder-file-alone", func(b *testing.B) {
		b.ReportAllocs()
		data := make([]byte, 230)
		for b.Loop() {
			must(b, plain.FS.WriteWhole(path+".x", data))
			must(b, plain.FS.Remove(path+".x"))
		}
	})
	b.Run("flock", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			l := flock.New(path + ".flock")
			ok, err := l.TryLock()
			if !ok || err != nil {
				b.Fatal(ok, err)
			}
			must(b, l.Unlock())
		}
	})
}

func BenchmarkProcessLockIsHeld(b *testing.B) {
	for _, held := range []bool{false, true} {
		name := map[bool]string{false: "free", true: "held"}[held]
		b.Run(name, func(b *testing.B) { isHeld(b, held) })
	}
}

// isHeld asks from another platform value: the own one's answer about a lock that
// this process holds comes from memory.
func isHeld(b *testing.B, held bool) {
	path := filepath.Join(inMemory(b), "l")
	plain, other, _ := platforms()
	lock, err := processlock.Acquire(context.Background(), plain, path).Get()
	must(b, err)
	f := flock.New(path + ".flock")
	if _, err := f.TryLock(); err != nil {
		b.Fatal(err)
	}
	if !held {
		must(b, lock.Release())
		must(b, f.Unlock())
	}
	defer f.Unlock()
	defer lock.Release()
	b.Run("raw", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c, err := sqlite3.Open(path, sqlite3.OpenReadWrite)
			must(b, err)
			if err := c.Exec("SELECT 1 FROM sqlite_master LIMIT 1"); (err != nil) != held {
				b.Fatal(err)
			}
			must(b, c.Close())
		}
	})
	b.Run("tether", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if is, err := processlock.IsHeld(context.Background(), other, path); is != held || err != nil {
				b.Fatal(is, err)
			}
		}
	})
	b.Run("flock", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			l := flock.New(path + ".flock")
			ok, err := l.TryLock()
			if ok == held || err != nil {
				b.Fatal(ok, err)
			}
			must(b, l.Unlock())
		}
	})
}
