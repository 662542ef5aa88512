package effect

import "github.com/rivus/tether/scope"

// Offer adds a message and gives true. While a bounded queue is full it waits,
// and an interruption takes the message back. It gives false when the queue has
// ended or ends meanwhile, or when a dropping queue is full.
func (q *Queue[A]) Offer[_ onUse](v A) Effect[bool] {
	return Effect[bool]{step: func(f *scope.Fiber) (bool, *scope.Cause, Effect[bool]) {
		q.mu.Lock()
		how := q.state.admit(v)
		if how != refused || q.state.strategy != queueWaits || q.state.phase != queueOpen {
			return q.offered(f, how), nil, Effect[bool]{}
		}
		o := &offering[A]{one: [1]A{v}}
		o.rest = o.one[:]
		c := q.waitToOffer(f, o, refused)
		return o.accepted, c, Effect[bool]{}
	}}
}

// OfferNow is Offer that does not wait: it answers false when a bounded queue is
// full (TypeScript: offerUnsafe). On the parallel runtime any goroutine may call
// it, on the deterministic one only code that runs on it. Where fibers run one at a time
// takers may run inside this call: never call it with a mutex held that they may want.
func (q *Queue[A]) OfferNow[_ onUse](v A) bool {
	q.mu.Lock()
	return q.offered(nil, q.state.admit(v))
}

// offered gives the lock back.
func (q *Queue[A]) offered[_ onUse](f *scope.Fiber, how acceptance) bool {
	switch how {
	case admitted:
		q.unlockAndWake(f)
	case admittedNow:
		q.mu.Unlock()
		q.wakeTakers()
	default:
		q.mu.Unlock()
	}
	return how != refused
}

// OfferAll adds messages, in order, and gives those that were not accepted: none
// unless the queue has ended or ends meanwhile, or a dropping queue is full.
// While a bounded queue is full it waits; after an interruption some of the
// messages may be in the queue. The queue may keep list until then.
func (q *Queue[A]) OfferAll[_ onUse](list []A) Effect[[]A] {
	return Effect[[]A]{step: func(f *scope.Fiber) ([]A, *scope.Cause, Effect[[]A]) {
		q.mu.Lock()
		rest, how := q.state.admitAll(list)
		if len(rest) == 0 || q.state.strategy != queueWaits || q.state.phase != queueOpen {
			q.offered(f, how)
			return rest, nil, Effect[[]A]{}
		}
		o := &offering[A]{rest: rest}
		c := q.waitToOffer(f, o, how)
		return o.rest, c, Effect[[]A]{}
	}}
}

// OfferAllNow is OfferAll that does not wait, with OfferNow's rules (TypeScript:
// offerAllUnsafe).
func (q *Queue[A]) OfferAllNow[_ onUse](list []A) (rest []A) {
	q.mu.Lock()
	rest, how := q.state.admitAll(list)
	q.offered(nil, how)
	return rest
}

var waitOffer = &scope.Waiting{What: "room in a Queue"}

// waitToOffer gives the lock back and sleeps until o is decided. With how it
// tells what became of the messages before those of o: o joins the waiting
// offers before any taker is woken for them, so that no other offer comes in
// between.
func (q *Queue[A]) waitToOffer[_ onUse](f *scope.Fiber, o *offering[A], how acceptance) *scope.Cause {
	o.owner, o.token = o, f.Arm()
	q.state.offers.join(&o.seat)
	q.offered(f, how)
	p := f.Block(o.token, waitOffer)
	if p.Cause == nil && !p.Slept {
		return nil
	}
	return f.Settle(p.Cause, func() *scope.Cause {
		q.mu.Lock()
		if q.state.phase != queueDone {
			q.state.offers.leave(&o.seat)
		}
		q.finishDrained()
		return nil
	})
}

// refill moves waiting offers into what a take made free, and ends a closing
// queue that has nothing left. It gives the lock back.
func (q *Queue[A]) refill[_ onUse](f *scope.Fiber) {
	if q.state.phase != queueOpen && q.state.offers.len() == 0 {
		q.finishDrained()
		return
	}
	if q.state.offers.len() == 0 {
		q.mu.Unlock()
		return
	}
	var w walk[*offering[A]]
	for o := q.state.nextOffer(&w); o != nil && q.state.phase != queueDone; o = q.state.nextOffer(&w) {
		q.mu.Unlock()
		o.token.Wake()
		q.mu.Lock()
	}
	// A taker may now have what it could not get when it was last its turn: it
	// wants more than there was, or found nothing between two steps of this loop.
	// In the effect order this never has to be said: a turn under way goes on.
	if (q.owner == nil || q.turns == 0) && q.state.anyWakeable() {
		q.unlockAndWake(f)
		return
	}
	q.mu.Unlock()
}
