package effect_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/internal/vectors"
	"github.com/rivus/tether/scope"
)

// recorded is a program of the collections with what effect@4.1.0 did. The
// conformance format has only the main operations of queues, and none of PubSub,
// ScopedRef and results that expire; testdata/collections/record.mjs runs these
// programs there.
type recorded struct {
	Setup  []any           `json:"setup"`
	Fibers []recordedFiber `json:"fibers"`
	Trace  []string        `json:"trace,omitempty"`
	Now    int64           `json:"now"`
}

type recordedFiber struct {
	Now bool  `json:"now"`
	Ops []any `json:"ops"`
}

// Each recorded program gives the same trace and time as on effect@4.1.0.
func TestCollectionsRecorded(t *testing.T) {
	file, err := os.Open("testdata/collections/recorded.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	n, bad := 0, 0
	for dec := json.NewDecoder(unzipped); dec.More(); n++ {
		var p recorded
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if diff := compareRecorded(p); diff != "" {
			if bad++; bad <= 5 {
				t.Errorf("program %d:\n%s", n, diff)
			}
		}
	}
	if n < 1000 {
		t.Fatalf("only %d programs", n)
	}
	t.Logf("collections: %d passed of %d", n-bad, n)
}

func compareRecorded(p recorded) string {
	trace, now := runRecorded(p)
	if slices.Equal(trace, p.Trace) && now == p.Now {
		return ""
	}
	program, _ := json.Marshal(recorded{Setup: p.Setup, Fibers: p.Fibers})
	return vectors.Diff(vectors.Result{Trace: p.Trace, Now: p.Now}, vectors.Result{Trace: trace, Now: now}) + "  " + string(program)
}

type (
	anyEffect   = effect.Effect[any]
	cachePair   = effect.Pair[anyEffect, effect.Effect[effect.Unit]]
	recordedRun struct {
		trace []string
		names map[string]any
	}
)

func runRecorded(p recorded) ([]string, int64) {
	r := &recordedRun{names: map[string]any{}}
	main := effect.Void()
	for _, op := range p.Setup {
		main = main.AndThen(r.compile(op).AsUnit())
	}
	for i, fiber := range p.Fibers {
		var opts []effect.ForkOption
		if fiber.Now {
			opts = append(opts, effect.StartImmediately)
		}
		main = main.AndThen(effect.ForkDetach(r.body(i, fiber), opts...).
			Map(func(fb *effect.Fiber[effect.Unit]) effect.Unit {
				r.names[fmt.Sprintf("fiber%d", i)] = fb
				return effect.Unit{}
			}))
	}
	d := scope.NewDeterministic(scope.DeterministicOptions{MaxSteps: 100_000})
	out := effect.RunDeterministicOn(d, main, func(exit scope.Exit[effect.Unit]) { r.log("main:%s", exitString(exit)) })
	return r.trace, out.Now.Milliseconds()
}

func (r *recordedRun) log(format string, a ...any) {
	r.trace = append(r.trace, fmt.Sprintf(format, a...))
}

func exitString[A any](e scope.Exit[A]) string { return vectors.ExitText(plainExit(e)) }

func plainExit[A any](e scope.Exit[A]) scope.Exit[any] {
	v, ok := e.Value()
	if !ok {
		return scope.ExitFailCause[any](e.Cause())
	}
	switch v := any(v).(type) {
	case effect.Unit:
		return scope.ExitSucceed[any](nil)
	default:
		return scope.ExitSucceed[any](v)
	}
}

func (r *recordedRun) body(i int, fiber recordedFiber) effect.Effect[effect.Unit] {
	e := effect.Void()
	for j, op := range fiber.Ops {
		name := op.([]any)[0]
		compiled := r.compile(op)
		e = e.AndThen(effect.Exit(compiled).FlatMap(func(exit scope.Exit[any]) effect.Effect[effect.Unit] {
			return effect.SyncUnit(func() { r.log("%d.%d:%s:%s", i, j, name, vectors.ExitText(exit)) })
		}))
	}
	return e.OnExit(func(exit scope.Exit[effect.Unit]) effect.Effect[effect.Unit] {
		return effect.SyncUnit(func() { r.log("%d:%s", i, exitString(exit)) })
	})
}

func on[T any](r *recordedRun, name any, use func(T) anyEffect) anyEffect {
	return effect.Suspend(func() anyEffect {
		v, ok := r.names[name.(string)].(T)
		if !ok {
			panic(fmt.Errorf("unbound %v", name))
		}
		return use(v)
	})
}

func bindName[T any](r *recordedRun, name any, e effect.Effect[T]) anyEffect {
	return e.Map(func(v T) any {
		r.names[name.(string)] = v
		return nil
	})
}

func widened[T any](e effect.Effect[T]) anyEffect {
	return e.Map(func(v T) any {
		switch v := any(v).(type) {
		case effect.Unit:
			return nil
		default:
			return v
		}
	})
}

type taggedFailure struct{ tag string }

func (f taggedFailure) Error() string { return f.tag }
func (f taggedFailure) Tag() string   { return f.tag }

func exitFrom(x any) scope.Exit[any] {
	list := x.([]any)
	switch list[0] {
	case "succeed":
		return scope.ExitSucceed(list[1])
	case "fail":
		return scope.ExitFail[any](taggedFailure{list[1].(string)})
	case "die":
		return scope.ExitDie[any](list[1])
	default:
		return scope.ExitInterrupt[any](0)
	}
}

func millis(x any) time.Duration {
	if x == "infinity" {
		return effect.NoExpiry
	}
	return time.Duration(x.(float64)) * time.Millisecond
}

func count(x any) int {
	if x == "infinity" {
		return 1 << 40
	}
	return int(x.(float64))
}

// source logs, waits and ends as told; runs take the results in turn.
func (r *recordedRun) source(name string, ms any, results []any) anyEffect {
	runs := 0
	return effect.Suspend(func() anyEffect {
		i := runs
		runs++
		r.log("source:%s:%d", name, i)
		end := effect.Suspend(func() anyEffect { return effect.FromExit(exitFrom(results[min(i, len(results)-1)])) })
		if ms != nil {
			end = effect.Sleep(millis(ms)).AndThen(end)
		}
		return end.OnExit(func(exit scope.Exit[any]) effect.Effect[effect.Unit] {
			return effect.SyncUnit(func() { r.log("sourced:%s:%d:%s", name, i, vectors.ExitText(exit)) })
		})
	})
}

func (r *recordedRun) acquire(v, ms, how any) anyEffect {
	wait := effect.Void()
	if ms != nil {
		wait = effect.Sleep(millis(ms))
	}
	return effect.AcquireRelease(
		wait.AndThen(effect.Suspend(func() anyEffect {
			r.log("acquire:%v", v)
			if how == "fail" {
				return effect.Fail[any](taggedFailure{"A"})
			}
			return effect.Succeed(v)
		})),
		func(_ any, exit scope.Exit[any]) effect.Effect[effect.Unit] {
			return effect.SyncUnit(func() {
				r.log("release:%v:%s", v, vectors.ExitText(exit))
				if how == "badRelease" {
					panic("r")
				}
			})
		})
}

func (r *recordedRun) compile(x any) anyEffect {
	list := x.([]any)
	a := append(slices.Clone(list[1:]), nil, nil, nil, nil)
	name := list[0].(string)
	if op, ok := queueOps[name]; ok {
		return on(r, a[0], func(q *effect.Queue[any]) anyEffect { return op(q, a[1:]) })
	}
	if op, ok := pubsubOps[name]; ok {
		return on(r, a[0], func(p *effect.PubSub[any]) anyEffect { return op(p, a[1:]) })
	}
	if op, ok := subscriptionOps[name]; ok {
		return on(r, a[0], func(s *effect.Subscription[any]) anyEffect { return op(s, a[1:]) })
	}
	switch name {
	case "queue":
		return bindName(r, a[0], makeQueue(a[1], a[2]))
	case "pubsub":
		return bindName(r, a[0], makePubSub(a[1], a[2], a[3]))
	case "subscribe":
		return on(r, a[0], func(p *effect.PubSub[any]) anyEffect {
			return r.inOwnScope(a[1], bindName(r, a[1], p.Subscribe()))
		})
	case "unsubscribe", "rClose":
		return on(r, a[0].(string)+".scope", func(s *scope.Scope) anyEffect {
			return widened(effect.CloseScope(s, scope.ExitSucceed[any](nil)))
		})
	case "cached":
		return effect.Suspend(func() anyEffect {
			return bindName(r, a[0], effect.CachedInvalidateWithTTL(r.source(a[0].(string), a[2], a[3].([]any)), millis(a[1])))
		})
	case "cachedFor":
		return effect.Suspend(func() anyEffect {
			return bindName(r, a[0], effect.CachedInvalidateWithTTLOf(r.source(a[0].(string), a[3], a[4].([]any)),
				func(exit scope.Exit[any]) time.Duration {
					if exit.IsSuccess() {
						return millis(a[1])
					}
					return millis(a[2])
				}))
		})
	case "get":
		return on(r, a[0], func(p cachePair) anyEffect { return p.First })
	case "invalidate":
		return on(r, a[0], func(p cachePair) anyEffect { return widened(p.Second) })
	case "ref":
		return r.inOwnScope(a[0], bindName(r, a[0], effect.AcquireScopedRef(r.acquire(a[1], a[2], a[3]))))
	case "rGet":
		return on(r, a[0], func(ref *effect.ScopedRef[any]) anyEffect { return ref.Get() })
	case "rSet":
		return on(r, a[0], func(ref *effect.ScopedRef[any]) anyEffect { return widened(ref.Set(r.acquire(a[1], a[2], a[3]))) })
	case "yield":
		return widened(effect.YieldNow())
	case "sleep":
		return widened(effect.Sleep(millis(a[0])))
	case "kill":
		return on(r, fmt.Sprintf("fiber%v", a[0]), func(fb *effect.Fiber[effect.Unit]) anyEffect { return widened(fb.Interrupt()) })
	case "signal":
		return on(r, fmt.Sprintf("fiber%v", a[0]), func(fb *effect.Fiber[effect.Unit]) anyEffect {
			return widened(effect.SyncUnit(func() { fb.InterruptNow(0) }))
		})
	case "timeout":
		return widened(effect.TimeoutOption(r.compile(a[1]), millis(a[0])))
	case "mask":
		return r.compile(a[0]).Uninterruptible()
	case "race":
		return r.compile(a[0]).Race(r.compile(a[1]))
	}
	panic("unknown operation " + name)
}

func (r *recordedRun) inOwnScope(name any, e anyEffect) anyEffect {
	return effect.MakeScope(scope.Sequential).FlatMap(func(s *scope.Scope) anyEffect {
		r.names[name.(string)+".scope"] = s
		return e.ProvideScope(s)
	})
}

func makeQueue(kind, n any) effect.Effect[*effect.Queue[any]] {
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
	var again effect.Replay
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
