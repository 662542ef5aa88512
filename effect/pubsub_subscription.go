package effect

import (
	"slices"

	"github.com/rivus/tether/scope"
)

// Subscription gives the messages that were published since it was made. Several
// fibers may take from it; each message goes to one of them.
type Subscription[A any] struct {
	seat[*Subscription[A]]
	hub *PubSub[A]
	// The hub's lock guards the rest.
	reader  pubsubReader
	replay  replayWindow[A]
	pollers lineup[*poller[A]]
	// returned are messages that were handed to fibers which were interrupted at
	// that very moment, oldest first. Only the parallel runtime has such.
	returned []returnedMessage[A]
	closed   bool
}

type returnedMessage[A any] struct {
	value  A
	number int
}

// poller is a fiber that waits for a message.
type poller[A any] struct {
	seat[*poller[A]]
	token scope.Token
	value A
	// given tells that value is the log's message of that number.
	given  bool
	number int
	cause  *scope.Cause
}

// Subscribe makes a subscription that closes with the scope at hand, or with the
// pubsub. Without a scope at hand it is a defect.
func (p *PubSub[A]) Subscribe[_ onUse]() Effect[*Subscription[A]] {
	return Effect[*Subscription[A]]{step: func(f *scope.Fiber) (*Subscription[A], *scope.Cause, Effect[*Subscription[A]]) {
		at, c := scopeAtHand(f)
		if c != nil {
			return nil, c, Effect[*Subscription[A]]{}
		}
		own := p.subscriptions.Fork(scope.Sequential)
		s := &Subscription[A]{hub: p}
		s.owner = s
		p.mu.Lock()
		s.reader, s.replay = p.log.subscribe(), p.log.replay.window()
		p.mu.Unlock()
		if c := own.Add(f, func(f *scope.Fiber, _ scope.Exit[any]) *scope.Cause { return s.close(f) }); c != nil {
			return nil, c, Effect[*Subscription[A]]{}
		}
		if c := at.Add(f, func(f *scope.Fiber, exit scope.Exit[any]) *scope.Cause { return own.Close(f, exit) }); c != nil {
			return nil, c, Effect[*Subscription[A]]{}
		}
		return s, nil, Effect[*Subscription[A]]{}
	}}.Uninterruptible()
}

func (s *Subscription[A]) close[_ onUse](f *scope.Fiber) *scope.Cause {
	p := s.hub
	p.mu.Lock()
	s.closed = true
	waiting := s.pollers.drain()
	for _, w := range waiting {
		w.cause = scope.CauseInterrupt(f.ID())
	}
	p.mu.Unlock()
	for _, w := range waiting {
		w.token.Wake()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting.leave(&s.seat)
	p.log.unsubscribe(&s.reader)
	s.replay, s.returned = replayWindow[A]{}, nil
	p.admitWaiting()
	return nil
}

// unread and what follows are called with the hub's lock held.
func (s *Subscription[A]) unread[_ onUse]() int { return len(s.returned) + s.hub.log.unread(&s.reader) }

func (s *Subscription[A]) read[_ onUse]() (A, int) {
	if len(s.returned) > 0 {
		m := s.returned[0]
		s.returned = s.returned[1:]
		return m.value, m.number
	}
	return s.hub.log.read(&s.reader)
}

// readUpTo reads what is unread. While fibers wait it is theirs.
func (s *Subscription[A]) readUpTo[_ onUse](most int) []A {
	if s.pollers.len() > 0 {
		return nil
	}
	out := make([]A, 0, min(most, s.unread()))
	for len(out) < most && s.unread() > 0 {
		v, _ := s.read()
		out = append(out, v)
	}
	return out
}

// giveBack is for a message whose taker was interrupted.
func (s *Subscription[A]) giveBack[_ onUse](w *poller[A]) {
	if s.closed {
		return
	}
	i, _ := slices.BinarySearchFunc(s.returned, w.number, func(m returnedMessage[A], n int) int { return m.number - n })
	s.returned = slices.Insert(s.returned, i, returnedMessage[A]{w.value, w.number})
	s.hub.serve(s)
}

// Take waits for a message and takes it. When the subscription is closed it is
// interrupted. A fiber that is interrupted while it waits has taken nothing; on
// the parallel runtime an interruption may also fall between the take and what
// comes next, and then the message is lost.
func (s *Subscription[A]) Take[_ onUse]() Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (v A, c *scope.Cause, _ Effect[A]) {
		p := s.hub
		p.mu.Lock()
		switch {
		case s.closed:
			c = scope.CauseInterrupt(f.ID())
		case s.replay.len() > 0:
			v = s.replay.take()
		case s.pollers.len() == 0 && s.unread() > 0:
			v, _ = s.read()
			p.admitWaiting()
		default:
			return result(s.wait(f))
		}
		p.mu.Unlock()
		return v, c, Effect[A]{}
	}}
}

