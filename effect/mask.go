package effect

import "github.com/rivus/tether/scope"

// Uninterruptible runs e masked: an interruption waits until it has ended.
//
//go:noinline
func (e Effect[A]) Uninterruptible[_ onUse]() Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		if !f.Interruptible() {
			return then(e)
		}
		return result(within(f, restoreMasked, e))
	}}
}

// Interruptible runs e so that it can be interrupted, inside a mask too.
//
//go:noinline
func (e Effect[A]) Interruptible[_ onUse]() Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		if f.Interruptible() {
			return then(e)
		}
		return result(within(f, restoreOpen, e))
	}}
}

// Restore gives back the interruptibility from outside a mask.
type Restore struct{ to restoreTo }

type restoreTo uint8

const (
	restoreNothing restoreTo = iota
	restoreOpen
	restoreMasked
)

// Run is e with the interruptibility from outside the mask.
func (r Restore) Run[A any](e Effect[A]) Effect[A] {
	switch r.to {
	case restoreOpen:
		return e.Interruptible()
	case restoreMasked:
		return e.Uninterruptible()
	default:
		return e
	}
}

// within evaluates e with the interruptibility to, and turns a panic into a defect.
func within[A any](f *scope.Fiber, to restoreTo, e Effect[A]) (v A, c *scope.Cause) {
	entered := false
	switch {
	case to == restoreOpen && !f.Interruptible():
		entered, c = f.Open()
	case to == restoreMasked:
		entered, c = f.Mask()
	}
	if c != nil {
		return v, c
	}
	v, c = guarded(f, e)
	if !entered {
		return v, c
	}
	if to == restoreOpen {
		c = f.Shut(c)
	} else {
		c = f.Unmask(c)
	}
	if c != nil {
		var zero A
		v = zero
	}
	return v, c
}

// inMask is UninterruptibleMask for direct-style code.
//
//go:noinline
func inMask[A any](fn func(f *scope.Fiber, restore Restore) (A, *scope.Cause)) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		entered, c := f.Mask()
		switch {
		case c != nil:
			return failed[A](c)
		case !entered:
			return result(fn(f, Restore{}))
		}
		v, c := guardedDirect(f, fn)
		if c = f.Unmask(c); c != nil {
			return failed[A](c)
		}
		return value(v)
	}}
}

func guardedDirect[A any](f *scope.Fiber, fn func(f *scope.Fiber, restore Restore) (A, *scope.Cause)) (v A, c *scope.Cause) {
	mark := f.Mark()
	defer func() {
		if r := recover(); r != nil {
			f.Reset(mark)
			var zero A
			v, c = zero, f.Raised(r)
		}
	}()
	return fn(f, Restore{restoreOpen})
}

// UninterruptibleMask runs what fn builds masked; restore undoes that for parts
// of it. A fiber that was masked before stays masked inside restore.
//
//go:noinline
func UninterruptibleMask[A any](fn func(restore Restore) Effect[A]) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		if !f.Interruptible() {
			return then(fn(Restore{}))
		}
		return result(within(f, restoreMasked, Suspend(func() Effect[A] { return fn(Restore{restoreOpen}) })))
	}}
}

// InterruptibleMask runs what fn builds so that it can be interrupted; restore
// undoes that for parts of it. In a fiber that has been interrupted, fn is called
// all the same: what it builds does not run, its panic is a defect.
//
//go:noinline
func InterruptibleMask[A any](fn func(restore Restore) Effect[A]) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		if f.Interruptible() {
			return then(fn(Restore{}))
		}
		built := false
		v, c := within(f, restoreOpen, Suspend(func() Effect[A] {
			built = true
			return fn(Restore{restoreMasked})
		}))
		if !built {
			c = f.Guard(func() *scope.Cause {
				_ = fn(Restore{restoreMasked})
				return c
			})
		}
		return result(v, c)
	}}
}

// Interrupt is the effect that ends as if its own fiber had been interrupted.
//
//go:noinline
func Interrupt[A any]() Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		return again[A](scope.CauseInterrupt(f.ID()))
	}}
}
