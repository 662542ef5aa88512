package lease

import (
	"sync"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// memory is a Repository in this process. Fences are semaphores.
type memory struct {
	mu      sync.Mutex
	records map[string]Record
	fences  map[string]*memoryFence // those that somebody holds or waits for
	hub     releaseHub
}

type memoryFence struct {
	turn  *effect.Semaphore
	users int
}

var (
	_ Repository     = (*memory)(nil)
	_ BatchSaver     = (*memory)(nil)
	_ ReleaseWatcher = (*memory)(nil)
)

// NewMemoryRepository makes an empty repository that lives as long as the value,
// for tests and for one process. It keeps the same rules as the others; on the
// parallel runtime any number of managers may share it.
func NewMemoryRepository() Repository {
	return &memory{records: make(map[string]Record), fences: make(map[string]*memoryFence)}
}

// Load implements Repository.
func (m *memory) Load(key string) effect.Effect[mo.Option[Record]] {
	return effect.Sync(func() mo.Option[Record] {
		m.mu.Lock()
		defer m.mu.Unlock()
		return mo.TupleToOption(m.get(key))
	})
}

func (m *memory) get(key string) (Record, bool) {
	r, ok := m.records[key]
	return r, ok
}

// Save implements Repository.
func (m *memory) Save(key string, next Record, expected mo.Option[int64]) effect.Effect[effect.Unit] {
	return effect.Try(func() (effect.Unit, error) { return effect.Unit{}, m.save(key, next, expected) })
}

func (m *memory) save(key string, next Record, expected mo.Option[int64]) error {
	if err := checkSave(key, next); err != nil {
		return err
	}
	if err := m.swap(key, next, expected); err != nil {
		return err
	}
	if next.IsTombstone() {
		m.hub.tell(key)
	}
	return nil
}

// SaveAll implements BatchSaver.
func (m *memory) SaveAll(writes []Write) effect.Effect[[]error] {
	return effect.Sync(func() []error {
		errs := make([]error, len(writes))
		for i, w := range writes {
			errs[i] = m.save(w.Next.Key, w.Next, w.Expected)
		}
		return errs
	})
}

func (m *memory) swap(key string, next Record, expected mo.Option[int64]) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	stored := mo.None[int64]()
	if r, ok := m.records[key]; ok {
		stored = mo.Some(r.Revision)
	}
	if stored != expected {
		return &RevisionConflict{Key: key, ExpectedRevision: expected, StoredRevision: stored}
	}
	m.records[key] = next
	return nil
}

// Fence implements Repository.
func (m *memory) Fence(key string) effect.Effect[effect.Unit] {
	join := effect.Sync(func() *memoryFence {
		m.mu.Lock()
		defer m.mu.Unlock()
		f := m.fences[key]
		if f == nil {
			f = &memoryFence{turn: effect.NewSemaphore(1)}
			m.fences[key] = f
		}
		f.users++
		return f
	})
	leave := func(f *memoryFence, _ scope.Exit[any]) effect.Effect[effect.Unit] {
		return effect.SyncUnit(func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			if f.users--; f.users == 0 {
				delete(m.fences, key)
			}
		})
	}
	// The user is counted from before its wait, so that the semaphore that it
	// waits on stays the key's own.
	return effect.AcquireRelease(join, leave).FlatMap(func(f *memoryFence) effect.Effect[effect.Unit] {
		return f.turn.TakeScoped(1)
	})
}

// WatchReleases implements ReleaseWatcher.
func (m *memory) WatchReleases(key string, changed func()) effect.Effect[effect.Unit] {
	return m.hub.watch(key, changed)
}

// checkSave refuses what no repository may store.
func checkSave(key string, next Record) error {
	err := next.Validate()
	if err == nil && next.Key != key {
		err = invalid("its key is %s", quote(next.Key))
	}
	if err != nil {
		return &RepositoryFailure{Key: key, Reason: RepositoryInvalidRecord, Message: "it was not written: " + err.Error(), Cause: err}
	}
	return nil
}
