package effect

import (
	"iter"

	"github.com/rivus/tether/scope"
)

// FiberMap holds at most one fiber for each key. A new one takes the place of
// the old one, which is interrupted, and a fiber that ends leaves the map; so an
// old fiber that takes its time to end does not take the new one with it. The
// map closes with its scope: all its fibers are interrupted and awaited.
//
// The first failure of a fiber fails Join. Operations on one key are O(1). Any
// goroutine may use it.
type FiberMap[K comparable, A any] struct {
	group   fiberGroup[A]
	entries map[K]*keyed[K, A]
	// order is the order in which the keys came; a replaced fiber keeps its
	// key's place.
	order lineup[*keyed[K, A]]
}

type keyed[K comparable, A any] struct {
	seat[*keyed[K, A]]
	key    K
	member *member[A]
}

// MakeFiberMap makes a map that closes with the scope at hand (TypeScript:
// FiberMap.make). Without a scope at hand it is a defect.
func MakeFiberMap[K comparable, A any]() Effect[*FiberMap[K, A]] {
	return AcquireRelease(
		Sync(func() *FiberMap[K, A] { return &FiberMap[K, A]{entries: map[K]*keyed[K, A]{}} }),
		func(m *FiberMap[K, A], _ scope.Exit[any]) Effect[Unit] { return m.group.close(0) })
}

// Run starts e in a fiber of its own, under key, and gives the fiber. The one
// that was there is interrupted and not awaited; with OnlyIfMissing it stays
// instead, and the fiber that Run gives has been interrupted. In a closed map
// the caller is interrupted.
func (m *FiberMap[K, A]) Run[_ onUse](key K, e Effect[A], options ...RunOption) Effect[*Fiber[A]] {
	o := runConfigOf(options)
	return primitive(func(f *scope.Fiber) (*Fiber[A], *scope.Cause) {
		fb, ok := m.run(f, key, e, o)
		if !ok {
			return nil, scope.CauseInterrupt(f.ID())
		}
		return fb, nil
	})
}

func (m *FiberMap[K, A]) run[_ onUse](f *scope.Fiber, key K, e Effect[A], o runConfig) (*Fiber[A], bool) {
	m.group.mu.Lock()
	closed, there := m.group.closed, m.entries[key] != nil
	m.group.mu.Unlock()
	switch {
	case closed:
		return nil, false
	case o.onlyIfMissing && there:
		return interruptedFiber[A](f), true
	}
	return runMember(f, e, o, &m.group, func(fb *Fiber[A]) { m.SetNow(key, fb, o.list()...) }), true
}

func (c runConfig) list() (options []RunOption) {
	if c.onlyIfMissing {
		options = append(options, OnlyIfMissing())
	}
	if c.propagate {
		options = append(options, PropagateInterruption())
	}
	return options
}

// FiberMapRuntime gives m's Run for code outside any fiber, with the services at
// hand now (TypeScript: FiberMap.runtime). In a closed map it gives a fiber that
// has been interrupted. On the parallel runtime any goroutine may call it, on
// the deterministic one only code that runs on it.
func FiberMapRuntime[K comparable, A any](m *FiberMap[K, A]) Effect[func(key K, e Effect[A], options ...RunOption) *Fiber[A]] {
	return primitive(func(f *scope.Fiber) (func(K, Effect[A], ...RunOption) *Fiber[A], *scope.Cause) {
		keep := forker(f)
		return func(key K, e Effect[A], options ...RunOption) *Fiber[A] {
			fb, ok := m.run(keep, key, e, runConfigOf(options))
			if !ok {
				return interruptedFiber[A](keep)
			}
			return fb
		}, nil
	})
}

// Set puts a fiber that runs already under key, by Run's rules. In a closed map
// the fiber is interrupted.
func (m *FiberMap[K, A]) Set[_ onUse](key K, fiber *Fiber[A], options ...RunOption) Effect[Unit] {
	return SyncUnit(func() { m.SetNow(key, fiber, options...) })
}

// SetNow is Set outside any effect (TypeScript: setUnsafe). On the parallel
// runtime any goroutine may call it, on the deterministic one only code that
// runs on it.
func (m *FiberMap[K, A]) SetNow[_ onUse](key K, fiber *Fiber[A], options ...RunOption) {
	o := runConfigOf(options)
	g := &m.group
	g.mu.Lock()
	at := m.entries[key]
	switch {
	case at != nil && at.member.fiber == fiber && !g.closed:
		g.mu.Unlock()
		return
	case g.closed, at != nil && o.onlyIfMissing:
		g.mu.Unlock()
		fiber.InterruptNow(CollectionFiber)
		return
	}
	next := newMember(fiber, o)
	g.alive.join(&next.seat)
	var previous *Fiber[A]
	if at != nil {
		previous, at.member = at.member.fiber, next
	} else {
		at = &keyed[K, A]{key: key, member: next}
		at.owner = at
		m.entries[key] = at
		m.order.join(&at.seat)
	}
	g.mu.Unlock()
	// The new fiber is in its place before the old one is interrupted, since a
	// finalizer of that may come back to this map.
	if previous != nil {
		previous.InterruptNow(CollectionFiber)
	}
	next.observe(&m.group, func(ended *member[A]) { m.ended(key, ended) })
}

