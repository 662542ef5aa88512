package effect_test

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/internal/vectors"
	"github.com/rivus/tether/scope"
)

type taggedFailure struct{ tag string }

func (f taggedFailure) Error() string { return f.tag }

func (f taggedFailure) Tag() string { return f.tag }

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
		return math.MaxInt
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
		return bindName(r, a[0], newQueue(a[1], a[2]))
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
