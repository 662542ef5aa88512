package lease_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// faulty is one process's way to a store that others use, too: its calls, loads and
// saves alike, are counted, and go wrong from one of them on.
type faulty struct {
	lease.Repository
	clock     scope.Clock
	calls     int
	from, to  int
	plan      plan
	confirmed time.Duration // when the last save that worked began
	landed    map[int64]string
	t         *testing.T
}

func (r *faulty) next() plan {
	r.calls++
	if r.calls >= r.from && r.calls <= r.to {
		return r.plan
	}
	return pass
}

func (r *faulty) Load(key string) effect.Effect[mo.Option[lease.Record]] {
	return effect.Suspend(func() effect.Effect[mo.Option[lease.Record]] { return follow(r.next(), r.Repository.Load(key)) })
}

func (r *faulty) Save(key string, next lease.Record, expected mo.Option[int64]) effect.Effect[unit] {
	return effect.Suspend(func() effect.Effect[unit] {
		start := r.clock.Monotonic()
		save := r.Repository.Save(key, next, expected).Tap(func(unit) effect.Effect[unit] {
			return effect.SyncUnit(func() {
				// L2: no generation is ever two acquisitions'.
				if id, held := next.HolderID.Get(); held {
					if was, known := r.landed[next.Generation]; known && was != id {
						r.t.Errorf("generation %d was given twice", next.Generation)
					}
					r.landed[next.Generation] = id
				}
			})
		})
		return follow(r.next(), save).Tap(func(unit) effect.Effect[unit] {
			return effect.SyncUnit(func() { r.confirmed = max(r.confirmed, start) })
		})
	})
}

// L7, L10, L11: each call of a life of a lease fails before it lands, after it has
// landed, or hangs, alone and with all that follow. Nothing is lost that need not be,
// the trust ends at its time to the moment, the scope closes in bounded time, and the
// next holder, in another process, waits no longer than it must.
func TestL7_L11_EveryCallGoesWrong(t *testing.T) {
	const retry = time.Second
	modes := map[string]plan{
		"fails before": failBefore(ioFailure()), "fails after": failAfter(ioFailure()),
		"busy before": failBefore(busyFailure()), "hangs before": hang, "hangs after": hangAfter(),
	}
	runs, lost, abandoned := 0, 0, 0
	for name, p := range modes {
		for _, forever := range []bool{false, true} {
			for at := 1; ; at++ {
				// The acquisition's own write cannot be interrupted: who hangs there
				// hangs. It is the second call.
				if at == 2 && (name == "hangs before" || name == "hangs after") {
					continue
				}
				if forever && at == 1 && (name == "hangs before" || name == "hangs after") {
					continue // what it left to its manager hangs as well
				}
				runs++
				where := fmt.Sprintf("call %d %s, forever: %v", at, name, forever)
				store := lease.NewMemoryRepository()
				r := &faulty{Repository: store, from: at, to: at, plan: p, landed: map[int64]string{}, t: t}
				if forever {
					r.to = 1 << 30
				}
				w := newWorld(r)
				var reached bool
				out := effect.RunDeterministic(effect.Scoped(effect.GenUnit(func(do *effect.Do) {
					r.clock = do.Await(effect.WithFiber(func(f *scope.Fiber) effect.Effect[scope.Clock] { return effect.Succeed(f.Clock()) }))
					var held *lease.Lease
					// When the holder was done, or heard of its loss, and its last
					// confirmed write of before.
					var over, confirmed time.Duration
					life := in(w.manager().Acquire(key).Timeout(ttl).FlatMap(func(l *lease.Lease) effect.Effect[unit] {
						held = l
						return effect.Sleep(3 * heartbeat).
							AndThen(l.RunFenced(func(lease.FencingToken) effect.Effect[unit] { return effect.Sleep(time.Second) }).Timeout(2 * ttl)).
							AndThen(effect.Sleep(2 * heartbeat)).
							StopOn(l.Lost()).
							Ensuring(effect.SyncUnit(func() { over, confirmed = r.clock.Monotonic(), r.confirmed }))
					}))
					err := failure(do, life)
					closed := now(do)
					reached = r.calls >= at
					once := !forever && name != "hangs before" && name != "hangs after"
					loss, isLost := errors.AsType[*lease.Lost](err)
					if isLost {
						lost++
						expect(t, where+": reason", loss.Reason, lease.LostExpired)
						expect(t, where+": lost a TTL after the last confirmed start", over-confirmed, ttl)
						if once {
							t.Errorf("%s: lost by one failure", where)
						}
					}
					if _, rejected := errors.AsType[*lease.FenceRejected](err); rejected {
						t.Errorf("%s: %v", where, err)
					}
					if held != nil && closed-over > heartbeat {
						t.Errorf("%s: closing took %v", where, closed-over)
					}
					if len(w.events) > 0 {
						if _, gaveUp := w.events[len(w.events)-1].(lease.ReleaseAbandoned); gaveUp {
							abandoned++
						}
					}
					// Another process, for which the first one lives on.
					other := newProcess(2)
					other.runs(w.process.self)
					b := &world{repo: store, process: other, config: config}
					b.config.Retry = retry
					next := do.Await(in(b.manager().Acquire(key, lease.Wait())))
					waited := now(do) - closed
					most := ttl + heartbeat + retry
					if once {
						most = retry
					}
					if waited > most {
						t.Errorf("%s: the next one waited for %v", where, waited)
					}
					if held != nil && next.Token().Generation <= held.Token().Generation {
						t.Errorf("%s: generation %d after %d", where, next.Token().Generation, held.Token().Generation)
					}
				})), effect.DeterministicConfig{MaxSteps: 1_000_000})
				if exit, ok := out.Exit.Get(); !ok || exit.IsFailure() {
					t.Fatalf("%s: %v\n%s", where, out.Exit, out.Report)
				}
				if !reached {
					break
				}
			}
		}
	}
	t.Logf("%d runs, %d losses, %d releases given up", runs, lost, abandoned)
	if runs < 100 || lost < 10 || abandoned < 10 {
		t.Error("it tried too little")
	}
}
