//go:build linux

package processlock_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
	"github.com/rivus/tether/scope"
)

// holding has the lock for a moment, and counts who has it.
func holding(path string, inside *atomic.Int64, options ...processlock.Option) program {
	return effect.Scoped(processlock.AcquireScoped(path, options...).FlatMap(func(*processlock.Lock) program {
		return effect.AcquireUseRelease(
			effect.Sync(func() unit {
				if inside.Add(1) > 1 {
					panic("two hold it")
				}
				return unit{}
			}),
			func(unit) program { return effect.Sleep(time.Millisecond) },
			func(unit, scope.Exit[unit]) program { return effect.SyncUnit(func() { inside.Add(-1) }) })
	}))
}

// everywhere interrupts a program at each of its steps, both ways, and wants the
// lock free after each run, without a descriptor, a turn or a file left.
func everywhere(t *testing.T, dir, path string, options []processlock.Option, make func() program) {
	t.Helper()
	mustRelease(t, acquire(t, path, options...)) // what is opened once is open
	names, open := entries(t, dir), descriptors(t)
	for _, stepping := range []bool{false, true} {
		runs := 0
		err := effect.InterruptEverywhere(make, effect.EverywhereConfig{Stepping: stepping}, func(step int, out effect.RunReport[unit]) error {
			runs++
			switch {
			case out.Exit.IsAbsent() || len(out.Stuck) > 0 || len(out.Unheard) > 0:
				return fmt.Errorf("it did not end: %v", out.Report)
			case out.Exit.MustGet().Cause().HasDies():
				return fmt.Errorf("it died: %v", out.Exit)
			case step == 0 && !out.Exit.MustGet().IsSuccess():
				return fmt.Errorf("without an interruption: %v", out.Exit)
			case processlock.InProcessLines() != 0:
				return fmt.Errorf("a turn is left")
			case descriptors(t) != open:
				return fmt.Errorf("%d descriptors, were %d", descriptors(t), open)
			case entries(t, dir) != names:
				return fmt.Errorf("left: %s", entries(t, dir))
			}
			lock, err := processlock.Acquire(context.Background(), platform.OS(), path, options...).Get()
			if err != nil {
				return err
			}
			return lock.Release()
		})
		if err != nil {
			t.Fatalf("stepping %t: %v", stepping, err)
		}
		if runs < 10 {
			t.Fatalf("stepping %t: only %d runs", stepping, runs)
		}
	}
}

// K5, K7, F21, F26, F27: interrupted at every step, in line and while it holds.
func TestK7_ScopedInterruptedEverywhereInLine(t *testing.T) {
	mechanisms(t, func(t *testing.T, _ bool, options ...processlock.Option) {
		dir := t.TempDir()
		path := filepath.Join(dir, "l")
		everywhere(t, dir, path, options, func() program {
			var inside atomic.Int64
			e := holding(path, &inside, append(options, processlock.Wait())...)
			return effect.GenUnit(func(do *effect.Do) {
				var fibers []effect.AnyFiber
				for range 3 {
					fibers = append(fibers, do.Await(effect.ForkChild(e)))
				}
				do.Await(e)
				do.Await(effect.AwaitAll(fibers...))
			}).ProvideService(platform.Service, platform.OS())
		})
	})
}

// K5, F21: interrupted at every step between its tries, of the race and of the wait.
func TestK5_ScopedInterruptedEverywhereBetweenTries(t *testing.T) {
	for _, held := range []bool{false, true} {
		dir := t.TempDir()
		path := filepath.Join(dir, "l")
		everywhere(t, dir, path, nil, func() program {
			sqlite := &busySQLite{SQLite: platform.OS().SQLite, held: held}
			sqlite.busy.Store(5)
			p := *platform.OS()
			p.SQLite = sqlite
			var inside atomic.Int64
			return holding(path, &inside, processlock.Wait()).ProvideService(platform.Service, &p)
		})
	}
}

