package proptest_test

import (
	"testing"

	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/proptest"
)

func TestFencing(t *testing.T) { proptest.Fencing(t) }

// Whatever clocks do, a stale write never lands.
func TestFencingWithDriftingClocks(t *testing.T) { proptest.Fencing(t, proptest.Drift(250)) }

// On files of the simulated disk, whose fences and guards are lock files.
func TestFencingOnFiles(t *testing.T) {
	proptest.Fencing(t, onFiles(lease.WithoutSQLite()))
}

// On files whose fences and guards are the kernel's locks.
func TestFencingOnFilesWithKernelLocks(t *testing.T) { proptest.Fencing(t, onFiles()) }

func onFiles(options ...lease.RepositoryOption) proptest.FencingOption {
	return proptest.OnRepository(func(w *proptest.World) func(p *proptest.Process) lease.Repository {
		w.MakeDir("/leases")
		return func(p *proptest.Process) lease.Repository {
			return lease.NewFileRepository(p.Platform(), "/leases", options...)
		}
	})
}
