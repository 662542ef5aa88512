package effect

import "github.com/rivus/tether/scope"

// queueStrategy is what an offer to a full queue does.
type queueStrategy uint8

const (
	queueWaits queueStrategy = iota
	queueDrops
	queueSlides
)

// queuePhase is a queue's life:
//
//	open --close, something is left--> closing --all of it taken--> done
//	  '--close, nothing is left; shutdown-------------------------> done
type queuePhase uint8

const (
	queueOpen queuePhase = iota
	// queueClosing accepts nothing more; what it holds can still be taken.
	queueClosing
	queueDone
)

// queueState is a queue without its lock and its wakes: pure transitions, which
// answer who is to be woken.
//
// Being woken gives a taker nothing: it comes back and takes. Until it has,
// reserved counts what it was woken for, so that nobody else is woken for the
// same message. A taker that was woken and leaves without a message gives its
// claim back, and then others must be woken in its place.
type queueState[A any] struct {
	strategy queueStrategy
	phase    queuePhase
	// capacity is 0 for a queue that hands over from offer to take, and
	// unlimited for one without bounds.
	capacity int
	messages ring[A]
	// cause is what takes fail with, once the queue is not open.
	cause    *scope.Cause
	reserved int
	takers   lineup[*taker]
	// offers wait while messages are full. They exist only with queueWaits.
	offers   lineup[*offering[A]]
	awaiters lineup[*taker]
}

const unlimited = int(^uint(0) >> 1)

// taker is a fiber that waits for messages or, without min, looks at them.
type taker struct {
	seat[*taker]
	token scope.Token
	min   int
	// claim is what the state has reserved for it, once it was woken.
	claim int
	// cause is what it fails with when the queue is done.
	cause *scope.Cause
}

// offering is a fiber that waits until its messages are accepted.
type offering[A any] struct {
	seat[*offering[A]]
	token scope.Token
	rest  []A
	one   [1]A
	// accepted tells that rest is empty because all of it is in the queue.
	accepted bool
}

// acceptance is what became of an offer.
type acceptance uint8

const (
	refused acceptance = iota
	// admitted: takers get their turn later.
	admitted
	// admittedNow: takers get their turn inside the offer.
	admittedNow
	// replaced: the oldest message made room, and no taker gets a turn.
	replaced
)

// admit offers one message.
func (s *queueState[A]) admit[_ onUse](v A) acceptance {
	switch {
	case s.phase != queueOpen:
		return refused
	case s.messages.len() < s.capacity:
		s.messages.push(v)
		return admitted
	case s.strategy == queueSlides:
		if s.messages.len() > 0 {
			s.messages.drop()
		}
		s.messages.push(v)
		return replaced
	case s.capacity == 0 && s.takers.len() > 0:
		s.messages.push(v)
		return admittedNow
	}
	return refused
}

// admitAll offers messages and answers those that were not accepted.
func (s *queueState[A]) admitAll[_ onUse](list []A) (rest []A, how acceptance) {
	if s.phase != queueOpen {
		return list, refused
	}
	if s.strategy == queueSlides {
		for _, v := range list {
			s.messages.push(v)
		}
		for s.messages.len() > s.capacity {
			s.messages.drop()
		}
		return nil, admitted
	}
	free := s.capacity - s.messages.len()
	if s.capacity == 0 {
		free = s.takers.len()
	}
	if free <= 0 {
		return list, refused
	}
	free = min(free, len(list))
	for _, v := range list[:free] {
		s.messages.push(v)
	}
	return list[free:], admitted
}

// need is how many messages let a taker of at least that many go on.
func (s *queueState[A]) need[_ onUse](least int) int {
	if s.phase == queueClosing || s.capacity == 0 {
		return 1 // nothing more comes, or comes together
	}
	return min(least, s.capacity)
}

// takable tells whether a take of at least that many messages need not wait.
func (s *queueState[A]) takable[_ onUse](least int) bool {
	return s.messages.len() >= s.need(least) || (s.capacity == 0 && s.offers.len() > 0)
}

