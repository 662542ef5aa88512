package lease_test

import (
	"sync/atomic"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
)

// unsynced is a disk on which a folder's sync fails while failing is set, as a device
// with bad blocks answers: what a rename changed is seen, and not durable.
type unsynced struct {
	*disk
	failing func() bool
	failed  int
}

func (u *unsynced) WriteAtomic(path string, data []byte) error {
	if err := u.WriteWhole(path, data); err != nil {
		return err
	}
	return u.SyncDir(diskDir)
}

func (u *unsynced) SyncDir(dir string) error {
	if u.failing() {
		u.failed++
		return &platform.Failure{Op: "sync directory", Path: dir, Reason: platform.ReasonIO}
	}
	// The content is synced before the rename.
	u.mu.Lock()
	for _, n := range u.names {
		n.safe = n.data
	}
	u.mu.Unlock()
	return u.disk.SyncDir(dir)
}

// F43: what was not synced is no acquisition, though it can be read back. The power
// is cut then, and the generation was told to nobody.
func TestF43_NoAcquisitionWithoutASync(t *testing.T) {
	d := &unsynced{disk: newDisk(), failing: func() bool { return true }}
	var told []lease.FencingToken
	out := boot(d.disk, "first", func(p *platform.Platform) effect.Effect[unit] {
		p.FS = d
		m, err := lease.NewManager(p, lease.NewFileRepository(p, diskDir, lease.WithoutSQLite()), silent)
		if err != nil {
			t.Fatal(err)
		}
		return in(m.Acquire(key).Map(func(l *lease.Lease) unit {
			told = append(told, l.Token())
			return unit{}
		}))
	})
	exit, _ := out.Exit.Get()
	if len(told) > 0 || d.failed == 0 {
		t.Fatalf("%d syncs failed, and it has acquired %v", d.failed, told)
	}
	expect(t, "reason", as[*lease.RepositoryFailure](exit.Err()).Reason, lease.RepositoryIO)
}

// F43: once the disk syncs again, by the second write of an acquisition, the key can be
// had, and what was told survives the power cut.
func TestF43_TheNextSyncCounts(t *testing.T) {
	var syncs atomic.Int64
	d := &unsynced{disk: newDisk(), failing: func() bool { return syncs.Add(1) == 1 }}
	acquire := func(p *platform.Platform, told *int64) effect.Effect[unit] {
		m, err := lease.NewManager(p, lease.NewFileRepository(p, diskDir, lease.WithoutSQLite()), silent)
		if err != nil {
			t.Fatal(err)
		}
		return in(m.Acquire(key).Map(func(l *lease.Lease) unit {
			*told = l.Token().Generation
			if *told == 1 {
				d.mu.Lock()
				d.off = true
				d.mu.Unlock()
			}
			return unit{}
		}))
	}
	var first, second int64
	boot(d.disk, "first", func(p *platform.Platform) effect.Effect[unit] {
		p.FS = d
		return acquire(p, &first).Ignore()
	})
	boot(d.image(drawing(0)), "second", func(p *platform.Platform) effect.Effect[unit] { return acquire(p, &second) })
	if first != 1 || second != 2 || d.failed != 1 {
		t.Errorf("generations %d and %d, %d failed syncs", first, second, d.failed)
	}
}
