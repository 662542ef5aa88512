package lease_test

import (
	"os"
	"runtime"
	"sync"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/samber/mo"
	"golang.org/x/sys/unix"
)

// phased tells of the phases of each call of a repository.
type phased struct {
	lease.Repository
	w *worker

	mu  sync.Mutex
	ids map[string]mo.Option[string] // of the records that were written last, by key
}

// phasedBatch is phased for a repository that renews many leases in one write.
type phasedBatch struct{ *phased }

func newPhased(r lease.Repository, w *worker) lease.Repository {
	p := &phased{Repository: r, w: w, ids: map[string]mo.Option[string]{}}
	if _, batches := r.(lease.BatchSaver); batches {
		return phasedBatch{p}
	}
	return p
}

var (
	phases = []string{
		"load", "loaded", "acquire", "acquired", "renew", "renewed", "release", "released", "fence", "fenced",
	}
	batchPhases = []string{"renew all", "renewed all"}
)

func (p *phased) phase(name string) effect.Effect[unit] {
	return effect.SyncUnit(func() {
		if p.w.Phases {
			p.w.say(reply{Phase: name, At: monotonic()})
		}
		p.w.out.Lock()
		stop := p.w.StopAt == name
		if stop {
			p.w.StopAt = ""
		}
		p.w.out.Unlock()
		if stop {
			// To this very thread, which would run on for a moment if another
			// one took the signal.
			runtime.LockOSThread()
			_ = unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGSTOP)
			runtime.UnlockOSThread()
		}
	})
}

func (p *phased) Load(key string) effect.Effect[mo.Option[lease.Record]] {
	return p.phase("load").AndThen(p.Repository.Load(key)).
		Tap(func(mo.Option[lease.Record]) effect.Effect[unit] { return p.phase("loaded") })
}

func (p *phased) Save(key string, next lease.Record, expected mo.Option[int64]) effect.Effect[unit] {
	p.mu.Lock()
	before, after := "acquire", "acquired"
	switch {
	case next.IsTombstone():
		before, after = "release", "released"
	case next.HolderID == p.ids[key]:
		before, after = "renew", "renewed"
	}
	p.ids[key] = next.HolderID
	p.mu.Unlock()
	return p.phase(before).AndThen(p.Repository.Save(key, next, expected)).AndThen(p.phase(after))
}

func (p phasedBatch) SaveAll(writes []lease.Write) effect.Effect[[]error] {
	return p.phase(batchPhases[0]).AndThen(p.Repository.(lease.BatchSaver).SaveAll(writes)).
		Tap(func([]error) effect.Effect[unit] { return p.phase(batchPhases[1]) })
}

func (p *phased) Fence(key string) effect.Effect[unit] {
	return p.phase("fence").AndThen(p.Repository.Fence(key)).AndThen(p.phase("fenced"))
}

func (p *phased) WatchReleases(key string, changed func()) effect.Effect[unit] {
	return p.Repository.(lease.ReleaseWatcher).WatchReleases(key, changed).AndThen(p.phase("watching"))
}
