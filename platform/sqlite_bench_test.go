package platform_test

import (
	"path/filepath"
	"testing"

	"github.com/rivus/tether/platform"
)

func BenchmarkTryLock(b *testing.B) {
	dir, _ := platform.OS().FS.ResolveDir(b.TempDir())
	path := filepath.Join(dir, "l")
	if err := platform.OS().SQLite.Create(path, ""); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		lock, err := platform.OS().SQLite.TryLock(path)
		if err != nil {
			b.Fatal(err)
		}
		if err := lock.Unlock(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkProbe(b *testing.B) {
	dir, _ := platform.OS().FS.ResolveDir(b.TempDir())
	path := filepath.Join(dir, "l")
	if err := platform.OS().SQLite.Create(path, ""); err != nil {
		b.Fatal(err)
	}
	lock, err := platform.OS().SQLite.TryLock(path)
	if err != nil {
		b.Fatal(err)
	}
	lock.Unlock()
	b.ReportAllocs()
	for b.Loop() {
		if err := platform.OS().SQLite.Probe(path); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkResolveDir(b *testing.B) {
	dir := b.TempDir()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := platform.OS().FS.ResolveDir(dir); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWriteWhole(b *testing.B) {
	dir := b.TempDir()
	b.ReportAllocs()
	data := make([]byte, 200)
	for b.Loop() {
		if err := platform.OS().FS.WriteWhole(dir+"/x", data); err != nil {
			b.Fatal(err)
		}
		if err := platform.OS().FS.Remove(dir + "/x"); err != nil {
			b.Fatal(err)
		}
	}
}
