package effect

import (
	"sync"

	"github.com/rivus/tether/internal/list"
	"github.com/rivus/tether/scope"
)

// Deferred is a result that arrives once. Fibers wait for it; whoever completes
// it first decides.
type Deferred[A any] struct {
	mu      sync.Mutex
	effect  Effect[A]
	done    bool
	waiters list.List[scope.Token]
	// first is the place of one who waits alone.
	first list.Node[scope.Token]
	// value is what effect succeeds with, where it does.
	value literal[A]
}

// MakeDeferred makes a deferred (TypeScript: Deferred.make).
func MakeDeferred[A any]() Effect[*Deferred[A]] {
	return Sync(NewDeferred[A])
}

// NewDeferred makes a deferred outside any effect (TypeScript:
// Deferred.makeUnsafe).
func NewDeferred[A any]() *Deferred[A] { return &Deferred[A]{} }

// Await waits until the deferred is completed and goes on with what it was
// completed with.
//
//go:noinline
func (d *Deferred[A]) Await[_ onUse]() Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		d.mu.Lock()
		if d.done {
			d.mu.Unlock()
			return then(d.effect)
		}
		node, t := d.node(), f.Arm()
		node.Value = t
		d.waiters.Push(node)
		d.mu.Unlock()
		p := f.Block(t, waitDeferred)
		if p.Cause == nil && !p.Slept {
			return then(d.effect)
		}
		return d.waited(f, node, p.Cause)
	}}
}

// waited goes on after a wait that c has ended. It is apart from the wait, whose frame
// lies on the first stack of a goroutine.
//
//go:noinline
func (d *Deferred[A]) waited[_ onUse](f *scope.Fiber, node *list.Node[scope.Token], c *scope.Cause) (A, *scope.Cause, Effect[A]) {
	var v A
	if c == nil {
		v, c = guarded(f, d.effect)
	}
	c = f.Settle(c, func() *scope.Cause {
		d.mu.Lock()
		if d.waiters.Remove(node) {
			node.Value = scope.Token{} // who completes the deferred has not taken it out
		}
		d.mu.Unlock()
		return nil
	})
	if c != nil {
		return failed[A](c)
	}
	return value(v)
}

// node is one that nobody uses. mu is held.
func (d *Deferred[A]) node[_ onUse]() *list.Node[scope.Token] {
	if d.first.Listed() {
		return new(list.Node[scope.Token])
	}
	return &d.first
}

var waitDeferred = &scope.Waiting{What: "a Deferred"}

// CompleteNow completes the deferred with e, which every waiter then runs, and
// answers true; or false when it was complete (TypeScript: doneUnsafe). On the
// parallel runtime any goroutine may call it. On the others the waiters run inside this
// call, until they wait again: never call it with a mutex held that they may want.
func (d *Deferred[A]) CompleteNow[_ onUse](e Effect[A]) bool {
	d.mu.Lock()
	if d.done {
		d.mu.Unlock()
		return false
	}
	d.effect = e
	d.complete()
	return true
}

// complete is entered with mu held and gives it back.
func (d *Deferred[A]) complete[_ onUse]() {
	d.done = true
	// The waiters are out of the deferred before the first runs: one that ends
	// inside its wake must not change this list.
	waiters := d.waiters.Drain()
	d.mu.Unlock()
	for n := waiters; n != nil; {
		// The deferred may live for long, with the first waiter's place in it: it must
		// not keep that fiber.
		t := n.Value
		n.Value = scope.Token{}
		n = n.Next()
		t.Wake()
	}
}

// CompleteWith completes it with an effect that every waiter runs.
//
//go:noinline
func (d *Deferred[A]) CompleteWith[_ onUse](e Effect[A]) Effect[bool] {
	return Sync(func() bool { return d.CompleteNow(e) })
}

// Done completes it with an exit.
func (d *Deferred[A]) Done[_ onUse](e scope.Exit[A]) Effect[bool] { return d.CompleteWith(FromExit(e)) }

// Succeed completes it with a value.
//
//go:noinline
func (d *Deferred[A]) Succeed[_ onUse](v A) Effect[bool] {
	return Effect[bool]{step: func(*scope.Fiber) (bool, *scope.Cause, Effect[bool]) {
		d.mu.Lock()
		if d.done {
			d.mu.Unlock()
			return value(false)
		}
		d.value.value = v
		d.effect = Effect[A]{lit: &d.value}
		d.complete()
		return value(true)
	}}
}

