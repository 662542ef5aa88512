package effect

import (
	"sync"

	"github.com/rivus/tether/internal/list"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// Semaphore hands out permits. Who waits is served in order, as far as the
// permits that are free suffice for it.
type Semaphore struct {
	mu      sync.Mutex
	permits int
	taken   int
	waiters list.List[*permitWait]
	// zeros is how many of them want no permit: they wait for a debt to be paid.
	zeros int
}

// permitWait is a request in the queue. It stays there until it has its permits
// or gives up: being woken reserves nothing.
type permitWait struct {
	n int
	// token is set while the request sleeps and nobody woke it.
	token  scope.Token
	asleep bool
}

// MakeSemaphore makes a semaphore (TypeScript: Semaphore.make).
func MakeSemaphore(permits int) Effect[*Semaphore] {
	return Sync(func() *Semaphore { return NewSemaphore(permits) })
}

// NewSemaphore makes a semaphore outside any effect.
func NewSemaphore(permits int) *Semaphore { return &Semaphore{permits: permits} }

// Free is the number of permits that nobody has. Any goroutine may call it.
func (s *Semaphore) Free() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.permits - s.taken
}

// served is the first request that the free permits suffice for. mu is held.
func (s *Semaphore) served() *list.Node[*permitWait] {
	for n := s.waiters.Front(); n != nil; n = n.Next() {
		if n.Value.n <= s.permits-s.taken {
			return n
		}
	}
	return nil
}

// takeNow takes n permits that are free, unless who waits comes first.
func (s *Semaphore) takeNow(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.permits-s.taken >= n && (s.waiters.Len() == 0 || s.served() == nil) {
		s.taken += n
		return true
	}
	return false
}

// take waits for n permits, then goes on with then. restore is how the wait is
// interruptible inside a caller's mask.
func takePermits[A any](f *scope.Fiber, s *Semaphore, n int, restore Restore, then func() (A, *scope.Cause)) (A, *scope.Cause) {
	if s.takeNow(n) {
		return then()
	}
	s.mu.Lock()
	node := &list.Node[*permitWait]{Value: &permitWait{n: n}}
	s.waiters.Push(node)
	if n <= 0 {
		s.zeros++
	}
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		if s.waiters.Remove(node) {
			if n <= 0 {
				s.zeros--
			}
			s.release(f, 0)
		} else {
			s.mu.Unlock()
		}
	}
	wait := restore.Run(Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
		return Unit{}, s.sleep(f, node), Effect[Unit]{}
	}})
	queued := Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		for {
			if _, c := run(f, wait); c != nil {
				var zero A
				return zero, c, Effect[A]{}
			}
			s.mu.Lock()
			if s.served() == node {
				s.taken += n
				s.mu.Unlock()
				leave()
				return result(then())
			}
			s.mu.Unlock()
		}
	}}
	return onExit(f, queued, true, func(*scope.Fiber, A, *scope.Cause) *scope.Cause {
		leave()
		return nil
	})
}

// sleep parks the request until it is woken, or not at all when it is served.
func (s *Semaphore) sleep(f *scope.Fiber, node *list.Node[*permitWait]) *scope.Cause {
	t := f.Arm()
	s.mu.Lock()
	if s.served() == node {
		s.mu.Unlock()
		t.Wake()
		return f.Block(t, waitPermits).Cause
	}
	node.Value.token, node.Value.asleep = t, true
	s.mu.Unlock()
	return f.Block(t, waitPermits).Cause
}

var waitPermits = &scope.Waiting{What: "permits of a Semaphore"}

// release gives permits back; it is entered with mu held and gives it back.
func (s *Semaphore) release(f *scope.Fiber, n int) int {
	s.taken -= n
	free, waiting := s.permits-s.taken, s.waiters.Len() > 0
	s.mu.Unlock()
	if waiting {
		if scope.Alone(f.Runtime()) {
			scope.Dispatch(f, s.wakeSerial)
		} else {
			s.wakeParallel()
		}
	}
	return free
}

// wakeSerial wakes every request that fits. A request that was woken before
// still counts against the permits. Those that it wakes run inside the wake and
// may change the queue.
func (s *Semaphore) wakeSerial() {
	s.mu.Lock()
	defer s.mu.Unlock()
	remaining := s.permits - s.taken
	for _, w := range s.snapshot() {
		if !w.Listed() || w.Value.n > remaining {
			continue
		}
		remaining -= w.Value.n
		if w.Value.asleep {
			w.Value.asleep = false
			t := w.Value.token
			s.mu.Unlock()
			t.Wake()
			s.mu.Lock()
		}
	}
}

// snapshot is who waits now. mu is held.
func (s *Semaphore) snapshot() []*list.Node[*permitWait] {
	out := make([]*list.Node[*permitWait], 0, s.waiters.Len())
	for n := s.waiters.Front(); n != nil; n = n.Next() {
		out = append(out, n)
	}
	return out
}

