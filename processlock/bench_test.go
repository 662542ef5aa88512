//go:build linux

package processlock_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/rivus/tether/internal/sqlite3"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
)

// The reference: the same, by hand.
func rawOpen(b *testing.B, path string, flags int) *sqlite3.Conn {
	c, err := sqlite3.Open(path, sqlite3.OpenReadWrite|flags)
	if err != nil {
		b.Fatal(err)
	}
	return c
}

func rawExec(b *testing.B, c *sqlite3.Conn, sql string) {
	if err := c.Exec(sql); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkAcquireRelease(b *testing.B) {
	path := filepath.Join(b.TempDir(), "l")
	b.Run("raw", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c := rawOpen(b, path, sqlite3.OpenCreate)
			rawExec(b, c, "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE")
			rawExec(b, c, "ROLLBACK")
			if err := c.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	nameless := *platform.OS()
	nameless.Process = namelessProcess{nameless.Process}
	for name, p := range map[string]*platform.Platform{"tether": platform.OS(), "tether without holder file": &nameless} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				lock, err := processlock.Acquire(context.Background(), p, path).Get()
				if err != nil {
					b.Fatal(err)
				}
				if err := lock.Release(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("holder file alone", func(b *testing.B) {
		data := make([]byte, 250)
		for b.Loop() {
			if err := platform.OS().FS.WriteWhole(path+".x", data); err != nil {
				b.Fatal(err)
			}
			if err := platform.OS().FS.Remove(path + ".x"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkIsHeld(b *testing.B) {
	path := filepath.Join(b.TempDir(), "l")
	mustRelease(b, acquire(b, path))
	b.Run("raw", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c := rawOpen(b, path, 0)
			rawExec(b, c, "SELECT 1 FROM sqlite_master LIMIT 1")
			if err := c.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("tether", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if isHeld(b, path) {
				b.Fatal("held")
			}
		}
	})
}
