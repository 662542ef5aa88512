package effect

import (
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// Take waits for a message and takes it. Once the queue has ended and is empty
// it fails with the queue's cause.
//
// A fiber that is interrupted while it waits has taken nothing. On the parallel
// runtime an interruption may also fall between the take and what comes next,
// and then the message is lost; TakeRestoring leaves no such gap.
func (q *Queue[A]) Take[_ onUse]() Effect[A] { return Effect[A]{step: q.taking} }

// TakeRestoring is Take for use inside UninterruptibleMask, whose restore it is
// given: its wait can be interrupted, the taking cannot. So either the fiber is
// interrupted and the message is still in the queue, or the code behind this has
// it, masked.
func (q *Queue[A]) TakeRestoring[_ onUse](restore Restore) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) { return result(q.take(f, restore)) }}
}

func (q *Queue[A]) take[_ onUse](f *scope.Fiber, restore Restore) (v A, c *scope.Cause) {
	q.mu.Lock()
	for again := false; ; again = true {
		v, c, ok := q.takeOne(f)
		if ok {
			return v, c
		}
		if c := q.waitToTake(f, 1, restore, again); c != nil {
			return v, c
		}
	}
}

// takeOne takes a message if there is one, or answers why there will be none. It
// gives the lock back unless it answers false.
func (q *Queue[A]) takeOne[_ onUse](f *scope.Fiber) (v A, c *scope.Cause, ok bool) {
	s := &q.state
	switch {
	case s.phase == queueDone:
		c = s.cause
		q.mu.Unlock()
	case s.messages.len() > 0:
		v = s.messages.pop()
		q.refill(f)
	case s.capacity == 0 && s.offers.len() > 0:
		v = q.takeOffered(f)
	default:
		return v, nil, false
	}
	return v, c, true
}

// takeOffered gives the lock back. The message is out of the queue before the
// fiber that offered it goes on.
func (q *Queue[A]) takeOffered[_ onUse](f *scope.Fiber) A {
	v, done := q.state.takeOffered()
	if done != nil {
		q.mu.Unlock()
		done.token.Wake()
		q.mu.Lock()
	}
	q.refill(f)
	return v
}

// TakeAll waits for a message and takes all there are; see Take.
func (q *Queue[A]) TakeAll[_ onUse]() Effect[[]A] { return q.TakeBetween(1, unlimited) }

// TakeN waits for n messages and takes them; a bounded queue counts as ready
// when it is full, an ending one when it is not empty. So there may be fewer.
func (q *Queue[A]) TakeN[_ onUse](n int) Effect[[]A] { return q.TakeBetween(n, n) }

// TakeBetween is TakeN that takes up to most messages when there are more than
// least.
func (q *Queue[A]) TakeBetween[_ onUse](least, most int) Effect[[]A] {
	return Effect[[]A]{step: func(f *scope.Fiber) ([]A, *scope.Cause, Effect[[]A]) {
		return result(q.takeBetween(f, least, most))
	}}
}

func (q *Queue[A]) takeBetween[_ onUse](f *scope.Fiber, least, most int) ([]A, *scope.Cause) {
	s := &q.state
	q.mu.Lock()
	for again := false; ; again = true {
		switch {
		case s.phase == queueDone:
			c := s.cause
			q.mu.Unlock()
			return nil, c
		case least <= 0 || most <= 0:
			q.mu.Unlock()
			return []A{}, nil
		case s.takable(least):
			return q.takeUpTo(f, most), nil
		}
		if c := q.waitToTake(f, least, Restore{}, again); c != nil {
			return nil, c
		}
	}
}

// takeUpTo takes what is there, up to most and from one offer at most. It gives
// the lock back.
func (q *Queue[A]) takeUpTo[_ onUse](f *scope.Fiber, most int) []A {
	if n := q.state.messages.len(); n > 0 {
		out := q.state.messages.popN(min(n, most))
		q.refill(f)
		return out
	}
	return []A{q.takeOffered(f)}
}

// PollQueue takes a message from q, or gives none when there is none now or any
// more (TypeScript: Queue.poll).
func PollQueue[A any](q *Queue[A]) Effect[mo.Option[A]] {
	return Effect[mo.Option[A]]{step: func(f *scope.Fiber) (mo.Option[A], *scope.Cause, Effect[mo.Option[A]]) {
		q.mu.Lock()
		v, c, ok := q.takeOne(f)
		if !ok {
			q.mu.Unlock()
			return mo.None[A](), nil, Effect[mo.Option[A]]{}
		}
		if c != nil {
			return mo.None[A](), nil, Effect[mo.Option[A]]{}
		}
		return mo.Some(v), nil, Effect[mo.Option[A]]{}
	}}
}

