package effect

import (
	"github.com/rivus/tether/scope"
)

// Fiber is a running effect.
type Fiber[A any] struct {
	// value is written before the kernel publishes the exit. It comes first, since Go
	// pads a struct whose last field has no size.
	value A
	// program is what the fiber runs, until it does.
	program Effect[A]
	kernel  scope.Fiber
}

// runs is a fiber as its own body.
type runs[A any] Fiber[A]

// Run implements scope.Body.
func (r *runs[A]) Run(f *scope.Fiber) (c *scope.Cause) {
	e := r.program
	r.program = Effect[A]{} // else who keeps the fiber keeps the program
	r.value, c = run(f, e)
	return c
}

// ForkOption says how a fiber starts. Without any it is interruptible and starts
// when the fiber that forks it lets go (waits, yields or ends); on the parallel
// runtime it starts at once, beside it. That is TypeScript's default.
type ForkOption func(scope.ForkConfig) scope.ForkConfig

// StartImmediately starts the fiber before the fork returns.
func StartImmediately() ForkOption {
	return func(c scope.ForkConfig) scope.ForkConfig { c.Immediate = true; return c }
}

// StartUninterruptible starts the fiber masked (TypeScript: uninterruptible: true).
func StartUninterruptible() ForkOption {
	return func(c scope.ForkConfig) scope.ForkConfig { c.Mode = scope.StartUninterruptible; return c }
}

// StartInherited starts the fiber as interruptible as its parent is.
func StartInherited() ForkOption {
	return func(c scope.ForkConfig) scope.ForkConfig { c.Mode = scope.StartInherited; return c }
}

func forkConfig(options []ForkOption) (c scope.ForkConfig) {
	for _, o := range options {
		c = o(c)
	}
	return c
}

// Unrun implements scope.Unrun.
func (r *runs[A]) Unrun() { r.program = Effect[A]{} }

// body has the fiber run e.
func (fb *Fiber[A]) body[_ onUse](e Effect[A]) scope.Body {
	fb.program = e
	return (*runs[A])(fb)
}

// ForkChild starts e in a fiber of its own, which is interrupted and awaited
// when the fiber that forks it ends.
func ForkChild[A any](e Effect[A], options ...ForkOption) Effect[*Fiber[A]] {
	return fork(e, forkConfig(options))
}

// ForkDetach starts e in a fiber that ends with nobody. A defect that nobody
// observes is logged.
func ForkDetach[A any](e Effect[A], options ...ForkOption) Effect[*Fiber[A]] {
	o := forkConfig(options)
	o.Daemon = true
	return fork(e, o)
}

//go:noinline
func fork[A any](e Effect[A], o scope.ForkConfig) Effect[*Fiber[A]] {
	return Effect[*Fiber[A]]{step: func(f *scope.Fiber) (*Fiber[A], *scope.Cause, Effect[*Fiber[A]]) {
		fb := new(Fiber[A])
		f.ForkInto(&fb.kernel, fb.body(e), o)
		return value(fb)
	}}
}

// ForkIn starts e in a fiber that is interrupted and awaited when s closes. In a
// closed scope it does not run.
//
//go:noinline
func ForkIn[A any](e Effect[A], s *scope.Scope, options ...ForkOption) Effect[*Fiber[A]] {
	return Effect[*Fiber[A]]{step: func(f *scope.Fiber) (*Fiber[A], *scope.Cause, Effect[*Fiber[A]]) {
		return forkIn(f, e, s, options), nil, Effect[*Fiber[A]]{}
	}}
}

func forkIn[A any](f *scope.Fiber, e Effect[A], s *scope.Scope, options []ForkOption) *Fiber[A] {
	fb := new(Fiber[A])
	f.ForkIn(s, &fb.kernel, fb.body(e), forkConfig(options))
	return fb
}

// ForkScoped is ForkIn the scope at hand. Without one it is a defect.
//
//go:noinline
func ForkScoped[A any](e Effect[A], options ...ForkOption) Effect[*Fiber[A]] {
	return Effect[*Fiber[A]]{step: func(f *scope.Fiber) (*Fiber[A], *scope.Cause, Effect[*Fiber[A]]) {
		s, c := scopeAtHand(f)
		if c != nil {
			return nil, c, Effect[*Fiber[A]]{}
		}
		return forkIn(f, e, s, options), nil, Effect[*Fiber[A]]{}
	}}
}

