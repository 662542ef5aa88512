package effect

import (
	"fmt"
	"sync"

	"github.com/rivus/tether/scope"
)

// PubSub hands every message to every subscriber, in order. A bounded one makes
// publishers wait while some subscriber has its capacity of messages unread, a
// dropping one refuses them, a sliding one drops the oldest message. With
// Replay, a new subscriber first gets the last messages again.
//
// Publishing costs O(1) and one step for each subscriber that waits. Any
// goroutine may use it.
type PubSub[A any] struct {
	mu       sync.Mutex
	log      pubsubLog[A]
	strategy queueStrategy
	// waiting are the subscriptions that had fibers waiting when they were last
	// served, in the order in which they are served.
	waiting    lineup[*Subscription[A]]
	publishers lineup[*publication[A]]
	shut       bool
	// last is what everybody gets once it has ended.
	ended bool
	last  A

	// subscriptions close with it.
	subscriptions scope.Scope
	hook          Latch
}

// publication is a fiber that waits until its messages are published.
type publication[A any] struct {
	seat[*publication[A]]
	token     scope.Token
	rest      []A
	published bool
	cause     *scope.Cause
}

// PubSubOption changes how a pubsub works.
type PubSubOption func(pubsubConfig) pubsubConfig

type pubsubConfig struct{ replay int }

// Replay gives a new subscriber the last n messages again.
func Replay(n int) PubSubOption {
	return func(c pubsubConfig) pubsubConfig { c.replay = n; return c }
}

// BoundedPubSub makes a pubsub whose publishers wait while it is full
// (TypeScript: PubSub.bounded). A capacity below 1 is a defect.
func BoundedPubSub[A any](capacity int, options ...PubSubOption) Effect[*PubSub[A]] {
	return makePubSub[A](capacity, queueWaits, options)
}

// DroppingPubSub makes a pubsub that refuses messages while it is full
// (TypeScript: PubSub.dropping). A capacity below 1 is a defect.
func DroppingPubSub[A any](capacity int, options ...PubSubOption) Effect[*PubSub[A]] {
	return makePubSub[A](capacity, queueDrops, options)
}

// SlidingPubSub makes a pubsub that drops its oldest message for a new one while
// it is full (TypeScript: PubSub.sliding). A capacity below 1 is a defect.
func SlidingPubSub[A any](capacity int, options ...PubSubOption) Effect[*PubSub[A]] {
	return makePubSub[A](capacity, queueSlides, options)
}

// UnboundedPubSub makes a pubsub that is never full (TypeScript:
// PubSub.unbounded).
func UnboundedPubSub[A any](options ...PubSubOption) Effect[*PubSub[A]] {
	return makePubSub[A](unlimited, queueDrops, options)
}

func makePubSub[A any](capacity int, strategy queueStrategy, options []PubSubOption) Effect[*PubSub[A]] {
	var config pubsubConfig
	for _, o := range options {
		config = o(config)
	}
	return Sync(func() *PubSub[A] {
		if capacity < 1 {
			panic(fmt.Errorf("effect: a PubSub cannot have a capacity of %d", capacity))
		}
		p := &PubSub[A]{strategy: strategy, log: pubsubLog[A]{capacity: capacity}}
		p.log.replay = makeReplayBuffer[A](config.replay)
		return p
	})
}

// Capacity is how many unread messages it holds; the greatest int when it is
// unbounded.
func (p *PubSub[A]) Capacity[_ onUse]() int { return p.log.capacity }

// Len is the number of messages that some subscriber has not read; 0 after
// Shutdown (TypeScript: sizeUnsafe).
func (p *PubSub[A]) Len[_ onUse]() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shut {
		return 0
	}
	return p.log.entries.len()
}

// Size gives the number of messages that some subscriber has not read.
func (p *PubSub[A]) Size[_ onUse]() Effect[int] { return Sync(p.Len) }

