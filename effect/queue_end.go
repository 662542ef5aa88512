package effect

import "github.com/rivus/tether/scope"

var queueEnd = scope.CauseFail(&scope.Done{})

// Fail ends the queue with err: what it holds can still be taken, then takes
// fail with err. It gives false when the queue has ended before.
func (q *Queue[A]) Fail[_ onUse](err error) Effect[bool] {
	if err == nil {
		return q.Die("effect: Queue.Fail(nil)")
	}
	return q.FailCause(scope.CauseFail(err))
}

// FailCause is Fail with a cause.
func (q *Queue[A]) FailCause[_ onUse](c *scope.Cause) Effect[bool] {
	return Effect[bool]{step: func(f *scope.Fiber) (bool, *scope.Cause, Effect[bool]) {
		return q.failCause(f, c), nil, Effect[bool]{}
	}}
}

// Die is Fail with a defect.
func (q *Queue[A]) Die[_ onUse](defect any) Effect[bool] { return q.FailCause(scope.CauseDie(defect)) }

// End is Fail with *Done: the queue ends well.
func (q *Queue[A]) End[_ onUse]() Effect[bool] { return q.FailCause(queueEnd) }

// Interrupt is Fail with an interruption by the fiber that runs it.
func (q *Queue[A]) Interrupt[_ onUse]() Effect[bool] {
	return Effect[bool]{step: func(f *scope.Fiber) (bool, *scope.Cause, Effect[bool]) {
		return q.failCause(f, scope.CauseInterrupt(f.ID())), nil, Effect[bool]{}
	}}
}

// FailCauseNow is FailCause outside any effect (TypeScript: failCauseUnsafe). On
// the parallel runtime any goroutine may call it, on the deterministic one only
// code that runs on it.
func (q *Queue[A]) FailCauseNow[_ onUse](c *scope.Cause) bool { return q.failCause(nil, c) }

// EndNow is End outside any effect, with FailCauseNow's rules (TypeScript:
// endUnsafe). Who waits may run inside this call, as inside OfferNow.
func (q *Queue[A]) EndNow[_ onUse]() bool { return q.failCause(nil, queueEnd) }

func (q *Queue[A]) failCause[_ onUse](f *scope.Fiber, c *scope.Cause) bool {
	if c == nil {
		c = scope.CauseDie("effect: Queue.FailCause(nil)")
	}
	q.mu.Lock()
	if !q.state.close(c) {
		q.mu.Unlock()
		return false
	}
	if q.state.drained() {
		q.finish()
	} else {
		// Takers that wait for several messages can have the rest now.
		q.unlockAndWake(f)
	}
	return true
}

// Into runs e and ends the queue with how it ended: well, or with its cause, a
// Goexit included. It gives false when the queue has ended before.
func (q *Queue[A]) Into[X any](e Effect[X]) Effect[bool] {
	return into(e, func(f *scope.Fiber, _ X, c *scope.Cause) bool {
		if c == nil {
			c = queueEnd
		}
		return q.failCause(f, c)
	})
}

// Shutdown ends the queue at once and forgets what it holds: takes are
// interrupted, or fail with the cause of an end that had begun, and offers that
// wait are refused. It gives false when the queue was done before.
func (q *Queue[A]) Shutdown[_ onUse]() Effect[bool] { return Sync(q.ShutdownNow) }

// ShutdownNow is Shutdown outside any effect, with FailCauseNow's rules
// (TypeScript: shutdownUnsafe).
func (q *Queue[A]) ShutdownNow[_ onUse]() bool {
	q.mu.Lock()
	if q.state.phase == queueDone {
		q.mu.Unlock()
		return false
	}
	q.state.close(scope.CauseInterrupt(0))
	offers := q.state.offers.drain()
	q.finish()
	for _, o := range offers {
		o.token.Wake()
	}
	return true
}

// finish makes the queue done, gives the lock back and wakes who waits.
func (q *Queue[A]) finish[_ onUse]() {
	woken := q.state.finish()
	q.mu.Unlock()
	for _, t := range woken {
		t.token.Wake()
	}
}

// finishDrained is finish if nothing is left of a queue that ends. It gives the
// lock back.
func (q *Queue[A]) finishDrained[_ onUse]() {
	if q.state.drained() {
		q.finish()
		return
	}
	q.mu.Unlock()
}

// Ended tells whether the queue is done: nothing can be taken any more.
func (q *Queue[A]) Ended[_ onUse]() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.state.phase == queueDone
}

var waitQueueEnd = &scope.Waiting{What: "the end of a Queue"}

// Await waits until the queue is done: it has ended and everything was taken, or
// it was shut down. It succeeds after End and fails with the queue's cause
// otherwise.
func (q *Queue[A]) Await[_ onUse]() Effect[Unit] {
	return Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
		q.mu.Lock()
		if q.state.phase == queueDone {
			c := endedWell(q.state.cause)
			q.mu.Unlock()
			return Unit{}, c, Effect[Unit]{}
		}
		t := &taker{}
		t.owner, t.token = t, f.Arm()
		q.state.awaiters.join(&t.seat)
		q.mu.Unlock()
		p := f.Block(t.token, waitQueueEnd)
		c := p.Cause
		if c == nil {
			c = endedWell(t.cause)
			if !p.Slept {
				return Unit{}, c, Effect[Unit]{}
			}
		}
		return Unit{}, f.Settle(c, func() *scope.Cause {
			q.mu.Lock()
			q.state.awaiters.leave(&t.seat)
			q.mu.Unlock()
			return nil
		}), Effect[Unit]{}
	}}
}

// endedWell is nil for a cause that says Done, and at most that somebody was
// interrupted besides; otherwise it is the cause without its Dones (TypeScript:
// Pull.catchDone).
func endedWell(c *scope.Cause) *scope.Cause {
	done, other := false, false
	var rest []scope.Reason
	for _, r := range c.Reasons() {
		fail, isFail := r.(scope.Fail)
		if isFail && scope.IsDone(fail.Err) {
			done = true
			continue
		}
		if _, i := r.(scope.Interrupt); !i {
			other = true
		}
		rest = append(rest, r)
	}
	switch {
	case !done:
		return c
	case other:
		return scope.CauseFromReasons(rest...)
	}
	return nil
}