// K9, F21: interrupted at every step while it is ahead of readers, with a lock that is
// taken in part.
func TestK9_ScopedInterruptedEverywhereAheadOfReaders(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "l")
	everywhere(t, dir, path, nil, func() program {
		read := effect.Try(func() (platform.SQLiteConn, error) {
			conn, err := platform.OS().SQLite.Open(path, platform.OpenOrCreate)
			if err == nil {
				err = conn.Exec("BEGIN; SELECT * FROM sqlite_master")
			}
			return conn, err
		})
		var inside atomic.Int64
		return effect.Scoped(effect.GenUnit(func(do *effect.Do) {
			reading := do.Await(effect.MakeScope(scope.Sequential))
			do.Await(effect.AddFinalizer(func(e scope.Exit[any]) program { return effect.CloseScope(reading, e) }))
			do.Await(effect.AcquireCloser(read).ProvideScope(reading))
			waiter := do.Await(effect.ForkChild(holding(path, &inside)))
			do.Await(effect.Sleep(2 * time.Millisecond))
			do.Await(effect.CloseScope(reading, scope.ExitSucceed(unit{})))
			do.Await(waiter.Join())
		})).ProvideService(platform.Service, platform.OS())
	})
}

// K5: an interruption ends the wait at once, in line and between tries, and a masked
// caller's never.
func TestK5_ScopedInterruptionEndsTheWaitAtOnce(t *testing.T) {
	runtimes(t, func(t *testing.T, run func(*platform.Platform, program) scope.Exit[unit]) {
		path := filepath.Join(t.TempDir(), "l")
		busy := func() *platform.Platform {
			p := *platform.OS()
			sqlite := &busySQLite{SQLite: p.SQLite, held: true}
			sqlite.busy.Store(1 << 40)
			p.SQLite = sqlite
			return &p
		}
		wait := effect.Scoped(processlock.AcquireScoped(path, processlock.Wait(), processlock.Retry(time.Hour)).As(unit{}))
		for name, p := range map[string]*platform.Platform{"in line": platform.OS(), "between tries": busy()} {
			lock := acquire(t, path)
			exit := run(p, effect.GenUnit(func(do *effect.Do) {
				waiter := do.Await(effect.ForkChild(wait, effect.StartImmediately()))
				do.Await(effect.YieldNow())
				before := do.Await(effect.Monotonic())
				do.Await(waiter.Interrupt())
				if c, _ := waiter.Kernel().Exited(); !c.HasInterruptsOnly() || do.Await(effect.Monotonic())-before > time.Minute {
					t.Error(name, ": ", c)
				}
			}))
			if !exit.IsSuccess() {
				t.Fatal(name, exit)
			}
			mustRelease(t, lock)
			free(t, path)
		}
		lock := acquire(t, path)
		exit := run(platform.OS(), effect.GenUnit(func(do *effect.Do) {
			took := false
			masked := effect.Scoped(processlock.AcquireScoped(path, processlock.Wait()).Map(func(*processlock.Lock) unit {
				took = true
				return unit{}
			})).Uninterruptible()
			waiter := do.Await(effect.ForkChild(masked, effect.StartImmediately()))
			do.Await(effect.YieldNow())
			waiter.InterruptNow(0)
			do.Await(effect.YieldNow())
			if _, done := waiter.Kernel().Exited(); done {
				t.Error("a masked wait was interrupted")
			}
			mustRelease(t, lock)
			do.Await(effect.AwaitAll(waiter))
			if c, _ := waiter.Kernel().Exited(); !took || !c.HasInterruptsOnly() {
				t.Error(took, c)
			}
		}))
		if !exit.IsSuccess() {
			t.Fatal(exit)
		}
		free(t, path)
	})
}

// A port that panics leaves neither the file locked nor the turn taken.
func TestPanicOfAPortLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	p := *platform.OS()
	p.Process = cancellingProcess{p.Process, func() { panic("port") }}
	func() {
		defer func() {
			if recover() != "port" {
				t.Error("the panic is lost")
			}
		}()
		processlock.Acquire(context.Background(), &p, path)
	}()
	free(t, path)
	e := effect.Scoped(processlock.AcquireScoped(path)).ProvideService(platform.Service, &p)
	if exit := effect.RunExit(context.Background(), e); !exit.Cause().HasDies() {
		t.Fatal(exit)
	}
	free(t, path)
	if r := start(t, nil).Do(command{Do: "acquire", Path: path}); !r.OK {
		t.Fatalf("%+v", r)
	}
}
