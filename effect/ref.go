package effect

import "sync"

// Ref is a variable that fibers share. Its changes are atomic: the functions that
// change it run under its lock, once each. They must be quick, and a run of an
// effect on the same ref inside one waits for ever.
type Ref[A any] struct {
	mu sync.Mutex
	v  A
}

// MakeRef makes a ref (TypeScript: Ref.make).
//
//go:noinline
func MakeRef[A any](v A) Effect[*Ref[A]] { return Sync(func() *Ref[A] { return NewRef(v) }) }

// NewRef makes a ref outside any effect.
func NewRef[A any](v A) *Ref[A] { return &Ref[A]{v: v} }

// Get gives the value.
//
//go:noinline
func (r *Ref[A]) Get[_ onUse]() Effect[A] {
	return Sync(func() A {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.v
	})
}

// Set replaces the value.
//
//go:noinline
func (r *Ref[A]) Set[_ onUse](v A) Effect[Unit] { return r.Update(func(A) A { return v }) }

// Update changes the value. When fn panics, the value stays.
//
//go:noinline
func (r *Ref[A]) Update[_ onUse](fn func(A) A) Effect[Unit] {
	return SyncUnit(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.v = fn(r.v)
	})
}

// UpdateAndGet changes the value and gives the new one.
//
//go:noinline
func (r *Ref[A]) UpdateAndGet[_ onUse](fn func(A) A) Effect[A] {
	return ModifyRef(r, func(v A) (A, A) { n := fn(v); return n, n })
}

// GetAndUpdate changes the value and gives the old one.
//
//go:noinline
func (r *Ref[A]) GetAndUpdate[_ onUse](fn func(A) A) Effect[A] {
	return ModifyRef(r, func(v A) (A, A) { return v, fn(v) })
}

// GetAndSet replaces the value and gives the old one.
//
//go:noinline
func (r *Ref[A]) GetAndSet[_ onUse](v A) Effect[A] { return r.GetAndUpdate(func(A) A { return v }) }

// ModifyRef changes the value and gives what fn makes beside it.
//
//go:noinline
func ModifyRef[A, B any](r *Ref[A], fn func(A) (result B, next A)) Effect[B] {
	return Sync(func() B {
		r.mu.Lock()
		defer r.mu.Unlock()
		b, next := fn(r.v)
		r.v = next
		return b
	})
}
