package lease_test

import (
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/scope"
)

func masked(p plan) plan {
	p.masked = true
	return p
}

// L7, L9, L10: the write of an acquisition hangs, and its caller is interrupted: that
// returns at once. What has landed, or lands later, is released by the scope that
// wanted it, and nobody is locked out.
func TestL9_InterruptedWhileItsWriteHangs(t *testing.T) {
	const sec = time.Second
	for name, c := range map[string]struct {
		write plan
		// from is when another manager tries, and free when it has the key.
		from, free time.Duration
		// closing is how long the scope's end takes.
		closing    time.Duration
		generation int64
	}{
		"before it lands":             {write: hang, from: sec, free: sec, generation: 1},
		"after it landed":             {write: hangAfter(), from: sec, free: sec, generation: 2},
		"masked, before it lands":     {write: masked(hang), from: sec, free: sec, closing: heartbeat, generation: 1},
		"masked, too late to land":    {write: masked(slow(5 * sec)), from: 2 * sec, free: 2 * sec, generation: 1},
		"masked, and lands late":      {write: masked(slow(5 * sec)), from: 6 * sec, free: 6 * sec, generation: 2},
		"masked, and lands very late": {write: masked(slow(20 * sec)), from: 21 * sec, free: 21*sec + ttl, closing: heartbeat, generation: 2},
	} {
		for _, wait := range [][]lease.AcquireOption{nil, {lease.Wait()}} {
			t.Run(name, func(t *testing.T) {
				r := newScripted()
				r.onSave = func(n int) plan {
					if n == 1 {
						return c.write
					}
					return pass
				}
				w := newWorld(r)
				w.config.Retry = sec / 4
				simulate(t, func(do *effect.Do) {
					s := scope.New(scope.Sequential)
					acquire := w.manager().Acquire(key, wait...).ProvideScope(s)
					if do.Await(effect.TimeoutOption(acquire, sec)).IsPresent() {
						t.Fatal("it has acquired")
					}
					expect(t, "returned at", now(do), sec)
					if c.closing > 0 {
						do.Await(effect.CloseScope(s, scope.ExitSucceed(0)))
						expect(t, "closed at", now(do), sec+c.closing)
						expect(t, "event", w.events[len(w.events)-1],
							lease.ReleaseAbandoned{Token: lease.FencingToken{Key: key, Generation: 1}})
					}
					do.Await(effect.Sleep(c.from - now(do)))
					l := do.Await(w.manager().Acquire(key, lease.Wait()))
					if at := now(do); at < c.free || at > max(c.free, sec+c.closing)+w.config.Retry {
						t.Errorf("it was free at %v", at)
					}
					if c.closing == 0 {
						do.Await(effect.CloseScope(s, scope.ExitSucceed(0)))
					}
					expect(t, "generation", l.Token().Generation, c.generation)
					expect(t, "free", w.stored(do).IsTombstone(), false)
					do.Await(effect.Sleep(2 * ttl).StopOn(l.Lost()))
				})
			})
		}
	}
}