// wakeParallel does the same with the lock held for the choice and given back
// for the wakes.
func (s *Semaphore) wakeParallel() {
	var few [4]scope.Token
	tokens := few[:0]
	s.mu.Lock()
	remaining := s.permits - s.taken
	for n := s.waiters.Front(); n != nil && (remaining > 0 || remaining == 0 && s.zeros > 0); n = n.Next() {
		if n.Value.n > remaining {
			continue
		}
		remaining -= n.Value.n
		if n.Value.asleep {
			n.Value.asleep = false
			tokens = append(tokens, n.Value.token)
		}
	}
	s.mu.Unlock()
	for _, t := range tokens {
		t.Wake()
	}
}

// Take waits for n permits, takes them and gives n. An interruption may fall
// between that and what comes next; WithPermits does not leave such a gap. More
// permits than the semaphore has are waited for until Resize.
func (s *Semaphore) Take(n int) Effect[int] {
	return Effect[int]{step: func(f *scope.Fiber) (int, *scope.Cause, Effect[int]) {
		return result(takePermits(f, s, n, Restore{}, func() (int, *scope.Cause) { return n, nil }))
	}}
}

// TakeScoped waits for n permits, which go back when the scope at hand closes.
func (s *Semaphore) TakeScoped(n int) Effect[Unit] {
	return UninterruptibleMask(func(restore Restore) Effect[Unit] {
		return Scope().FlatMap(func(at *scope.Scope) Effect[Unit] {
			return Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
				return result(takePermits(f, s, n, restore, func() (Unit, *scope.Cause) {
					return Unit{}, at.Add(f, func(f *scope.Fiber, _ scope.Exit[any]) *scope.Cause {
						s.mu.Lock()
						s.release(f, n)
						return nil
					})
				}))
			}}
		})
	})
}

// TakeIfAvailable takes n permits and tells whether they were free.
func (s *Semaphore) TakeIfAvailable(n int) Effect[bool] {
	return Sync(func() bool { return s.takeFree(n) })
}

func (s *Semaphore) takeFree(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.permits-s.taken < n {
		return false
	}
	s.taken += n
	return true
}

// Release gives n permits back and gives the number that is free then.
func (s *Semaphore) Release(n int) Effect[int] {
	return Effect[int]{step: func(f *scope.Fiber) (int, *scope.Cause, Effect[int]) {
		s.mu.Lock()
		return s.release(f, n), nil, Effect[int]{}
	}}
}

// ReleaseAll gives all permits back and gives the number that is free then.
func (s *Semaphore) ReleaseAll() Effect[int] {
	return Effect[int]{step: func(f *scope.Fiber) (int, *scope.Cause, Effect[int]) {
		s.mu.Lock()
		return s.release(f, s.taken), nil, Effect[int]{}
	}}
}

// Resize changes the number of permits. Taken ones stay taken.
func (s *Semaphore) Resize(permits int) Effect[Unit] {
	return Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
		s.mu.Lock()
		s.permits = permits
		if permits-s.taken < 0 {
			s.mu.Unlock()
			return Unit{}, nil, Effect[Unit]{}
		}
		s.release(f, 0)
		return Unit{}, nil, Effect[Unit]{}
	}}
}

// WithPermits runs e with n permits, which it waits for as Take does. They go back
// when e has ended, however.
func (s *Semaphore) WithPermits[A any](n int, e Effect[A]) Effect[A] {
	return inMask(func(f *scope.Fiber, restore Restore) (A, *scope.Cause) {
		if s.takeNow(n) {
			return holdPermits(f, s, n, restore, e)
		}
		return takePermits(f, s, n, restore, func() (A, *scope.Cause) { return holdPermits(f, s, n, restore, e) })
	})
}

// holdPermits runs e, restored, and gives the permits back.
func holdPermits[A any](f *scope.Fiber, s *Semaphore, n int, restore Restore, e Effect[A]) (A, *scope.Cause) {
	return onExitRestored(f, e, restore, false, func(*scope.Fiber, A, *scope.Cause) *scope.Cause {
		s.mu.Lock()
		s.release(f, n)
		return nil
	})
}

// WithPermitsIfAvailable runs e with n permits, or gives none when they are
// not free.
func (s *Semaphore) WithPermitsIfAvailable[A any](n int, e Effect[A]) Effect[mo.Option[A]] {
	return inMask(func(f *scope.Fiber, restore Restore) (mo.Option[A], *scope.Cause) {
		if !s.takeFree(n) {
			return mo.None[A](), nil
		}
		v, c := holdPermits(f, s, n, restore, e)
		if c != nil {
			return mo.None[A](), c
		}
		return mo.Some(v), nil
	})
}
