package effect

import (
	"iter"

	"github.com/rivus/tether/scope"
)

// FiberSet holds fibers until they end. It closes with its scope: all its fibers
// are interrupted and awaited. The first failure of a fiber fails Join. Adding
// and removing are O(1). Any goroutine may use it.
type FiberSet[A any] struct {
	group fiberGroup[A]
	in    map[*Fiber[A]]struct{}
}

// MakeFiberSet makes a set that closes with the scope at hand (TypeScript:
// FiberSet.make). Without a scope at hand it is a defect.
func MakeFiberSet[A any]() Effect[*FiberSet[A]] {
	return AcquireRelease(
		Sync(func() *FiberSet[A] { return &FiberSet[A]{in: map[*Fiber[A]]struct{}{}} }),
		func(s *FiberSet[A], _ scope.Exit[any]) Effect[Unit] { return s.group.close(0) })
}

// Run starts e in a fiber of its own, adds that and gives it. In a closed set
// the effect does not run, and the fiber has been interrupted.
func (s *FiberSet[A]) Run[_ onUse](e Effect[A], options ...RunOption) Effect[*Fiber[A]] {
	o := runConfigOf(options)
	return primitive(func(f *scope.Fiber) (*Fiber[A], *scope.Cause) { return s.run(f, e, o), nil })
}

func (s *FiberSet[A]) run[_ onUse](f *scope.Fiber, e Effect[A], o runConfig) *Fiber[A] {
	s.group.mu.Lock()
	closed := s.group.closed
	s.group.mu.Unlock()
	if closed {
		return interruptedFiber[A](f)
	}
	return runMember(f, e, o, &s.group, func(fb *Fiber[A]) { s.AddNow(fb, o.list()...) })
}

// FiberSetRuntime gives s's Run for code outside any fiber, with the services at
// hand now (TypeScript: FiberSet.runtime). On the parallel runtime any goroutine
// may call it, on the deterministic one only code that runs on it.
func FiberSetRuntime[A any](s *FiberSet[A]) Effect[func(e Effect[A], options ...RunOption) *Fiber[A]] {
	return primitive(func(f *scope.Fiber) (func(Effect[A], ...RunOption) *Fiber[A], *scope.Cause) {
		keep := forker(f)
		return func(e Effect[A], options ...RunOption) *Fiber[A] { return s.run(keep, e, runConfigOf(options)) }, nil
	})
}

// Add adds a fiber that runs already. In a closed set it is interrupted.
func (s *FiberSet[A]) Add[_ onUse](fiber *Fiber[A], options ...RunOption) Effect[Unit] {
	return SyncUnit(func() { s.AddNow(fiber, options...) })
}

// AddNow is Add outside any effect (TypeScript: addUnsafe). On the parallel
// runtime any goroutine may call it, on the deterministic one only code that
// runs on it.
func (s *FiberSet[A]) AddNow[_ onUse](fiber *Fiber[A], options ...RunOption) {
	g := &s.group
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		fiber.InterruptNow(CollectionFiber)
		return
	}
	if _, there := s.in[fiber]; there {
		g.mu.Unlock()
		return
	}
	m := newMember(fiber, runConfigOf(options))
	s.in[fiber] = struct{}{}
	g.alive.join(&m.seat)
	g.mu.Unlock()
	m.observe(&s.group, s.ended)
}

func (s *FiberSet[A]) ended[_ onUse](m *member[A]) {
	g := &s.group
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return
	}
	s.forget(m)
	g.mu.Unlock()
	g.heard(m)
}

func (s *FiberSet[A]) forget[_ onUse](m *member[A]) {
	s.group.alive.leave(&m.seat)
	delete(s.in, m.fiber)
}

// Clear interrupts all fibers, those that are added meanwhile included, and
// waits for their ends.
func (s *FiberSet[A]) Clear[_ onUse]() Effect[Unit] {
	return primitive(func(f *scope.Fiber) (Unit, *scope.Cause) {
		var fibers []*scope.Fiber
		var w walk[*member[A]]
		g := &s.group
		g.mu.Lock()
		if g.closed {
			g.mu.Unlock()
			return Unit{}, nil
		}
		for p := w.next(&g.alive); p != nil; p = w.next(&g.alive) {
			fiber := &p.owner.fiber.kernel
			g.mu.Unlock()
			fiber.Interrupt(CollectionFiber)
			fibers = append(fibers, fiber)
			g.mu.Lock()
		}
		g.mu.Unlock()
		return Unit{}, f.AwaitAll(fibers)
	})
}

// Len is the number of fibers.
func (s *FiberSet[A]) Len[_ onUse]() int {
	s.group.mu.Lock()
	defer s.group.mu.Unlock()
	if s.group.closed {
		return 0
	}
	return s.group.alive.len()
}

// Size gives the number of fibers.
func (s *FiberSet[A]) Size[_ onUse]() Effect[int] { return Sync(s.Len) }

// All are the fibers as they are now, in the order in which they were added.
func (s *FiberSet[A]) All[_ onUse]() iter.Seq[*Fiber[A]] {
	return func(yield func(*Fiber[A]) bool) {
		s.group.mu.Lock()
		var fibers []*Fiber[A]
		for p := s.group.alive.head; p != nil && !s.group.closed; p = p.next {
			fibers = append(fibers, p.owner.fiber)
		}
		s.group.mu.Unlock()
		for _, fiber := range fibers {
			if !yield(fiber) {
				return
			}
		}
	}
}

// Join waits until a fiber fails, and fails as it did, or until the set is
// closed.
func (s *FiberSet[A]) Join[_ onUse]() Effect[Unit] { return s.group.failed.Await() }

// AwaitEmpty waits until the set is empty or closed.
func (s *FiberSet[A]) AwaitEmpty[_ onUse]() Effect[Unit] {
	return primitive(func(f *scope.Fiber) (Unit, *scope.Cause) {
		return Unit{}, awaitEach(f, &s.group, func() *member[A] {
			for p := s.group.alive.head; p != nil; p = s.group.alive.head {
				if _, ended := p.owner.fiber.kernel.Exited(); !ended {
					return p.owner
				}
				// Its observer has not been called yet.
				s.forget(p.owner)
			}
			return nil
		})
	})
}
