package effect

import "github.com/rivus/tether/scope"

// Enqueue is a queue's end for those who offer. It is a struct, not an interface:
// the methods of an interface would be compiled for each type of message, called or
// not.
type Enqueue[A any] struct{ queue *Queue[A] }

// AsEnqueue is the end for those who offer.
func (q *Queue[A]) AsEnqueue[_ onUse]() Enqueue[A] { return Enqueue[A]{q} }

// Offer is Queue.Offer.
func (e Enqueue[A]) Offer[_ onUse](v A) Effect[bool] { return e.queue.Offer(v) }

// OfferAll is Queue.OfferAll.
func (e Enqueue[A]) OfferAll[_ onUse](list []A) Effect[[]A] { return e.queue.OfferAll(list) }

// OfferNow is Queue.OfferNow.
func (e Enqueue[A]) OfferNow[_ onUse](v A) bool { return e.queue.OfferNow(v) }

// Fail is Queue.Fail.
func (e Enqueue[A]) Fail[_ onUse](err error) Effect[bool] { return e.queue.Fail(err) }

// FailCause is Queue.FailCause.
func (e Enqueue[A]) FailCause[_ onUse](c *scope.Cause) Effect[bool] { return e.queue.FailCause(c) }

// End is Queue.End.
func (e Enqueue[A]) End[_ onUse]() Effect[bool] { return e.queue.End() }

// Shutdown is Queue.Shutdown.
func (e Enqueue[A]) Shutdown[_ onUse]() Effect[bool] { return e.queue.Shutdown() }

// Dequeue is a queue's end for those who take.
type Dequeue[A any] struct{ queue *Queue[A] }

// AsDequeue is the end for those who take.
func (q *Queue[A]) AsDequeue[_ onUse]() Dequeue[A] { return Dequeue[A]{q} }

// Take is Queue.Take.
func (d Dequeue[A]) Take[_ onUse]() Effect[A] { return d.queue.Take() }

// TakeAll is Queue.TakeAll.
func (d Dequeue[A]) TakeAll[_ onUse]() Effect[[]A] { return d.queue.TakeAll() }

// TakeN is Queue.TakeN.
func (d Dequeue[A]) TakeN[_ onUse](n int) Effect[[]A] { return d.queue.TakeN(n) }

// TakeBetween is Queue.TakeBetween.
func (d Dequeue[A]) TakeBetween[_ onUse](least, most int) Effect[[]A] {
	return d.queue.TakeBetween(least, most)
}

// Peek is Queue.Peek.
func (d Dequeue[A]) Peek[_ onUse]() Effect[A] { return d.queue.Peek() }

// Await is Queue.Await.
func (d Dequeue[A]) Await[_ onUse]() Effect[Unit] { return d.queue.Await() }

// Size is Queue.Size.
func (d Dequeue[A]) Size[_ onUse]() Effect[int] { return d.queue.Size() }

// Shutdown is Queue.Shutdown.
func (d Dequeue[A]) Shutdown[_ onUse]() Effect[bool] { return d.queue.Shutdown() }
