package lease_test

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/scope"
)

// onSerial runs body on a serial runtime by the live clock, which passes while all wait,
// also while a fiber that sleeps in Go code holds up every other.
func onSerial(t *testing.T, body func(t *testing.T, do *effect.Do)) {
	synctest.Test(t, func(t *testing.T) {
		exit := effect.RunExitOn(context.Background(), scope.NewSerial(scope.OnClock(scope.NewLiveClock())),
			effect.Scoped(effect.GenUnit(func(do *effect.Do) { body(t, do) })))
		if exit.IsFailure() {
			t.Error(exit)
		}
	})
}

// L11: a fiber that computes for ten TTLs holds up every fiber of its runtime, not the
// renewals: nobody takes the lease over meanwhile, and fenced work runs afterwards.
func TestL11_RenewedWhileTheRuntimeIsHeldUp(t *testing.T) {
	onSerial(t, func(t *testing.T, do *effect.Do) {
		w := newWorld(lease.NewMemoryRepository())
		l := do.Await(w.manager().Acquire(key))
		heard := do.Await(effect.ForkChild(l.Lost(), effect.StartImmediately()))
		other := newProcess(2)
		other.runs(w.process.self)
		rival := newWorld(w.repo).managerOf(other)
		refused := 0
		do.Await(effect.SyncUnit(func() {
			for range 10 {
				time.Sleep(ttl)
				_, err := effect.Run(context.Background(), in(rival.Acquire(key)))
				if _, held := errors.AsType[*lease.Held](err); held {
					refused++
				}
			}
		}))
		expect(t, "refused", refused, 10)
		if r := w.stored(do); r.Revision < 10*int64(ttl/heartbeat) {
			t.Errorf("renewed to revision %d", r.Revision)
		}
		do.Await(effect.YieldNow())
		if exit, ended := heard.Exited(); ended {
			t.Errorf("Lost ended with %v", exit)
		}
		ran := false
		do.Await(l.RunFenced(func(lease.FencingToken) effect.Effect[unit] { return effect.SyncUnit(func() { ran = true }) }))
		expect(t, "fenced work ran", ran, true)
	})
}

// L11: while a fiber holds up the runtime a lease whose renewals fail ends when its trust
// does. Whoever observes the manager hears it at that time; the fibers that wait for the
// loss hear of it when they get their turn, and fenced work is refused.
func TestL11_L13_TrustEndsWhileTheRuntimeIsHeldUp(t *testing.T) {
	onSerial(t, func(t *testing.T, do *effect.Do) {
		r := newScripted()
		r.onSave = func(n int) plan {
			if n > 1 {
				return failBefore(ioFailure())
			}
			return pass
		}
		r.onLoad = r.onSave
		w := newWorld(r)
		lost := make(chan time.Duration, 1)
		begun := time.Now()
		w.config.Observer = func(e lease.Event) {
			if _, is := e.(lease.WasLost); is {
				lost <- time.Since(begun)
			}
		}
		m, err := lease.NewManager(&platform.Platform{Process: w.process}, w.repo, w.config)
		if err != nil {
			t.Fatal(err)
		}
		l := do.Await(m.Acquire(key))
		var heardAt time.Duration
		waiter := do.Await(effect.ForkChild(effect.Exit(l.Lost()).Tap(func(scope.Exit[effect.Nothing]) effect.Effect[unit] {
			heardAt = time.Since(begun)
			return effect.Void()
		}), effect.StartImmediately()))
		do.Await(effect.SyncUnit(func() { time.Sleep(10 * ttl) }))
		expect(t, "lost at", <-lost, ttl)
		loss := *as[*lease.Lost](failure(do, l.RunFenced(noWork(t))))
		expect(t, "loss", loss, lostBy(l, lease.LostExpired))
		heard := do.Await(waiter.Join())
		expect(t, "heard", *as[*lease.Lost](heard.Err()), loss)
		expect(t, "heard at", heardAt, 10*ttl)
	})
}

// Leases, their fences and process locks on real files, from several serial runtimes at
// once: what one holds excludes the others, and whoever waits is served.
func TestL7_OnSerialRuntimes(t *testing.T) {
	for name, repository := range map[string]func(dir string) lease.Repository{
		"sqlite": func(dir string) lease.Repository {
			r := lease.NewSQLiteRepository(platform.OS(), filepath.Join(dir, "leases.db"))
			t.Cleanup(func() { r.Close() })
			return r
		},
		"files": func(dir string) lease.Repository { return lease.NewFileRepository(platform.OS(), dir) },
	} {
		t.Run(name, func(t *testing.T) {
			r := repository(t.TempDir())
			inside, turns := 0, 0 // guarded by the fence
			const runtimes, each = 3, 4
			work := effect.GenUnit(func(do *effect.Do) {
				m := do.Try(lease.NewManager(platform.OS(), r, lease.Config{TTL: time.Minute, Heartbeat: 5 * time.Second, Retry: 20 * time.Millisecond}))
				do.Await(effect.ForEachDiscard(make([]int, each), func(int, int) effect.Effect[unit] {
					return in(m.Acquire(key, lease.Wait()).FlatMap(func(l *lease.Lease) effect.Effect[unit] {
						return l.RunFenced(func(lease.FencingToken) effect.Effect[unit] {
							return effect.GenUnit(func(do *effect.Do) {
								inside++
								expect(t, "inside", inside, 1)
								do.Await(effect.YieldNow())
								inside--
								turns++
							})
						})
					}))
				}, effect.Unbounded))
			})
			fibers := make([]*effect.Fiber[unit], runtimes)
			for i := range fibers {
				fibers[i] = effect.RunSerialFork(t.Context(), work)
			}
			for _, fiber := range fibers {
				_, err := effect.RunSerial(t.Context(), fiber.Join())
				if err != nil {
					t.Error(err)
				}
			}
			expect(t, "turns", turns, runtimes*each)
		})
	}
}
