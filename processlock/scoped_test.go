//go:build linux

package processlock_test

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
	"github.com/rivus/tether/scope"
)

type (
	unit    = effect.Unit
	program = effect.Effect[unit]
)

// runtimes runs a test of programs on both runtimes; on the deterministic one in
// both of its orders.
func runtimes(t *testing.T, test func(t *testing.T, run func(p *platform.Platform, e program) scope.Exit[unit])) {
	deterministic := func(order scope.Order) func(*platform.Platform, program) scope.Exit[unit] {
		return func(p *platform.Platform, e program) scope.Exit[unit] {
			out := effect.RunDeterministic(e.ProvideService(platform.Service, p), effect.DeterministicConfig{Order: order})
			if out.Exit.IsAbsent() || len(out.Stuck) > 0 {
				t.Fatal("it did not end:\n", out.Report)
			}
			return out.Exit.MustGet()
		}
	}
	t.Run("parallel", func(t *testing.T) {
		test(t, func(p *platform.Platform, e program) scope.Exit[unit] {
			return effect.RunExit(context.Background(), e.ProvideService(platform.Service, p))
		})
	})
	t.Run("effect order", func(t *testing.T) { test(t, deterministic(scope.EffectOrder)) })
	t.Run("explore order", func(t *testing.T) { test(t, deterministic(scope.ExploreOrder)) })
}

// free fails unless the lock can be taken and nothing is left of those who had it.
func free(t testing.TB, path string, options ...processlock.Option) {
	t.Helper()
	if lines := processlock.InProcessLines(); lines != 0 {
		t.Fatal(lines, " lines are left")
	}
	mustRelease(t, acquire(t, path, options...))
}

// K1, K8: held as long as the scope is open, and given back with it, however it ends.
func TestK1_ScopedIsReleasedWithItsScope(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		runtimes(t, func(t *testing.T, run func(*platform.Platform, program) scope.Exit[unit]) {
			path := filepath.Join(t.TempDir(), "l")
			for name, end := range map[string]program{
				"success":      effect.Void(),
				"failure":      effect.Fail[unit](errors.New("no")),
				"defect":       effect.Die[unit]("oh"),
				"interruption": effect.Interrupt[unit](),
			} {
				checked := false
				exit := run(platform.OS(), effect.Scoped(effect.GenUnit(func(do *effect.Do) {
					lock := do.Await(processlock.AcquireScoped(path, options...))
					h := refused(t, path, options...)
					checked = h.Holder == lock.Holder() && lock.Path() == path && (lock.Mechanism() == processlock.LockFile) == file
					do.Await(end)
				})))
				if !checked || exit.IsSuccess() != (name == "success") {
					t.Fatal(name, checked, exit)
				}
				free(t, path, options...)
			}
			// Given back by hand, in the middle; the scope has nothing left to do.
			exit := run(platform.OS(), effect.Scoped(effect.GenUnit(func(do *effect.Do) {
				lock := do.Await(processlock.AcquireScoped(path, options...))
				mustRelease(t, lock)
				do.Await(effect.Scoped(processlock.AcquireScoped(path, options...)))
			})))
			if !exit.IsSuccess() {
				t.Fatal(exit)
			}
		})
	})
}

// K2, K12: it fails with what Acquire fails with; CatchTag picks it.
func TestK2_ScopedFailsWithHeldOrFailure(t *testing.T) {
	runtimes(t, func(t *testing.T, run func(*platform.Platform, program) scope.Exit[unit]) {
		dir := t.TempDir()
		path := filepath.Join(dir, "l")
		other := start(t, nil)
		other.must(command{Do: "acquire", Path: path})
		var held *processlock.Held
		var failed *processlock.Failure
		exit := run(platform.OS(), effect.Scoped(effect.GenUnit(func(do *effect.Do) {
			never := func(*processlock.Lock) unit { panic("got it") }
			do.Await(processlock.AcquireScoped(path).Map(never).
				CatchTag(func(h *processlock.Held) program { held = h; return effect.Void() }))
			do.Await(processlock.AcquireScoped(filepath.Join(dir, "none", "l")).Map(never).
				CatchTag(func(f *processlock.Failure) program { failed = f; return effect.Void() }))
		})))
		if !exit.IsSuccess() || held.Holder.OrEmpty().PID != other.PID() || failed.Reason != platform.ReasonNotFound {
			t.Fatal(exit, held, failed)
		}
	})
}

func TestScopedNeedsAScopeAndAPlatform(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	lock := processlock.AcquireScoped(path)
	for want, e := range map[string]effect.Effect[*processlock.Lock]{
		"Scope":             lock.ProvideService(platform.Service, platform.OS()),
		"platform.Platform": effect.Scoped(lock),
	} {
		out := effect.RunDeterministic(e, effect.DeterministicConfig{})
		die, _ := out.Exit.MustGet().Cause().Defect()
		if missing, ok := die.Defect.(*effect.MissingService); !ok || missing.Service != want {
			t.Error(want, ": ", out.Exit)
		}
	}
	if isHeld(t, path) {
		t.Fatal("it is held")
	}
}

