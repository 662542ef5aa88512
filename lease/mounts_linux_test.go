package lease_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/internal/alone"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
)

// onDisk acquires, and releases at once, on both stores that have a disk.
func onDisk(t *testing.T, dir string, judge func(t *testing.T, store string, err error)) {
	t.Helper()
	s := lease.NewSQLiteRepository(platform.OS(), filepath.Join(dir, "leases.db"))
	defer s.Close()
	for store, r := range map[string]lease.Repository{
		"sqlite": s,
		"files":  lease.NewFileRepository(platform.OS(), dir),
	} {
		leases, err := lease.NewManager(platform.OS(), r, lease.Config{TTL: 1e9, Heartbeat: 1e8})
		if err != nil {
			t.Fatal(err)
		}
		exit := effect.RunExit(context.Background(), effect.Scoped(leases.Acquire("key").FlatMap(func(l *lease.Lease) unitEffect {
			return l.RunFenced(func(lease.FencingToken) unitEffect { return effect.Void() })
		})))
		judge(t, store, exit.Err())
	}
}

type unitEffect = effect.Effect[unit]

// F24: no space left, for real. What could not be written is a failure that says
// so, leaves nothing behind, and with space again the key is free.
func TestF24_FullDisk(t *testing.T) {
	if !alone.WithMounts(t) {
		return
	}
	dir := t.TempDir()
	free := alone.FullDisk(t, dir)
	onDisk(t, dir, func(t *testing.T, store string, err error) {
		if f := as[*lease.RepositoryFailure](err); f == nil || f.Reason != lease.RepositoryIO || !strings.Contains(f.Message, "space") && !strings.Contains(f.Message, "full") {
			t.Errorf("%s: %v", store, err)
		}
	})
	free()
	onDisk(t, dir, func(t *testing.T, store string, err error) {
		if err != nil {
			t.Errorf("%s, with space again: %v", store, err)
		}
	})
	names, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(names) > 0 {
		t.Error("left: ", names, err)
	}
}

// F24: a file system that is mounted read-only.
func TestF24_ReadOnlyFileSystem(t *testing.T) {
	if !alone.WithMounts(t) {
		return
	}
	dir := t.TempDir()
	alone.ReadOnly(t, dir)
	onDisk(t, dir, func(t *testing.T, store string, err error) {
		if f := as[*lease.RepositoryFailure](err); f == nil || !strings.Contains(f.Message, "read-only") {
			t.Errorf("%s: %v", store, err)
		}
	})
}