// IsFull tells whether it holds as much as it can.
func (p *PubSub[A]) IsFull[_ onUse]() Effect[bool] {
	return Sync(func() bool { return p.Len() == p.log.capacity })
}

// IsEmpty tells whether every subscriber has read everything.
func (p *PubSub[A]) IsEmpty[_ onUse]() Effect[bool] { return Sync(func() bool { return p.Len() == 0 }) }

// Publish hands a message to every subscriber and gives true. It waits while a
// bounded pubsub is full, and gives false when a dropping one is, or after End
// or Shutdown.
func (p *PubSub[A]) Publish[_ onUse](v A) Effect[bool] {
	return Effect[bool]{step: func(f *scope.Fiber) (bool, *scope.Cause, Effect[bool]) {
		p.mu.Lock()
		if p.over() {
			p.mu.Unlock()
			return false, nil, Effect[bool]{}
		}
		if p.log.publish(v) {
			p.serveAll()
			p.mu.Unlock()
			return true, nil, Effect[bool]{}
		}
		return result(p.publishRest(f, []A{v}))
	}}
}

// PublishNow is Publish that does not wait: it answers false when the pubsub is
// full (TypeScript: publishUnsafe). On the parallel runtime any goroutine may
// call it, on the deterministic one only code that runs on it.
func (p *PubSub[A]) PublishNow[_ onUse](v A) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over() || !p.log.publish(v) {
		return false
	}
	p.serveAll()
	return true
}

// PublishAll publishes messages, in order. It gives true when all were
// published; see Publish. After an interruption some of them may be.
func (p *PubSub[A]) PublishAll[_ onUse](list []A) Effect[bool] {
	return Effect[bool]{step: func(f *scope.Fiber) (bool, *scope.Cause, Effect[bool]) {
		p.mu.Lock()
		if p.over() {
			p.mu.Unlock()
			return false, nil, Effect[bool]{}
		}
		rest := p.log.publishAll(list)
		p.serveAll()
		if len(rest) == 0 {
			p.mu.Unlock()
			return true, nil, Effect[bool]{}
		}
		return result(p.publishRest(f, rest))
	}}
}

// over is asked with the lock held.
func (p *PubSub[A]) over[_ onUse]() bool { return p.shut || p.ended }

var waitPublish = &scope.Waiting{What: "room in a PubSub"}

// publishRest goes on with what did not fit. It gives the lock back.
func (p *PubSub[A]) publishRest[_ onUse](f *scope.Fiber, rest []A) (bool, *scope.Cause) {
	switch {
	case p.ended, p.strategy == queueDrops:
		p.mu.Unlock()
		return false, nil
	case p.strategy == queueSlides:
		for _, v := range rest {
			p.log.slide()
			p.log.publish(v)
		}
		p.serveAll()
		p.mu.Unlock()
		return true, nil
	}
	w := &publication[A]{rest: rest, token: f.Arm()}
	w.owner = w
	p.publishers.join(&w.seat)
	p.admitWaiting()
	p.serveAll()
	if p.shut {
		p.publishers.leave(&w.seat)
		w.cause = scope.CauseInterrupt(f.ID())
		w.token.Wake() // this fiber's own, which is not asleep
	}
	p.mu.Unlock()
	b := f.Block(w.token, waitPublish)
	c := b.Cause
	if c == nil {
		c = w.cause
		if !b.Slept {
			return w.published, c
		}
	}
	c = f.Settle(c, func() *scope.Cause {
		p.mu.Lock()
		p.publishers.leave(&w.seat)
		p.mu.Unlock()
		return nil
	})
	if c != nil {
		// Whoever admits w may not be done with it.
		return false, c
	}
	return w.published, nil
}

