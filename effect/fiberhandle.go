package effect

import "github.com/rivus/tether/scope"

// FiberHandle holds at most one fiber. A new one takes the place of the old one,
// which is interrupted, and a fiber that ends leaves the handle; so an old fiber
// that takes its time to end does not take the new one with it. The handle
// closes with its scope: its fibers, those that were replaced and still end
// included, are interrupted and awaited.
//
// The first failure of a fiber fails Join. Any goroutine may use it.
type FiberHandle[A any] struct {
	group   fiberGroup[A]
	current *member[A]
}

// MakeFiberHandle makes a handle that closes with the scope at hand (TypeScript:
// FiberHandle.make). Without a scope at hand it is a defect.
func MakeFiberHandle[A any]() Effect[*FiberHandle[A]] {
	return AcquireRelease(
		Sync(func() *FiberHandle[A] { return &FiberHandle[A]{} }),
		func(h *FiberHandle[A], _ scope.Exit[any]) Effect[Unit] { return h.group.close(CollectionFiber) })
}

// Run starts e in a fiber of its own and gives that. The fiber that was there is
// interrupted and not awaited; with OnlyIfMissing it stays instead, and the
// fiber that Run gives has been interrupted. In a closed handle the caller is
// interrupted.
func (h *FiberHandle[A]) Run[_ onUse](e Effect[A], options ...RunOption) Effect[*Fiber[A]] {
	o := runConfigOf(options)
	return primitive(func(f *scope.Fiber) (*Fiber[A], *scope.Cause) {
		fb, ok := h.run(f, e, o)
		if !ok {
			return nil, scope.CauseInterrupt(f.ID())
		}
		return fb, nil
	})
}

func (h *FiberHandle[A]) run[_ onUse](f *scope.Fiber, e Effect[A], o runConfig) (*Fiber[A], bool) {
	h.group.mu.Lock()
	closed, there := h.group.closed, h.current != nil
	h.group.mu.Unlock()
	switch {
	case closed:
		return nil, false
	case o.onlyIfMissing && there:
		return interruptedFiber[A](f), true
	}
	return runMember(f, e, o, &h.group, func(fb *Fiber[A]) { h.SetNow(fb, o.list()...) }), true
}

// FiberHandleRuntime gives h's Run for code outside any fiber, with the services
// at hand now (TypeScript: FiberHandle.runtime). In a closed handle it gives a
// fiber that has been interrupted. On the parallel runtime any goroutine may
// call it, on the deterministic one only code that runs on it.
func FiberHandleRuntime[A any](h *FiberHandle[A]) Effect[func(e Effect[A], options ...RunOption) *Fiber[A]] {
	return primitive(func(f *scope.Fiber) (func(Effect[A], ...RunOption) *Fiber[A], *scope.Cause) {
		keep := forker(f)
		return func(e Effect[A], options ...RunOption) *Fiber[A] {
			fb, ok := h.run(keep, e, runConfigOf(options))
			if !ok {
				return interruptedFiber[A](keep)
			}
			return fb
		}, nil
	})
}

// Set puts a fiber that runs already into the handle, by Run's rules. In a
// closed handle the fiber is interrupted.
func (h *FiberHandle[A]) Set[_ onUse](fiber *Fiber[A], options ...RunOption) Effect[Unit] {
	return SyncUnit(func() { h.SetNow(fiber, options...) })
}

// SetNow is Set outside any effect (TypeScript: setUnsafe). On the parallel
// runtime any goroutine may call it, on the deterministic one only code that
// runs on it.
func (h *FiberHandle[A]) SetNow[_ onUse](fiber *Fiber[A], options ...RunOption) {
	o := runConfigOf(options)
	g := &h.group
	g.mu.Lock()
	previous := h.current
	switch {
	case previous != nil && previous.fiber == fiber && !g.closed:
		g.mu.Unlock()
		return
	case g.closed, previous != nil && o.onlyIfMissing:
		g.mu.Unlock()
		fiber.InterruptNow(CollectionFiber)
		return
	}
	h.current = newMember(fiber, o)
	next := h.current
	g.alive.join(&next.seat)
	g.mu.Unlock()
	// The new fiber is in its place before the old one is interrupted, since a
	// finalizer of that may come back to this handle.
	if previous != nil {
		previous.fiber.InterruptNow(CollectionFiber)
	}
	next.observe(&h.group, h.ended)
}

func (h *FiberHandle[A]) ended[_ onUse](m *member[A]) {
	g := &h.group
	g.mu.Lock()
	if !g.closed {
		g.alive.leave(&m.seat)
		if h.current == m {
			h.current = nil
		}
	}
	g.mu.Unlock()
	g.heard(m)
}

// Get is the fiber, if there is one. Any goroutine may call it.
func (h *FiberHandle[A]) Get[_ onUse]() (fiber *Fiber[A], ok bool) {
	h.group.mu.Lock()
	defer h.group.mu.Unlock()
	if h.current != nil && !h.group.closed {
		return h.current.fiber, true
	}
	return nil, false
}

// Clear interrupts the fiber and waits for its end.
func (h *FiberHandle[A]) Clear[_ onUse]() Effect[Unit] {
	return UninterruptibleMask(func(restore Restore) Effect[Unit] {
		fiber, ok := h.Get()
		if !ok {
			return Void()
		}
		wait := primitive(func(f *scope.Fiber) (Unit, *scope.Cause) { return Unit{}, interruptAs(f, &fiber.kernel) })
		return restore.Run(wait).AndThen(SyncUnit(func() {
			h.group.mu.Lock()
			defer h.group.mu.Unlock()
			if !h.group.closed && h.current != nil && h.current.fiber == fiber {
				h.current = nil
			}
		}))
	})
}

// Join waits until a fiber fails, and fails as it did, or until the handle is
// closed.
func (h *FiberHandle[A]) Join[_ onUse]() Effect[Unit] { return h.group.failed.Await() }

// AwaitEmpty waits for the end of the fiber that is there now.
func (h *FiberHandle[A]) AwaitEmpty[_ onUse]() Effect[Unit] {
	return primitive(func(f *scope.Fiber) (Unit, *scope.Cause) {
		fiber, ok := h.Get()
		if !ok {
			return Unit{}, nil
		}
		return Unit{}, f.Await(&fiber.kernel)
	})
}