// K7: fibers take turns in the order in which they came, and are woken: in virtual
// time the next has the lock at the very moment at which the one before gives it back.
func TestK7_ScopedFIFOInVirtualTime(t *testing.T) {
	mechanisms(t, func(t *testing.T, _ bool, options ...processlock.Option) {
		path := filepath.Join(t.TempDir(), "l")
		var order []int
		const n = 20
		out := effect.RunDeterministic(effect.GenUnit(func(do *effect.Do) {
			var fibers []effect.AnyFiber
			for i := range n {
				fibers = append(fibers, do.Await(effect.ForkChild(effect.Scoped(effect.GenUnit(func(do *effect.Do) {
					do.Await(processlock.AcquireScoped(path, append(options, processlock.Wait())...))
					if at := do.Await(effect.Monotonic()); at != time.Duration(len(order))*time.Second {
						t.Errorf("the lock number %d at %v", len(order), at)
					}
					order = append(order, i)
					do.Await(effect.Sleep(time.Second))
				})))))
				do.Await(effect.YieldNow())
			}
			// Two leave from the middle of the line.
			do.Await(effect.InterruptAll(fibers[5], fibers[7]))
			do.Await(effect.AwaitAll(fibers...))
		}).ProvideService(platform.Service, platform.OS()), effect.DeterministicConfig{})
		if len(out.Stuck) > 0 || len(order) != n-2 {
			t.Fatal(order, out.Report)
		}
		for i, got := range order[1:] {
			if got <= order[i] {
				t.Fatal("not in order: ", order)
			}
		}
		free(t, path, options...)
	})
}

// K5: the pauses are the runtime's: in virtual time they pass at once, as long as
// they are, and are the same with the same seed.
func TestK5_ScopedPausesOnTheRuntimesClock(t *testing.T) {
	run := func(seed uint64) time.Duration {
		sqlite := &busySQLite{SQLite: platform.OS().SQLite, held: true}
		sqlite.busy.Store(7)
		p := *platform.OS()
		p.SQLite = sqlite
		e := effect.Scoped(processlock.AcquireScoped(filepath.Join(t.TempDir(), "l"), processlock.Wait(), processlock.Retry(time.Hour)))
		out := effect.RunDeterministic(e.ProvideService(platform.Service, &p), effect.DeterministicConfig{Seed: seed})
		if !out.Exit.MustGet().IsSuccess() {
			t.Fatal(out.Exit)
		}
		return out.Now
	}
	first := run(1)
	if all := (1 + 2 + 4 + 8 + 16 + 16 + 16) * time.Hour; first < all*3/4 || first > all*5/4 {
		t.Fatal("it took ", first)
	}
	if again, other := run(1), run(2); again != first || other == first {
		t.Fatal(first, again, other)
	}
}

// K6: a race is settled for a second of the runtime's clock.
func TestK6_ScopedSettlesARaceOnTheRuntimesClock(t *testing.T) {
	sqlite := &busySQLite{SQLite: platform.OS().SQLite}
	sqlite.busy.Store(1 << 40)
	p := *platform.OS()
	p.SQLite = sqlite
	e := effect.Scoped(processlock.AcquireScoped(filepath.Join(t.TempDir(), "l")))
	out := effect.RunDeterministic(e.ProvideService(platform.Service, &p), effect.DeterministicConfig{})
	if err := out.Exit.MustGet().Err(); reasonOf(err) != processlock.ReasonContended {
		t.Fatal(err)
	}
	if out.Now < time.Second || out.Now > 1100*time.Millisecond || sqlite.probes.Load() < 50 {
		t.Fatal(out.Now, sqlite.probes.Load())
	}
}

// K5: another process holds it, for real: the virtual pauses go on until it is free.
func TestK5_ScopedWaitsForAnotherProcess(t *testing.T) {
	mechanisms(t, func(t *testing.T, file bool, options ...processlock.Option) {
		runtimes(t, func(t *testing.T, run func(*platform.Platform, program) scope.Exit[unit]) {
			path := filepath.Join(t.TempDir(), "l")
			other := start(t, nil)
			other.must(command{Do: "acquire", Path: path, File: file})
			var tries atomic.Int64
			p := *platform.OS()
			tell := func(n int64) {
				if n == 5 {
					other.must(command{Do: "release", Path: path})
				}
			}
			if file {
				p.FS = countingFS{p.FS, &tries, tell}
			} else {
				p.SQLite = countingSQLite{p.SQLite, &tries, tell}
			}
			e := effect.Scoped(processlock.AcquireScoped(path, append(options, processlock.Wait(), processlock.Retry(time.Millisecond))...).As(unit{}))
			if exit := run(&p, e); !exit.IsSuccess() || tries.Load() < 5 {
				t.Fatal(exit, tries.Load())
			}
			free(t, path, options...)
		})
	})
}

// A lock that cannot be given back cleanly is told of, and its scope succeeds.
func TestScopedReleaseFailureIsLogged(t *testing.T) {
	for _, byHand := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "l")
		p := *platform.OS()
		p.FS = stickyFS{p.FS}
		var b bytes.Buffer
		e := effect.Scoped(effect.GenUnit(func(do *effect.Do) {
			lock := do.Await(processlock.AcquireScoped(path))
			if byHand && lock.Release() == nil {
				t.Error("no failure")
			}
		})).ProvideService(platform.Service, &p).ProvideService(effect.Logger, slog.New(slog.NewTextHandler(&b, nil)))
		if exit := effect.RunExit(context.Background(), e); !exit.IsSuccess() {
			t.Fatal(exit)
		}
		if said := b.String(); strings.Contains(said, path) == byHand || byHand && said != "" {
			t.Fatalf("by hand %t: %q", byHand, said)
		}
		free(t, path)
	}
}