// admitWaiting publishes for waiting publishers while there is room. Like all
// that serves, it is entered and left with the lock held, and gives it back
// while it wakes somebody, who may do anything to this pubsub meanwhile.
func (p *PubSub[A]) admitWaiting[_ onUse]() {
	for !p.log.full() && p.publishers.len() > 0 {
		w := p.publishers.head.owner
		v := w.rest[0]
		w.rest = w.rest[1:]
		last := len(w.rest) == 0
		if last {
			p.publishers.leave(&w.seat)
		}
		p.log.publish(v)
		// Subscribers come before the publisher, which may end the pubsub.
		p.serveAll()
		if last {
			w.published = true
			p.mu.Unlock()
			w.token.Wake()
			p.mu.Lock()
		}
	}
}

// serveAll hands messages to all who wait for them.
func (p *PubSub[A]) serveAll[_ onUse]() {
	var w walk[*Subscription[A]]
	for at := w.next(&p.waiting); at != nil; at = w.next(&p.waiting) {
		p.serve(at.owner)
	}
}

// serve hands s's messages to the fibers that wait at it.
func (p *PubSub[A]) serve[_ onUse](s *Subscription[A]) {
	for s.unread() > 0 {
		if s.pollers.len() == 0 {
			p.waiting.leave(&s.seat)
			return
		}
		w := s.pollers.head.owner
		s.pollers.leave(&w.seat)
		w.value, w.number = s.read()
		w.given = true
		p.mu.Unlock()
		w.token.Wake()
		p.mu.Lock()
		p.admitWaiting()
	}
}

// End publishes last as what every subscriber gets, again and again, when it has
// read everything else. Publishers that wait are refused. It gives false after
// End or Shutdown.
func (p *PubSub[A]) End[_ onUse](last A) Effect[bool] {
	return Sync(func() bool { return p.EndNow(last) })
}

// EndNow is End outside any effect, with PublishNow's rules (TypeScript:
// endUnsafe). Who waits may run inside this call, as inside Queue.OfferNow.
func (p *PubSub[A]) EndNow[_ onUse](last A) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over() {
		return false
	}
	p.ended, p.last = true, last
	refused := p.publishers.drain()
	p.mu.Unlock()
	for _, w := range refused {
		w.token.Wake()
	}
	p.mu.Lock()
	// Who waits has nothing unread, so it gets the last one now.
	var all walk[*Subscription[A]]
	for at := all.next(&p.waiting); at != nil; at = all.next(&p.waiting) {
		for s := at.owner; s.pollers.len() > 0; {
			w := s.pollers.head.owner
			s.pollers.leave(&w.seat)
			w.value = last
			p.mu.Unlock()
			w.token.Wake()
			p.mu.Lock()
		}
	}
	p.waiting.drain()
	return true
}

// Shutdown ends the pubsub at once: subscriptions close, and fibers that wait to
// take or to publish are interrupted.
func (p *PubSub[A]) Shutdown[_ onUse]() Effect[Unit] {
	return Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
		p.mu.Lock()
		p.shut = true
		p.mu.Unlock()
		opened, c := run(f, p.hook.Open())
		if c != nil || !opened {
			return Unit{}, c, Effect[Unit]{}
		}
		if c := p.subscriptions.CloseMasked(f, scope.ExitInterrupt[any](f.ID())); c != nil {
			return Unit{}, c, Effect[Unit]{}
		}
		p.mu.Lock()
		refused := p.publishers.drain()
		for _, w := range refused {
			w.cause = scope.CauseInterrupt(f.ID())
		}
		p.mu.Unlock()
		for _, w := range refused {
			w.token.Wake()
		}
		return Unit{}, nil, Effect[Unit]{}
	}}.Uninterruptible()
}

// WasShutDown tells whether Shutdown has begun (TypeScript: isShutdownUnsafe).
func (p *PubSub[A]) WasShutDown[_ onUse]() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shut
}

// IsShutdown tells whether Shutdown has begun.
func (p *PubSub[A]) IsShutdown[_ onUse]() Effect[bool] { return Sync(p.WasShutDown) }

// AwaitShutdown waits until Shutdown has begun.
func (p *PubSub[A]) AwaitShutdown[_ onUse]() Effect[Unit] { return p.hook.Await() }
