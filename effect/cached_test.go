package effect_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
)

// Many callers at once share one run, and so do later ones.
func TestCachedRunsOnce(t *testing.T) {
	program := effect.Suspend(func() effect.Effect[int32] {
		var runs atomic.Int32
		source := effect.Sleep(time.Millisecond).AndThen(effect.Sync(func() int32 { return runs.Add(1) }))
		return effect.Cached(source).FlatMap(func(get effect.Effect[int32]) effect.Effect[int32] {
			many := make([]effect.Effect[int32], 50)
			for i := range many {
				many[i] = get
			}
			return effect.AllDiscard(many, effect.Unbounded).AndThen(get)
		})
	})
	onBoth(t, program, func(t *testing.T, exit scope.Exit[int32]) {
		succeeds(t, exit)
		if n, _ := exit.Value(); n != 1 {
			t.Fatalf("ran %d times", n)
		}
	})
}

// When the last caller is interrupted, so is the run, and the next one starts
// another; a caller that stays keeps it.
func TestCachedGivenUp(t *testing.T) {
	program := effect.Suspend(func() effect.Effect[int32] {
		var begun, ended atomic.Int32
		gate := effect.NewLatch(false)
		source := effect.SyncUnit(func() { begun.Add(1) }).AndThen(gate.Await()).As(int32(7)).
			OnExit(func(scope.Exit[int32]) effect.Effect[effect.Unit] { return effect.SyncUnit(func() { ended.Add(1) }) })
		return effect.Gen(func(do *effect.Do) int32 {
			get := do.Await(effect.Cached(source))
			first := do.Await(effect.ForkChild(get, effect.StartImmediately()))
			second := do.Await(effect.ForkChild(get, effect.StartImmediately()))
			do.Await(first.Interrupt())
			if begun.Load() != 1 || ended.Load() != 0 {
				do.Fail(errors.New("the run went with one of two callers"))
			}
			do.Await(second.Interrupt())
			if ended.Load() != 1 {
				do.Fail(errors.New("the run outlived its callers"))
			}
			third := do.Await(effect.ForkChild(get, effect.StartImmediately()))
			do.Await(gate.Open())
			return do.Await(third.Join()) + begun.Load()
		})
	})
	onBoth(t, program, func(t *testing.T, exit scope.Exit[int32]) {
		succeeds(t, exit)
		if n, _ := exit.Value(); n != 9 {
			t.Fatalf("got %d", n)
		}
	})
}

// A ttl that panics is the source's defect, and the next caller runs it again.
func TestCachedBadTTL(t *testing.T) {
	runs := 0
	program := effect.CachedWithTTLOf(effect.Sync(func() int { runs++; return runs }), func(scope.Exit[int]) time.Duration {
		if runs == 1 {
			panic("ttl")
		}
		return effect.NoExpiry
	}).FlatMap(func(get effect.Effect[int]) effect.Effect[int] {
		return get.CatchDefect(func(any) effect.Effect[int] { return get }).AndThen(get)
	})
	out := effect.RunDeterministic(program, effect.DeterministicConfig{})
	exit, _ := out.Exit.Get()
	if v, ok := exit.Value(); !ok || v != 2 {
		t.Fatal(exit)
	}
}

// A ref's values are released one by one: the old one when the new one is there,
// the last one with the scope.
func TestScopedRefReleases(t *testing.T) {
	program := effect.Suspend(func() effect.Effect[string] {
		var log atomic.Pointer[string]
		empty := ""
		log.Store(&empty)
		note := func(s string) { next := *log.Load() + s; log.Store(&next) }
		value := func(s string) effect.Effect[string] {
			return effect.AcquireRelease(effect.Sync(func() string { note("+" + s); return s }),
				func(string, scope.Exit[any]) effect.Effect[effect.Unit] {
					return effect.SyncUnit(func() { note("-" + s) })
				})
		}
		return effect.Scoped(effect.GenUnit(func(do *effect.Do) {
			ref := do.Await(effect.AcquireScopedRef(value("a")))
			do.Await(ref.Set(value("b")))
			do.Await(effect.Exit(ref.Set(value("c").AndThen(effect.Fail[string](errors.New("no"))))))
			note("=" + do.Await(ref.Get()))
		})).AndThen(effect.Sync(func() string { return *log.Load() }))
	})
	onBoth(t, program, func(t *testing.T, exit scope.Exit[string]) {
		succeeds(t, exit)
		if got, _ := exit.Value(); got != "+a+b-a+c-c=b-b" {
			t.Fatal(got)
		}
	})
}
