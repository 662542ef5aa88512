package effect

import (
	"sync"

	"github.com/rivus/tether/scope"
)

// ScopedRef holds a value that was acquired, with what must be released with it.
// Setting another acquires that first and then releases the old one; the last
// one is released with the scope in which the ref was made. Sets are done one
// after the other.
type ScopedRef[A any] struct {
	sets *Semaphore
	// owner closes with the scope at hand when the ref was made, and holds the
	// place of every value among that scope's finalizers.
	owner *scope.Scope

	mu      sync.Mutex
	current *scope.Scope
	value   A
}

// MakeScopedRef makes a ref with a value that needs no release (TypeScript:
// ScopedRef.make). Without a scope at hand it is a defect.
func MakeScopedRef[A any](fn func() A) Effect[*ScopedRef[A]] { return AcquireScopedRef(Sync(fn)) }

// AcquireScopedRef makes a ref with a value that is acquired in a scope of its
// own (TypeScript: ScopedRef.fromAcquire). acquire is not interruptible. Without
// a scope at hand it is a defect.
func AcquireScopedRef[A any](acquire Effect[A]) Effect[*ScopedRef[A]] {
	return Effect[*ScopedRef[A]]{step: func(f *scope.Fiber) (*ScopedRef[A], *scope.Cause, Effect[*ScopedRef[A]]) {
		at, c := scopeAtHand(f)
		if c != nil {
			return nil, c, Effect[*ScopedRef[A]]{}
		}
		owner := at.Fork(scope.Sequential)
		own := owner.Fork(scope.Sequential)
		v, c := run(f, acquireIn(acquire, own, owner))
		if c != nil {
			return nil, c, Effect[*ScopedRef[A]]{}
		}
		if own.Closed() {
			return nil, scope.CauseInterrupt(f.ID()), Effect[*ScopedRef[A]]{}
		}
		return &ScopedRef[A]{sets: NewSemaphore(1), owner: owner, current: own, value: v}, nil, Effect[*ScopedRef[A]]{}
	}}.Uninterruptible()
}

// acquireIn acquires with s at hand, and closes failed when that fails.
func acquireIn[A any](acquire Effect[A], s, failed *scope.Scope) Effect[A] {
	return acquire.ProvideScope(s).TapCause(func(c *scope.Cause) Effect[Unit] {
		return CloseScope(failed, scope.ExitFailCause[any](c))
	})
}

// Now is the value (TypeScript: getUnsafe). Any goroutine may call it.
func (r *ScopedRef[A]) Now[_ onUse]() A {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.value
}

// Get gives the value.
func (r *ScopedRef[A]) Get[_ onUse]() Effect[A] { return Sync(r.Now) }

// Set acquires another value in a scope of its own, then releases the old one.
// When the acquisition fails the old value stays; when the release fails it is
// gone, and so is the new one. What it does is not interruptible, waiting for
// another Set is. If the ref's scope has closed meanwhile, the fiber is
// interrupted.
func (r *ScopedRef[A]) Set[_ onUse](acquire Effect[A]) Effect[Unit] {
	return r.sets.WithPermits(1, Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
		own := r.owner.Fork(scope.Sequential)
		v, c := run(f, acquireIn(acquire, own, own))
		if c != nil {
			return Unit{}, c, Effect[Unit]{}
		}
		r.mu.Lock()
		old := r.current
		r.mu.Unlock()
		release := CloseScope(old, scope.ExitSucceed[any](nil)).TapCause(func(c *scope.Cause) Effect[Unit] {
			return CloseScope(own, scope.ExitFailCause[any](c))
		})
		if _, c := run(f, release); c != nil {
			return Unit{}, c, Effect[Unit]{}
		}
		if own.Closed() {
			return Unit{}, scope.CauseInterrupt(f.ID()), Effect[Unit]{}
		}
		r.mu.Lock()
		r.current, r.value = own, v
		r.mu.Unlock()
		return Unit{}, nil, Effect[Unit]{}
	}}.Uninterruptible())
}