// Fail completes it with a failure.
func (d *Deferred[A]) Fail[_ onUse](err error) Effect[bool] { return d.CompleteWith(Fail[A](err)) }

// FailCause completes it with a cause.
func (d *Deferred[A]) FailCause[_ onUse](c *scope.Cause) Effect[bool] {
	return d.CompleteWith(FailCause[A](c))
}

// Die completes it with a defect.
func (d *Deferred[A]) Die[_ onUse](defect any) Effect[bool] { return d.CompleteWith(Die[A](defect)) }

// Interrupt completes it with an interruption by the fiber that runs it.
//
//go:noinline
func (d *Deferred[A]) Interrupt[_ onUse]() Effect[bool] {
	return WithFiber(func(f *scope.Fiber) Effect[bool] { return d.FailCause(scope.CauseInterrupt(f.ID())) })
}

// InterruptWith completes it with an interruption in the name of the fiber by.
func (d *Deferred[A]) InterruptWith[_ onUse](by scope.FiberID) Effect[bool] {
	return d.FailCause(scope.CauseInterrupt(by))
}

// Sync completes it with the value that fn makes when this runs. fn is called
// even if the deferred is complete.
//
//go:noinline
func (d *Deferred[A]) Sync[_ onUse](fn func() A) Effect[bool] {
	return Suspend(func() Effect[bool] { return d.Succeed(fn()) })
}

// FailSync completes it with the failure that fn makes when this runs. fn is
// called even if the deferred is complete.
//
//go:noinline
func (d *Deferred[A]) FailSync[_ onUse](fn func() error) Effect[bool] {
	return Suspend(func() Effect[bool] { return d.Fail(fn()) })
}

// FailCauseSync completes it with the cause that fn makes when this runs. fn is
// called even if the deferred is complete.
//
//go:noinline
func (d *Deferred[A]) FailCauseSync[_ onUse](fn func() *scope.Cause) Effect[bool] {
	return Suspend(func() Effect[bool] { return d.FailCause(fn()) })
}

// DieSync completes it with the defect that fn makes when this runs. fn is
// called even if the deferred is complete.
//
//go:noinline
func (d *Deferred[A]) DieSync[_ onUse](fn func() any) Effect[bool] {
	return Suspend(func() Effect[bool] { return d.Die(fn()) })
}

// Complete runs e, unless the deferred is complete, and completes it with e's
// exit.
//
//go:noinline
func (d *Deferred[A]) Complete[_ onUse](e Effect[A]) Effect[bool] {
	return Suspend(func() Effect[bool] {
		if d.Completed() {
			return Succeed(false)
		}
		return d.Into(e)
	})
}

// Into runs e and completes the deferred with its exit (TypeScript:
// Deferred.into). An interruption of e completes it too, and so does a Goexit.
//
//go:noinline
func (d *Deferred[A]) Into[_ onUse](e Effect[A]) Effect[bool] {
	return into(e, func(_ *scope.Fiber, v A, c *scope.Cause) bool {
		return d.CompleteNow(Effect[A]{lit: &literal[A]{value: v, cause: c}})
	})
}

// into runs e, which is as interruptible as its surroundings, and hands its exit to
// complete, masked. What waits for that must not wait for ever, so complete is called
// on the way of a Goexit, too.
//
//go:noinline
func into[A any](e Effect[A], complete func(f *scope.Fiber, v A, c *scope.Cause) bool) Effect[bool] {
	return inMask(func(f *scope.Fiber, restore Restore) (bool, *scope.Cause) {
		mark, returned := f.Mark(), false
		defer func() {
			if !returned && !f.Abandoned() {
				f.Unwound(mark)
				var none A
				complete(f, none, scope.CauseDie(scope.Exited{}))
			}
		}()
		v, c := within(f, restore.to, e)
		returned = true
		return complete(f, v, c), nil
	})
}

// awaited tells whether somebody waits for it.
func (d *Deferred[A]) awaited[_ onUse]() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.waiters.Len() > 0
}

// Completed tells whether it is complete (TypeScript: isDoneUnsafe). Any
// goroutine may call it.
func (d *Deferred[A]) Completed[_ onUse]() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.done
}

// IsDone tells whether it is complete.
func (d *Deferred[A]) IsDone[_ onUse]() Effect[bool] { return Sync(d.Completed) }

// Poll is what it was completed with, and whether it was. Any goroutine may call
// it.
func (d *Deferred[A]) Poll[_ onUse]() (Effect[A], bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.effect, d.done
}