var waitMessage = &scope.Waiting{What: "a message of a PubSub"}

// wait waits for one message. It gives the lock back.
func (s *Subscription[A]) wait[_ onUse](f *scope.Fiber) (v A, c *scope.Cause) {
	p := s.hub
	if s.closed {
		p.mu.Unlock()
		return v, scope.CauseInterrupt(f.ID())
	}
	if p.ended {
		v = p.last
		p.mu.Unlock()
		return v, nil
	}
	w := &poller[A]{token: f.Arm()}
	w.owner = w
	if !s.listed() {
		p.waiting.join(&s.seat)
	}
	s.pollers.join(&w.seat)
	p.serve(s)
	p.mu.Unlock()
	b := f.Block(w.token, waitMessage)
	c = b.Cause
	if c == nil {
		c = w.cause
		if !b.Slept {
			return w.value, c
		}
	}
	c = f.Settle(c, func() *scope.Cause {
		p.mu.Lock()
		s.pollers.leave(&w.seat)
		p.mu.Unlock()
		return nil
	})
	if c != nil {
		p.mu.Lock()
		if w.given {
			s.giveBack(w)
		}
		p.mu.Unlock()
		return v, c
	}
	return w.value, nil
}

// TakeAll waits for a message and takes all there are; see Take.
func (s *Subscription[A]) TakeAll[_ onUse]() Effect[[]A] {
	return Effect[[]A]{step: func(f *scope.Fiber) ([]A, *scope.Cause, Effect[[]A]) {
		p := s.hub
		var first []A
		for {
			p.mu.Lock()
			if s.closed {
				p.mu.Unlock()
				return nil, scope.CauseInterrupt(f.ID()), Effect[[]A]{}
			}
			out := append(first, s.readUpTo(unlimited)...)
			p.admitWaiting()
			if n := s.replay.len(); n > 0 {
				out = append(s.replay.takeN(n), out...)
			}
			if len(out) > 0 {
				p.mu.Unlock()
				return out, nil, Effect[[]A]{}
			}
			v, c := s.wait(f)
			if c != nil {
				return nil, c, Effect[[]A]{}
			}
			first = []A{v}
		}
	}}
}

// TakeUpTo takes the messages that are there, at most that many, and does not
// wait.
func (s *Subscription[A]) TakeUpTo[_ onUse](most int) Effect[[]A] {
	return Effect[[]A]{step: func(f *scope.Fiber) ([]A, *scope.Cause, Effect[[]A]) {
		p := s.hub
		p.mu.Lock()
		defer p.mu.Unlock()
		if s.closed {
			return nil, scope.CauseInterrupt(f.ID()), Effect[[]A]{}
		}
		most := max(0, most)
		out := s.replay.takeN(min(most, s.replay.len()))
		if len(out) == most {
			return out, nil, Effect[[]A]{}
		}
		out = append(out, s.readUpTo(most-len(out))...)
		p.admitWaiting()
		return out, nil, Effect[[]A]{}
	}}
}

// TakeBetween waits for least messages and takes up to most. When it is
// interrupted while it waits, what it has taken before is lost.
func (s *Subscription[A]) TakeBetween[_ onUse](least, most int) Effect[[]A] {
	return Effect[[]A]{step: func(f *scope.Fiber) ([]A, *scope.Cause, Effect[[]A]) {
		out := []A{}
		for least, most := max(0, least), max(0, most); most >= least; {
			some, c := run(f, s.TakeUpTo(most))
			if c != nil {
				return nil, c, Effect[[]A]{}
			}
			out = append(out, some...)
			if least -= len(some); least < 1 {
				break
			}
			v, c := run(f, s.Take())
			if c != nil {
				return nil, c, Effect[[]A]{}
			}
			out = append(out, v)
			if least--; least == 0 {
				break
			}
			most -= len(some) + 1
		}
		return out, nil, Effect[[]A]{}
	}}
}

// Remaining gives the number of messages that can be taken without waiting. When
// the subscription is closed it is interrupted.
func (s *Subscription[A]) Remaining[_ onUse]() Effect[int] {
	return Effect[int]{step: func(f *scope.Fiber) (int, *scope.Cause, Effect[int]) {
		if n, ok := s.RemainingNow(); ok {
			return n, nil, Effect[int]{}
		}
		return 0, scope.CauseInterrupt(f.ID()), Effect[int]{}
	}}
}

// RemainingNow is Remaining outside any effect; ok is false when the
// subscription is closed (TypeScript: remainingUnsafe).
func (s *Subscription[A]) RemainingNow[_ onUse]() (n int, ok bool) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	if s.closed {
		return 0, false
	}
	return s.unread() + s.replay.len(), true
}
