package effect

import (
	"sync"

	"github.com/rivus/tether/scope"
)

// Queue hands messages from those who offer to those who take, in order. A
// bounded queue makes offers wait while it is full, a dropping one refuses
// them, a sliding one drops its oldest message. With capacity 0 an offer waits
// for its take.
//
// A queue ends by End, Fail, FailCause, Die or Interrupt: what it holds can
// still be taken, and then takes fail with the given cause, which is that of
// *Done for End. Shutdown ends it at once and forgets what it holds.
//
// Offers and takes are O(1) amortized and allocate nothing unless they wait;
// leaving a queue of waiting fibers is O(1) too. Any goroutine may use it.
type Queue[A any] struct {
	mu    sync.Mutex
	state queueState[A]
	// owner made the queue on a serial runtime: takers get their turns in its
	// batch.
	owner *scope.Fiber
	// scheduled tells that a turn is on its way there, turns how many are under
	// way.
	scheduled bool
	turns     int
	// turn and taking are kept, so that using them allocates nothing.
	turn   func()
	taking func(*scope.Fiber) (A, *scope.Cause, Effect[A])
}

// Done is the failure of takes from a queue that has ended.
type Done = scope.Done

// BoundedQueue makes a queue that holds up to capacity messages, and whose
// offers wait while it is full (TypeScript: Queue.bounded).
func BoundedQueue[A any](capacity int) Effect[*Queue[A]] { return makeQueue[A](capacity, queueWaits) }

// DroppingQueue makes a queue that refuses what is offered while it is full
// (TypeScript: Queue.dropping).
func DroppingQueue[A any](capacity int) Effect[*Queue[A]] { return makeQueue[A](capacity, queueDrops) }

// SlidingQueue makes a queue that drops its oldest message for a new one while
// it is full (TypeScript: Queue.sliding).
func SlidingQueue[A any](capacity int) Effect[*Queue[A]] { return makeQueue[A](capacity, queueSlides) }

// UnboundedQueue makes a queue that is never full (TypeScript: Queue.unbounded).
func UnboundedQueue[A any]() Effect[*Queue[A]] { return makeQueue[A](unlimited, queueWaits) }

// NewBoundedQueue is BoundedQueue outside any effect. On the deterministic
// runtime its takers get their turns with those who wake them, not with the
// queue's creator.
func NewBoundedQueue[A any](capacity int) *Queue[A] { return newQueue[A](capacity, queueWaits, nil) }

// NewDroppingQueue is DroppingQueue outside any effect; see NewBoundedQueue.
func NewDroppingQueue[A any](capacity int) *Queue[A] { return newQueue[A](capacity, queueDrops, nil) }

// NewSlidingQueue is SlidingQueue outside any effect; see NewBoundedQueue.
func NewSlidingQueue[A any](capacity int) *Queue[A] { return newQueue[A](capacity, queueSlides, nil) }

// NewUnboundedQueue is UnboundedQueue outside any effect; see NewBoundedQueue.
func NewUnboundedQueue[A any]() *Queue[A] { return newQueue[A](unlimited, queueWaits, nil) }

func makeQueue[A any](capacity int, strategy queueStrategy) Effect[*Queue[A]] {
	return Effect[*Queue[A]]{step: func(f *scope.Fiber) (*Queue[A], *scope.Cause, Effect[*Queue[A]]) {
		return newQueue[A](capacity, strategy, f), nil, Effect[*Queue[A]]{}
	}}
}

func newQueue[A any](capacity int, strategy queueStrategy, owner *scope.Fiber) *Queue[A] {
	q := &Queue[A]{state: queueState[A]{strategy: strategy, capacity: max(0, capacity)}}
	if owner != nil && scope.Alone(owner.Runtime()) {
		q.owner = owner
	}
	q.turn = q.takersTurn
	q.taking = func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) { return result(q.take(f, Restore{})) }
	return q
}

// Len is the number of messages (TypeScript: sizeUnsafe). Messages of offers
// that wait do not count.
func (q *Queue[A]) Len[_ onUse]() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.state.messages.len()
}

// Size gives the number of messages.
func (q *Queue[A]) Size[_ onUse]() Effect[int] { return Sync(q.Len) }

// Full tells whether the queue holds as much as it can (TypeScript:
// isFullUnsafe).
func (q *Queue[A]) Full[_ onUse]() bool { return q.Len() == q.state.capacity }

// IsFull tells whether the queue holds as much as it can.
func (q *Queue[A]) IsFull[_ onUse]() Effect[bool] { return Sync(q.Full) }

// Flush gives waiting takers their turn now; they get it by themselves later
// (TypeScript: Queue.flush).
func (q *Queue[A]) Flush[_ onUse]() Effect[Unit] { return SyncUnit(q.wakeTakers) }

// wakeTakers wakes those takers that need not wait any more. The lock is free
// while it wakes: on the deterministic runtime a taker runs inside its wake, and
// may do anything to this queue.
func (q *Queue[A]) wakeTakers[_ onUse]() {
	var w walk[*taker]
	q.mu.Lock()
	q.turns++
	for t := q.state.nextTaker(&w); t != nil; t = q.state.nextTaker(&w) {
		q.mu.Unlock()
		t.token.Wake()
		q.mu.Lock()
	}
	q.turns--
	q.mu.Unlock()
}

func (q *Queue[A]) takersTurn[_ onUse]() {
	q.mu.Lock()
	q.scheduled = false
	q.mu.Unlock()
	q.wakeTakers()
}

// unlockAndWake gives the lock back and sees to it that takers get a turn: later
// on a serial runtime, now on the parallel one. f is nil outside any fiber.
func (q *Queue[A]) unlockAndWake[_ onUse](f *scope.Fiber) {
	if q.state.takers.len() == 0 || q.scheduled {
		q.mu.Unlock()
		return
	}
	on := q.owner
	if on == nil && f != nil && scope.Alone(f.Runtime()) {
		on = f
	}
	if on == nil {
		q.mu.Unlock()
		q.wakeTakers()
		return
	}
	q.scheduled = true
	q.mu.Unlock()
	scope.Dispatch(on, q.turn)
}