// Kernel is the untyped fiber.
func (fb *Fiber[A]) Kernel() *scope.Fiber { return &fb.kernel }

// ID is the fiber's number.
func (fb *Fiber[A]) ID[_ onUse]() scope.FiberID { return fb.kernel.ID() }

// Exited is the exit, once the fiber has ended. Any goroutine may call it.
func (fb *Fiber[A]) Exited[_ onUse]() (exit scope.Exit[A], ended bool) {
	c, done := fb.kernel.Exited()
	if !done {
		return scope.Exit[A]{}, false
	}
	return fb.exit(c), true
}

func (fb *Fiber[A]) exit[_ onUse](c *scope.Cause) scope.Exit[A] { return scope.NewExit(fb.value, c) }

// Join waits for the fiber and ends as it did.
//
//go:noinline
func (fb *Fiber[A]) Join[_ onUse]() Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		if c, done := fb.kernel.Exited(); done {
			return then(FromExit(fb.exit(c)))
		}
		c := f.Join(&fb.kernel)
		if c != nil {
			return failed[A](c)
		}
		return value(fb.value)
	}}
}

// Await waits for the fiber and gives its exit.
//
//go:noinline
func (fb *Fiber[A]) Await[_ onUse]() Effect[scope.Exit[A]] {
	return Effect[scope.Exit[A]]{step: func(f *scope.Fiber) (scope.Exit[A], *scope.Cause, Effect[scope.Exit[A]]) {
		if c := f.Await(&fb.kernel); c != nil {
			return scope.Exit[A]{}, c, Effect[scope.Exit[A]]{}
		}
		c, _ := fb.kernel.Exited()
		return fb.exit(c), nil, Effect[scope.Exit[A]]{}
	}}
}

// Interrupt interrupts the fiber and waits for its end.
//
//go:noinline
func (fb *Fiber[A]) Interrupt[_ onUse]() Effect[Unit] {
	return Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
		return result(Unit{}, f.InterruptAwait(&fb.kernel))
	}}
}

// InterruptNow interrupts the fiber and does not wait (TypeScript:
// interruptUnsafe).
func (fb *Fiber[A]) InterruptNow[_ onUse](by scope.FiberID) { fb.kernel.Interrupt(by) }

// RunIn ties the fiber to s: closing s interrupts and awaits it.
func (fb *Fiber[A]) RunIn[_ onUse](s *scope.Scope) { fb.kernel.RunIn(s) }

// AnyFiber is a fiber whose type does not matter.
type AnyFiber interface{ Kernel() *scope.Fiber }

// InterruptAll interrupts the fibers in order, then waits for all of them.
func InterruptAll(fibers ...AnyFiber) Effect[Unit] {
	return Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
		return Unit{}, f.InterruptAll(kernels(fibers)), Effect[Unit]{}
	}}
}

// AwaitAll waits for all the fibers.
func AwaitAll(fibers ...AnyFiber) Effect[Unit] {
	return Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
		return Unit{}, f.AwaitAll(kernels(fibers)), Effect[Unit]{}
	}}
}

func kernels(fibers []AnyFiber) []*scope.Fiber {
	out := make([]*scope.Fiber, len(fibers))
	for i, fb := range fibers {
		out[i] = fb.Kernel()
	}
	return out
}

// AwaitAllChildren runs e, then waits for the children that were forked
// meanwhile.
//
//go:noinline
func (e Effect[A]) AwaitAllChildren[_ onUse]() Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		wait := awaitNewChildren(f)
		return result(onExit(f, e, true, func(*scope.Fiber, A, *scope.Cause) *scope.Cause { return wait() }))
	}}
}

// awaitNewChildren gives what waits for the children that f has then and not
// now, as interruptible as f is now.
func awaitNewChildren(f *scope.Fiber) func() *scope.Cause {
	before := map[*scope.Fiber]bool{}
	for _, child := range f.Children() {
		before[child] = true
	}
	interruptible := f.Interruptible()
	return func() *scope.Cause {
		var children []*scope.Fiber
		for _, child := range f.Children() {
			if !before[child] {
				children = append(children, child)
			}
		}
		if len(children) == 0 {
			return nil
		}
		wait := Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
			return Unit{}, f.AwaitAll(children), Effect[Unit]{}
		}}
		if interruptible {
			wait = wait.Interruptible()
		}
		_, c := run(f, wait)
		return c
	}
}