// TakeNow takes a message or, once the queue has ended, answers its cause; ok is
// false when there is no message now (TypeScript: takeUnsafe). On the parallel
// runtime any goroutine may call it, on the deterministic one only code that
// runs on it.
func (q *Queue[A]) TakeNow[_ onUse]() (exit scope.Exit[A], ok bool) {
	q.mu.Lock()
	v, c, ok := q.takeOne(nil)
	if !ok {
		q.mu.Unlock()
		return scope.Exit[A]{}, false
	}
	return scope.NewExit(v, c), true
}

// Peek waits for a message and gives it without taking it. What offers that wait
// hold, in a queue of capacity 0, it does not see.
func (q *Queue[A]) Peek[_ onUse]() Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (v A, c *scope.Cause, _ Effect[A]) {
		q.mu.Lock()
		for again := false; ; again = true {
			switch s := &q.state; {
			case s.phase == queueDone:
				c = s.cause
				q.mu.Unlock()
				return v, c, Effect[A]{}
			case s.messages.len() > 0:
				v = s.messages.at(0)
				q.mu.Unlock()
				return v, nil, Effect[A]{}
			}
			if c := q.waitToTake(f, 0, Restore{}, again); c != nil {
				return v, c, Effect[A]{}
			}
		}
	}}
}

// Clear takes all messages without waiting. It gives none when the queue has
// ended by End, and fails when it ended otherwise.
func (q *Queue[A]) Clear[_ onUse]() Effect[[]A] {
	return Effect[[]A]{step: func(f *scope.Fiber) ([]A, *scope.Cause, Effect[[]A]) {
		q.mu.Lock()
		switch s := &q.state; {
		case s.phase == queueDone:
			c := endedWell(s.cause)
			q.mu.Unlock()
			return []A{}, c, Effect[[]A]{}
		case s.messages.len() > 0 || s.offers.len() > 0:
			return q.takeUpTo(f, unlimited), nil, Effect[[]A]{}
		}
		// The queue may be about to be done: somebody took the last message and
		// woke who had offered it, which is this fiber.
		q.refill(f)
		return []A{}, nil, Effect[[]A]{}
	}}
}

// Collect takes messages until the queue ends, and gives all of them. It fails
// when the queue ends otherwise than by End.
func (q *Queue[A]) Collect[_ onUse]() Effect[[]A] {
	return Suspend(func() Effect[[]A] {
		var out []A
		drain := Effect[[]A]{step: func(f *scope.Fiber) ([]A, *scope.Cause, Effect[[]A]) {
			for {
				list, c := run(f, q.TakeAll())
				if c != nil {
					return nil, c, Effect[[]A]{}
				}
				out = append(out, list...)
			}
		}}
		return drain.CatchCause(func(c *scope.Cause) Effect[[]A] {
			if c := endedWell(c); c != nil {
				return FailCause[[]A](c)
			}
			return Succeed(out)
		})
	})
}

var waitTake = &scope.Waiting{What: "a message of a Queue"}

// waitToTake sleeps until there may be as many messages as least, or for 0 any
// to look at. It is entered with the lock held, gives it back when it answers a
// cause, and holds it otherwise: then the caller tries again.
func (q *Queue[A]) waitToTake[_ onUse](f *scope.Fiber, least int, restore Restore, again bool) (c *scope.Cause) {
	t := &taker{min: least}
	t.owner = t
	if restore.to == restoreNothing {
		c = q.sleepToTake(f, t, again)
	} else {
		q.mu.Unlock()
		_, c = run(f, restore.Run(Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
			q.mu.Lock()
			if q.state.phase == queueDone || q.state.takable(max(1, least)) {
				q.mu.Unlock()
				return Unit{}, nil, Effect[Unit]{}
			}
			return Unit{}, q.sleepToTake(f, t, again), Effect[Unit]{}
		}}))
	}
	if c == nil && f.Signaled() {
		c = f.Notice()
	}
	q.mu.Lock()
	if claimed := q.state.back(t, c != nil); claimed {
		q.unlockAndWake(f)
	} else if c != nil {
		q.mu.Unlock()
	}
	return c
}

// sleepToTake is entered with the lock held and gives it back.
func (q *Queue[A]) sleepToTake[_ onUse](f *scope.Fiber, t *taker, again bool) *scope.Cause {
	t.token = f.Arm()
	q.state.takers.join(&t.seat)
	if again {
		// Woken in vain: what it had claimed may be enough for another.
		q.unlockAndWake(f)
	} else {
		q.mu.Unlock()
	}
	p := f.Block(t.token, waitTake)
	if p.Cause == nil && !p.Slept {
		return t.cause
	}
	c := p.Cause
	if c == nil {
		c = t.cause
	}
	return f.Settle(c, func() *scope.Cause {
		q.mu.Lock()
		q.state.takers.leave(&t.seat)
		q.mu.Unlock()
		return nil
	})
}