func (m *FiberMap[K, A]) ended[_ onUse](key K, ended *member[A]) {
	g := &m.group
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return
	}
	m.forget(key, ended)
	g.mu.Unlock()
	g.heard(ended)
}

// forget takes a fiber out; a newer one under its key stays.
func (m *FiberMap[K, A]) forget[_ onUse](key K, ended *member[A]) {
	m.group.alive.leave(&ended.seat)
	if at := m.entries[key]; at != nil && at.member == ended {
		delete(m.entries, key)
		m.order.leave(&at.seat)
	}
}

// Get is the fiber under key, if there is one. Any goroutine may call it.
func (m *FiberMap[K, A]) Get[_ onUse](key K) (fiber *Fiber[A], ok bool) {
	m.group.mu.Lock()
	defer m.group.mu.Unlock()
	if at := m.entries[key]; at != nil && !m.group.closed {
		return at.member.fiber, true
	}
	return nil, false
}

// HasNow tells whether there is a fiber under key (TypeScript: hasUnsafe).
func (m *FiberMap[K, A]) HasNow[_ onUse](key K) bool {
	_, ok := m.Get(key)
	return ok
}

// Has tells whether there is a fiber under key.
func (m *FiberMap[K, A]) Has[_ onUse](key K) Effect[bool] {
	return Sync(func() bool { return m.HasNow(key) })
}

// Remove interrupts the fiber under key and waits for its end.
func (m *FiberMap[K, A]) Remove[_ onUse](key K) Effect[Unit] {
	return primitive(func(f *scope.Fiber) (Unit, *scope.Cause) {
		fiber, ok := m.Get(key)
		if !ok {
			return Unit{}, nil
		}
		return Unit{}, interruptAs(f, &fiber.kernel)
	})
}

// Clear interrupts the fibers under all keys, those that are added meanwhile
// included, and waits for their ends.
func (m *FiberMap[K, A]) Clear[_ onUse]() Effect[Unit] {
	return primitive(func(f *scope.Fiber) (Unit, *scope.Cause) {
		var fibers []*scope.Fiber
		var w walk[*keyed[K, A]]
		m.group.mu.Lock()
		if m.group.closed {
			m.group.mu.Unlock()
			return Unit{}, nil
		}
		for p := w.next(&m.order); p != nil; p = w.next(&m.order) {
			fiber := &p.owner.member.fiber.kernel
			m.group.mu.Unlock()
			fiber.Interrupt(CollectionFiber)
			fibers = append(fibers, fiber)
			m.group.mu.Lock()
		}
		m.group.mu.Unlock()
		return Unit{}, f.AwaitAll(fibers)
	})
}

// Len is the number of keys.
func (m *FiberMap[K, A]) Len[_ onUse]() int {
	m.group.mu.Lock()
	defer m.group.mu.Unlock()
	if m.group.closed {
		return 0
	}
	return len(m.entries)
}

// Size gives the number of keys.
func (m *FiberMap[K, A]) Size[_ onUse]() Effect[int] { return Sync(m.Len) }

// All are the keys and fibers as they are now, in the order in which the keys
// came.
func (m *FiberMap[K, A]) All[_ onUse]() iter.Seq2[K, *Fiber[A]] {
	return func(yield func(K, *Fiber[A]) bool) {
		m.group.mu.Lock()
		var keys []K
		var fibers []*Fiber[A]
		for p := m.order.head; p != nil && !m.group.closed; p = p.next {
			keys, fibers = append(keys, p.owner.key), append(fibers, p.owner.member.fiber)
		}
		m.group.mu.Unlock()
		for i, key := range keys {
			if !yield(key, fibers[i]) {
				return
			}
		}
	}
}

// Join waits until a fiber fails, and fails as it did, or until the map is
// closed.
func (m *FiberMap[K, A]) Join[_ onUse]() Effect[Unit] { return m.group.failed.Await() }

// AwaitEmpty waits until the map is empty or closed.
func (m *FiberMap[K, A]) AwaitEmpty[_ onUse]() Effect[Unit] {
	return primitive(func(f *scope.Fiber) (Unit, *scope.Cause) {
		return Unit{}, awaitEach(f, &m.group, func() *member[A] {
			for p := m.order.head; p != nil; p = m.order.head {
				if _, ended := p.owner.member.fiber.kernel.Exited(); !ended {
					return p.owner.member
				}
				// Its observer has not been called yet.
				m.forget(p.owner.key, p.owner.member)
			}
			return nil
		})
	})
}

// awaitEach awaits one fiber after the other until first finds none. first is
// called with the lock held.
func awaitEach[A any](f *scope.Fiber, g *fiberGroup[A], first func() *member[A]) *scope.Cause {
	for {
		g.mu.Lock()
		var m *member[A]
		if !g.closed {
			m = first()
		}
		g.mu.Unlock()
		if m == nil {
			return nil
		}
		if c := f.Await(&m.fiber.kernel); c != nil {
			return c
		}
		if f.Signaled() {
			if c := f.Notice(); c != nil {
				return c
			}
		}
	}
}
