//go:build linux

package processlock_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
	"github.com/rivus/tether/scope"
)

// K7, K1: explored schedules, with preemption and interruptions.
func TestK7_ScopedExploredSchedules(t *testing.T) {
	mechanisms(t, func(t *testing.T, _ bool, options ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		for seed := range uint64(rounds(300)) {
			random := rand.New(rand.NewPCG(seed, 7))
			var inside atomic.Int64
			e := holding(path, &inside, append(options, processlock.Wait())...)
			out := effect.RunDeterministic(effect.GenUnit(func(do *effect.Do) {
				var fibers []effect.AnyFiber
				for range 6 {
					fibers = append(fibers, do.Await(effect.ForkChild(e)))
				}
				for range 3 {
					do.Await(effect.Sleep(time.Duration(random.IntN(4000)) * time.Microsecond))
					do.Await(effect.InterruptAll(fibers[random.IntN(len(fibers))]))
				}
				do.Await(effect.AwaitAll(fibers...))
			}).ProvideService(platform.Service, platform.OS()), effect.DeterministicConfig{
				Order: scope.ExploreOrder, Preempt: true, Choose: random.IntN, Seed: seed,
			})
			if len(out.Stuck) > 0 || len(out.Unheard) > 0 || !out.Exit.MustGet().IsSuccess() {
				t.Fatal("seed ", seed, ": ", out.Exit, out.Report)
			}
			free(t, path, options...)
		}
	})
}

// K5, K7: on the parallel runtime, fibers and goroutines in one line, interrupted and
// cancelled at any moment.
func TestK7_ScopedAmongGoroutines(t *testing.T) {
	mechanisms(t, func(t *testing.T, _ bool, options ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		options = append(options, processlock.Wait())
		var inside, done atomic.Int64
		e := holding(path, &inside, options...).Tap(func(unit) program { return effect.SyncUnit(func() { done.Add(1) }) })
		goroutine := effect.Blocking(func(ctx context.Context) (unit, error) {
			lock, err := processlock.Acquire(ctx, platform.OS(), path, options...).Get()
			if err != nil {
				return unit{}, err
			}
			if inside.Add(1) > 1 {
				panic("two hold it")
			}
			done.Add(1)
			inside.Add(-1)
			return unit{}, lock.Release()
		})
		n := rounds(100)
		exit := effect.RunExit(context.Background(), effect.GenUnit(func(do *effect.Do) {
			var fibers, spared []effect.AnyFiber
			for i := range n {
				one := e
				if i%2 == 1 {
					one = goroutine
				}
				fiber := do.Await(effect.ForkChild(one))
				if fibers = append(fibers, fiber); i%4 < 2 {
					spared = append(spared, fiber)
				}
			}
			for i, fiber := range fibers {
				if i%4 >= 2 {
					do.Await(effect.Sleep(time.Duration(rand.IntN(500)) * time.Microsecond))
					do.Await(effect.InterruptAll(fiber))
				}
			}
			do.Await(effect.AwaitAll(fibers...))
			for _, fiber := range spared {
				if c, _ := fiber.Kernel().Exited(); c != nil {
					t.Error("one that nobody interrupted: ", c)
				}
			}
		}).ProvideService(platform.Service, platform.OS()))
		if !exit.IsSuccess() || done.Load() < int64(n/2) {
			t.Fatal(exit, done.Load())
		}
		free(t, path, options...)
	})
}

// K7: a goroutine gives the lock back to a fiber of a deterministic run.
func TestK7_ScopedIsWokenFromOutsideItsRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	for range rounds(200) {
		lock := acquire(t, path)
		out := effect.RunDeterministic(effect.GenUnit(func(do *effect.Do) {
			waiter := do.Await(effect.ForkChild(
				effect.Scoped(processlock.AcquireScoped(path, processlock.Wait()).FlatMap(func(*processlock.Lock) program { return effect.YieldNow() }))))
			do.Await(effect.YieldNow())
			var released atomic.Bool
			release := effect.Blocking(func(context.Context) (unit, error) {
				defer released.Store(true)
				return unit{}, lock.Release()
			})
			releaser := do.Await(effect.ForkChild(release))
			// The run goes on meanwhile: a wake on the goroutine itself would be a race.
			for !released.Load() {
				do.Await(effect.YieldNow())
			}
			do.Await(effect.AwaitAll(releaser, waiter))
		}).ProvideService(platform.Service, platform.OS()), effect.DeterministicConfig{})
		if len(out.Stuck) > 0 || !out.Exit.MustGet().IsSuccess() || out.Now != 0 {
			t.Fatal(out.Exit, out.Report)
		}
	}
	free(t, path)
}

// A run that ends while a fiber waits for a holder outside of it says so, and leaves
// no turn behind.
func TestK7_ScopedStuckBehindAnOutsider(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	lock := acquire(t, path)
	var inside atomic.Int64
	e := holding(path, &inside, processlock.Wait()).ProvideService(platform.Service, platform.OS())
	out := effect.RunDeterministic(e, effect.DeterministicConfig{})
	if len(out.Stuck) != 1 || !strings.Contains(out.Stuck[0].On, "process lock") {
		t.Fatal(out.Report)
	}
	mustRelease(t, lock)
	free(t, path)
}
