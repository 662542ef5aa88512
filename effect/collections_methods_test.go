package effect_test

import (
	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

func newQueue(kind, n any) effect.Effect[*effect.Queue[any]] {
	switch kind {
	case "bounded":
		return effect.BoundedQueue[any](count(n))
	case "dropping":
		return effect.DroppingQueue[any](count(n))
	case "sliding":
		return effect.SlidingQueue[any](count(n))
	default:
		return effect.UnboundedQueue[any]()
	}
}

func makePubSub(kind, n, replay any) effect.Effect[*effect.PubSub[any]] {
	again := effect.Replay(0)
	if replay != nil {
		again = effect.Replay(count(replay))
	}
	switch kind {
	case "bounded":
		return effect.BoundedPubSub[any](count(n), again)
	case "dropping":
		return effect.DroppingPubSub[any](count(n), again)
	case "sliding":
		return effect.SlidingPubSub[any](count(n), again)
	default:
		return effect.UnboundedPubSub[any](again)
	}
}

var queueOps = map[string]func(q *effect.Queue[any], a []any) anyEffect{
	"offer":    func(q *effect.Queue[any], a []any) anyEffect { return widened(q.Offer(a[0])) },
	"offerNow": func(q *effect.Queue[any], a []any) anyEffect { return syncAny(func() any { return q.OfferNow(a[0]) }) },
	"offerAll": func(q *effect.Queue[any], a []any) anyEffect { return rest(q.OfferAll(a[0].([]any))) },
	"offerAllNow": func(q *effect.Queue[any], a []any) anyEffect {
		return rest(effect.Sync(func() []any { return q.OfferAllNow(a[0].([]any)) }))
	},
	"take": func(q *effect.Queue[any], _ []any) anyEffect { return q.Take() },
	"takeNow": func(q *effect.Queue[any], _ []any) anyEffect {
		return effect.Suspend(func() anyEffect {
			exit, ok := q.TakeNow()
			if !ok {
				return effect.Succeed[any]("nothing")
			}
			return effect.FromExit(exit)
		})
	},
	"takeAll":     func(q *effect.Queue[any], _ []any) anyEffect { return widened(q.TakeAll()) },
	"takeN":       func(q *effect.Queue[any], a []any) anyEffect { return widened(q.TakeN(count(a[0]))) },
	"takeBetween": func(q *effect.Queue[any], a []any) anyEffect { return widened(q.TakeBetween(count(a[0]), count(a[1]))) },
	"poll":        func(q *effect.Queue[any], _ []any) anyEffect { return widened(effect.PollQueue(q)) },
	"peek":        func(q *effect.Queue[any], _ []any) anyEffect { return q.Peek() },
	"size":        func(q *effect.Queue[any], _ []any) anyEffect { return widened(q.Size()) },
	"isFull":      func(q *effect.Queue[any], _ []any) anyEffect { return widened(q.IsFull()) },
	"clear":       func(q *effect.Queue[any], _ []any) anyEffect { return widened(q.Clear()) },
	"collect":     func(q *effect.Queue[any], _ []any) anyEffect { return rest(q.Collect()) },
	"flush":       func(q *effect.Queue[any], _ []any) anyEffect { return widened(q.Flush()) },
	"shutdown":    func(q *effect.Queue[any], _ []any) anyEffect { return widened(q.Shutdown()) },
	"fail":        func(q *effect.Queue[any], a []any) anyEffect { return widened(q.Fail(taggedFailure{a[0].(string)})) },
	"failCause": func(q *effect.Queue[any], a []any) anyEffect {
		var reasons []scope.Reason
		for _, x := range a[0].([]any) {
			reasons = append(reasons, exitFrom(x).Cause().Reasons()...)
		}
		return widened(q.FailCause(scope.CauseFromReasons(reasons...)))
	},
	"end":       func(q *effect.Queue[any], _ []any) anyEffect { return widened(q.End()) },
	"interrupt": func(q *effect.Queue[any], _ []any) anyEffect { return widened(q.Interrupt()) },
	"awaitEnd":  func(q *effect.Queue[any], _ []any) anyEffect { return widened(q.Await()) },
	"into": func(q *effect.Queue[any], a []any) anyEffect {
		return widened(q.Into(effect.Suspend(func() anyEffect { return effect.FromExit(exitFrom(a[0])) })))
	},
}

// rest shows an empty list as one, not as no value.
func rest(e effect.Effect[[]any]) anyEffect {
	return e.Map(func(list []any) any { return append([]any{}, list...) })
}

func syncAny(fn func() any) anyEffect { return effect.Sync(fn) }

var pubsubOps = map[string]func(p *effect.PubSub[any], a []any) anyEffect{
	"publish": func(p *effect.PubSub[any], a []any) anyEffect { return widened(p.Publish(a[0])) },
	"publishNow": func(p *effect.PubSub[any], a []any) anyEffect {
		return syncAny(func() any { return p.PublishNow(a[0]) })
	},
	"publishAll": func(p *effect.PubSub[any], a []any) anyEffect { return widened(p.PublishAll(a[0].([]any))) },
	"pEnd":       func(p *effect.PubSub[any], a []any) anyEffect { return widened(p.End(a[0])) },
	"pShutdown":  func(p *effect.PubSub[any], _ []any) anyEffect { return widened(p.Shutdown()) },
	"pSize":      func(p *effect.PubSub[any], _ []any) anyEffect { return widened(p.Size()) },
	"pFull":      func(p *effect.PubSub[any], _ []any) anyEffect { return widened(p.IsFull()) },
	"pEmpty":     func(p *effect.PubSub[any], _ []any) anyEffect { return widened(p.IsEmpty()) },
	"pAwait":     func(p *effect.PubSub[any], _ []any) anyEffect { return widened(p.AwaitShutdown()) },
}

var subscriptionOps = map[string]func(s *effect.Subscription[any], a []any) anyEffect{
	"sTake":     func(s *effect.Subscription[any], _ []any) anyEffect { return s.Take() },
	"sTakeAll":  func(s *effect.Subscription[any], _ []any) anyEffect { return widened(s.TakeAll()) },
	"sTakeUpTo": func(s *effect.Subscription[any], a []any) anyEffect { return widened(s.TakeUpTo(count(a[0]))) },
	"sTakeBetween": func(s *effect.Subscription[any], a []any) anyEffect {
		return widened(s.TakeBetween(count(a[0]), count(a[1])))
	},
	"sRemaining": func(s *effect.Subscription[any], _ []any) anyEffect { return widened(s.Remaining()) },
}