// unclaimed is the number of messages that no woken taker is coming for.
func (s *queueState[A]) unclaimed[_ onUse]() int {
	n := s.messages.len() - s.reserved
	if s.capacity == 0 {
		n += s.offers.len()
	}
	return n
}

// wakeable tells whether t should be woken.
func (s *queueState[A]) wakeable[_ onUse](t *taker) bool {
	if t.min == 0 {
		return s.messages.len() > 0
	}
	if s.messages.len()-s.reserved >= s.need(t.min) {
		return true
	}
	return s.capacity == 0 && s.offers.len() > 0 && s.unclaimed() > 0
}

// anyWakeable tells whether any taker should be woken.
func (s *queueState[A]) anyWakeable[_ onUse]() bool {
	for p := s.takers.head; p != nil; p = p.next {
		if s.wakeable(p.owner) {
			return true
		}
	}
	return false
}

// nextTaker is the next taker to wake on a walk along the takers, which it
// leaves; nil ends the walk.
func (s *queueState[A]) nextTaker[_ onUse](w *walk[*taker]) *taker {
	if w.passed > 0 && s.messages.len()-s.reserved <= 0 {
		return nil
	}
	for p := w.next(&s.takers); p != nil; p = w.next(&s.takers) {
		t := p.owner
		if !s.wakeable(t) {
			continue
		}
		if t.min > 0 {
			t.claim = s.need(t.min)
			s.reserved += t.claim
		}
		s.takers.leave(p)
		return t
	}
	return nil
}

// back takes in that t is not asleep any more. It answers true when t gives up,
// though it was woken for something that another may have instead.
func (s *queueState[A]) back[_ onUse](t *taker, givesUp bool) bool {
	s.takers.leave(&t.seat)
	s.reserved -= t.claim
	claimed := t.claim > 0
	t.claim = 0
	return claimed && givesUp
}

// nextOffer moves messages of waiting offers into free places. It answers an
// offer that has been accepted whole, which is to be woken; nil ends the walk.
func (s *queueState[A]) nextOffer[_ onUse](w *walk[*offering[A]]) *offering[A] {
	if s.messages.len() >= s.capacity {
		return nil
	}
	p := w.next(&s.offers)
	if p == nil {
		return nil
	}
	o := p.owner
	n := min(s.capacity-s.messages.len(), len(o.rest))
	for _, v := range o.rest[:n] {
		s.messages.push(v)
	}
	if o.rest = o.rest[n:]; len(o.rest) > 0 {
		return nil
	}
	o.accepted = true
	s.offers.leave(p)
	return o
}

// takeOffered takes a message from the first waiting offer, which there must be.
// It answers the offer when that was its last.
func (s *queueState[A]) takeOffered[_ onUse]() (v A, done *offering[A]) {
	o := s.offers.head.owner
	v, o.rest = o.rest[0], o.rest[1:]
	if len(o.rest) == 0 {
		o.accepted = true
		s.offers.leave(&o.seat)
		return v, o
	}
	return v, nil
}

// close begins the end with c, or answers false when it has begun.
func (s *queueState[A]) close[_ onUse](c *scope.Cause) bool {
	if s.phase != queueOpen {
		return false
	}
	s.phase, s.cause = queueClosing, c
	return true
}

// drained tells that a closing queue has nothing left.
func (s *queueState[A]) drained[_ onUse]() bool {
	return s.phase == queueClosing && s.offers.len() == 0 && s.messages.len() == 0
}

// finish makes the queue done and answers those who wait for messages or for
// the end, in the order in which they are to be woken.
func (s *queueState[A]) finish[_ onUse]() []*taker {
	s.phase = queueDone
	s.messages.clear()
	woken := append(s.takers.drain(), s.awaiters.drain()...)
	for _, t := range woken {
		t.cause = s.cause
	}
	return woken
}
