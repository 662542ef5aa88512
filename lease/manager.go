package lease

import (
	"crypto/rand"
	"encoding/hex"
	"math"
	"sync"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/internal/list"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// Manager takes leases in the name of this process. Any number of managers, here
// and in other processes, compete for the keys of one repository; two managers
// of one process are two holders. Its methods may be called from any fiber.
type Manager struct {
	config     Config
	repository Repository
	batch      BatchSaver // nil: the repository has no such port
	platform   *platform.Platform
	newID      func() string

	mu sync.Mutex
	// clock is the one that the times below are of: two clocks are not compared.
	clock scope.Clock
	// sightings are the records that somebody else held when this manager last
	// looked; see prune for what bounds them.
	sightings map[string]sighting
	pruneAt   int
	// orphans are own acquisitions of unknown outcome that nobody will use, by
	// key and id, until they are known to be gone.
	orphans map[string]map[string]struct{}
	// waitlists has one for each key that somebody waits for.
	waitlists map[string]*waitlist
	// held are the leases with a heartbeat, when there is a batch: whose last renewal
	// was tried first comes first, but for those that were just acquired.
	held list.List[*Lease]
}

// HolderIDs makes the ids of acquisitions: 128 random bits in hexadecimal. Tests
// that must repeat provide another maker, whose ids must never repeat within a
// repository.
var HolderIDs = effect.NewReference("lease.HolderIDs", func() func() string {
	return func() string {
		var random [16]byte
		_, _ = rand.Read(random[:]) // never fails
		return hex.EncodeToString(random[:])
	}
})

// MakeManager makes a manager on the repository and the platform at hand
// (RepositoryService, platform.Service). It fails with *ConfigInvalid. It starts
// nothing and needs no scope: leases live in the scopes that acquire them.
func MakeManager(config Config) effect.Effect[*Manager] {
	return effect.Gen(func(do *effect.Do) *Manager {
		if config.Observer == nil {
			config.Observer = do.Await(ObserverService.Get())
		}
		m := do.Try(NewManager(do.Await(platform.Service.Get()), do.Await(RepositoryService.Get()), config))
		m.newID = do.Await(HolderIDs.Get())
		return m
	})
}

// NewManager is MakeManager outside any effect. The error is a *ConfigInvalid, also
// when there is no repository, or no platform that tells processes apart.
func NewManager(p *platform.Platform, r Repository, config Config) (*Manager, error) {
	config, err := config.normalize()
	switch {
	case err != nil:
		return nil, err
	case p == nil || p.Process == nil:
		return nil, &ConfigInvalid{"the platform must have a Process; give it platform.OS()"}
	case r == nil:
		return nil, &ConfigInvalid{"the repository is nil"}
	}
	batch, _ := r.(BatchSaver)
	return &Manager{
		config: config, repository: r, batch: batch, platform: p, newID: HolderIDs.Value(nil),
		sightings: make(map[string]sighting), pruneAt: pruneFrom,
		orphans: make(map[string]map[string]struct{}), waitlists: make(map[string]*waitlist),
	}, nil
}

// Config is the manager's config, its defaults filled in.
func (m *Manager) Config() Config { return m.config }

// Read gives the key's record, or none, and changes nothing (L17). It fails with
// *RepositoryFailure; an empty key is a defect.
func (m *Manager) Read(key string) effect.Effect[mo.Option[Record]] {
	if key == "" {
		return effect.Die[mo.Option[Record]](errEmptyKey)
	}
	return m.load(key)
}

var errEmptyKey = errors.New("lease: the key is empty; name what is to be held")

// load is Load with the answer checked: no decision is made on a record that is
// none.
func (m *Manager) load(key string) effect.Effect[mo.Option[Record]] {
	return effect.Direct(func(f *scope.Fiber) (mo.Option[Record], *scope.Cause) {
		stored, c := effect.RunOn(f, m.repository.Load(key))
		if c != nil {
			return stored, c
		}
		r, ok := stored.Get()
		if !ok {
			return stored, nil
		}
		err := r.Validate()
		if err == nil && r.Key != key {
			err = invalid("its key is %s", quote(r.Key))
		}
		if err != nil {
			return mo.None[Record](), scope.CauseFail(&RepositoryFailure{
				Key: key, Reason: RepositoryInvalidRecord,
				Message: "the stored record is invalid: " + err.Error(), Cause: err,
			})
		}
		return stored, nil
	})
}

// save is Save inside the evaluation, so that a repository that panics while it
// builds its effect is a defect of the right fiber.
func (m *Manager) save(key string, next Record, expected mo.Option[int64]) effect.Effect[effect.Unit] {
	return effect.Suspend(func() effect.Effect[effect.Unit] { return m.repository.Save(key, next, expected) })
}

func (m *Manager) tell(e Event) { m.config.Observer.tell(e) }

// wall is what records carry as the time, for people.
func wall(c scope.Clock) float64 { return math.Floor(float64(c.Now().UnixMicro()) / 1e3) }

const pruneFrom = 1024

// useClock forgets what was seen by another clock: who asks again waits a TTL
// more. m.mu is held.
func (m *Manager) useClock(c scope.Clock) {
	c = scope.BaseClock(c)
	if m.clock != nil && same(m.clock, c) {
		return
	}
	m.clock = c
	clear(m.sightings)
	for _, l := range m.waitlists {
		l.next = 0
	}
}

// look tells whether stored may be written over, and remembers what it saw.
func (m *Manager) look(c scope.Clock, key string, stored mo.Option[Record], liveness platform.Liveness, asked, answered time.Duration) (Takeover, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.useClock(c)
	r, ok := stored.Get()
	if !ok || r.IsTombstone() {
		delete(m.sightings, key)
		delete(m.orphans, key)
		return TakeoverNone, true
	}
	if _, own := m.orphans[key][r.HolderID.OrEmpty()]; own {
		return TakeoverOrphaned, true
	}
	s, watched := m.sightings[key].see(r, asked, answered)
	why, take := decide(stored, liveness, watched, m.config.TTL)
	if take {
		delete(m.sightings, key)
		return why, true
	}
	m.sightings[key] = s
	m.prune(answered)
	return why, false
}

// prune forgets what was first seen very long ago, each time the number of
// sightings has doubled. Who asks again for such a key waits a TTL more.
func (m *Manager) prune(now time.Duration) {
	if len(m.sightings) < m.pruneAt {
		return
	}
	for key, s := range m.sightings {
		if now-s.since > max(m.config.TTL, time.Hour) {
			delete(m.sightings, key)
		}
	}
	m.pruneAt = max(pruneFrom, 2*len(m.sightings))
}
