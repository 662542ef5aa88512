package vectors

import "github.com/rivus/tether/effect"

type queue = effect.Queue[any]

func onQueue(a args, use func(q *queue) E) E { return with(a.in, a.str(0), use) }

var _ = register(map[string]operation{
	"queue": func(a args) E {
		var made effect.Effect[*queue]
		switch a.at(1) {
		case "unbounded":
			made = effect.UnboundedQueue[any]()
		case "dropping":
			made = effect.DroppingQueue[any](a.int(2))
		case "sliding":
			made = effect.SlidingQueue[any](a.int(2))
		default:
			made = effect.BoundedQueue[any](a.int(1))
		}
		return bindTo(a.in, a.str(0), made)
	},
	"qOffer": func(a args) E {
		v := a.at(1)
		return onQueue(a, func(q *queue) E { return widen(q.Offer(v)) })
	},
	"qTake":     func(a args) E { return onQueue(a, (*queue).Take) },
	"qTakeAll":  func(a args) E { return onQueue(a, func(q *queue) E { return widen(q.TakeAll()) }) },
	"qSize":     func(a args) E { return onQueue(a, func(q *queue) E { return widen(q.Size()) }) },
	"qShutdown": func(a args) E { return onQueue(a, func(q *queue) E { return widen(q.Shutdown()) }) },
	"qFail": func(a args) E {
		tag := a.str(1)
		return onQueue(a, func(q *queue) E { return widen(q.Fail(failure{tag})) })
	},
	"qEnd": func(a args) E { return onQueue(a, func(q *queue) E { return widen(q.End()) }) },
})
