package effect_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
)

// onBoth runs a program on both runtimes.
func onBoth[A any](t *testing.T, program effect.Effect[A], check func(t *testing.T, exit scope.Exit[A])) {
	t.Run("deterministic", func(t *testing.T) {
		out := effect.RunDeterministic(program, effect.DeterministicConfig{})
		exit, ok := out.Exit.Get()
		if !ok {
			t.Fatalf("never ended: %v", out.Report)
		}
		check(t, exit)
	})
	t.Run("parallel", func(t *testing.T) { check(t, effect.RunExit(context.Background(), program)) })
}

func succeeds[A any](t *testing.T, exit scope.Exit[A]) {
	t.Helper()
	if exit.IsFailure() {
		t.Fatal(exit)
	}
}

// F31: replacing an entry while the old one ends. The new entry stays, and both
// have ended when the map's scope has closed.
func TestFiberMapReplaceWhileEnding(t *testing.T) {
	program := effect.Suspend(func() effect.Effect[bool] {
		var ended atomic.Int32
		return effect.Scoped(effect.Gen(func(do *effect.Do) bool {
			m := do.Await(effect.MakeFiberMap[string, effect.Unit]())
			gate := effect.NewLatch(false)
			slow := effect.Never[effect.Unit]().OnExit(func(scope.Exit[effect.Unit]) effect.Effect[effect.Unit] {
				return gate.Await().AndThen(effect.SyncUnit(func() { ended.Add(1) }))
			})
			old := do.Await(m.Run("k", slow))
			next := do.Await(m.Run("k", slow))
			now, _ := m.Get("k")
			if now != next || m.Len() != 1 {
				do.Fail(errors.New("the new one is not there"))
			}
			do.Await(gate.Open())
			do.Await(old.Await())
			if now, _ := m.Get("k"); now != next {
				do.Fail(errors.New("the old one took the new one with it"))
			}
			do.Await(m.Remove("k"))
			if m.Len() != 0 || m.HasNow("k") {
				do.Fail(errors.New("removed and there"))
			}
			do.Await(m.AwaitEmpty())
			last := do.Await(m.Run("k", slow))
			do.Await(m.Run("k", effect.Never[effect.Unit]()))
			do.Await(effect.AddFinalizer(func(scope.Exit[any]) effect.Effect[effect.Unit] { return effect.Void() }))
			_, over := last.Exited()
			return !over || ended.Load() == 3
		})).Tap(func(bool) effect.Effect[effect.Unit] {
			if n := ended.Load(); n != 3 {
				return effect.Fail[effect.Unit](fmt.Errorf("%d old fibers had ended when the scope had", n))
			}
			return effect.Void()
		})
	})
	onBoth(t, program, func(t *testing.T, exit scope.Exit[bool]) { succeeds(t, exit) })
}

// Of many that run only if nothing is there, one runs.
func TestFiberMapOnlyIfMissingInParallel(t *testing.T) {
	for range 50 {
		var started atomic.Int32
		mustRun(t, effect.Scoped(effect.GenUnit(func(do *effect.Do) {
			m := do.Await(effect.MakeFiberMap[int, effect.Unit]())
			work := effect.SyncUnit(func() { started.Add(1) }).AndThen(effect.Never[effect.Unit]())
			try := make([]effect.Effect[*effect.Fiber[effect.Unit]], 8)
			for i := range try {
				try[i] = effect.YieldNow().AndThen(m.Run(1, work, effect.OnlyIfMissing()))
			}
			fibers := do.Await(effect.All(try, effect.Unbounded))
			running := 0
			for _, fb := range fibers {
				if _, over := fb.Exited(); !over {
					running++
				}
			}
			if running != 1 || m.Len() != 1 {
				t.Errorf("%d run, %d are there", running, m.Len())
			}
		})))
		if n := started.Load(); n != 1 {
			t.Fatalf("%d ran", n)
		}
	}
}

// The first failure fails Join; an interruption does if it is to, and not the
// map's own; closing the map lets Join succeed.
func TestFiberMapJoin(t *testing.T) {
	boom := errors.New("boom")
	join := func(act func(do *effect.Do, m *effect.FiberMap[string, int])) effect.Effect[scope.Exit[effect.Unit]] {
		return effect.Gen(func(do *effect.Do) scope.Exit[effect.Unit] {
			s := do.Await(effect.MakeScope(scope.Sequential))
			m := do.Await(effect.MakeFiberMap[string, int]().ProvideScope(s))
			joined := do.Await(effect.ForkChild(m.Join(), effect.StartImmediately()))
			act(do, m)
			do.Await(effect.CloseScope(s, scope.ExitSucceed(0)))
			return do.Await(joined.Await())
		})
	}
	for _, c := range []struct {
		name string
		act  func(do *effect.Do, m *effect.FiberMap[string, int])
		want string
	}{
		{"closed", func(do *effect.Do, m *effect.FiberMap[string, int]) {
			do.Await(m.Run("a", effect.Never[int]()))
		}, "Success({})"},
		{"failed", func(do *effect.Do, m *effect.FiberMap[string, int]) {
			do.Await(m.Run("a", effect.Fail[int](boom)))
			do.Await(m.AwaitEmpty())
		}, "Failure(Cause(Fail(boom)))"},
		{"interrupted", func(do *effect.Do, m *effect.FiberMap[string, int]) {
			do.Await(do.Await(m.Run("a", effect.Never[int]())).Interrupt())
		}, "Success({})"},
		{"interrupted by the map", func(do *effect.Do, m *effect.FiberMap[string, int]) {
			do.Await(m.Run("a", effect.Never[int](), effect.PropagateInterruption()))
			do.Await(m.Run("b", effect.Never[int](), effect.PropagateInterruption()))
			do.Await(m.Remove("a"))
			do.Await(m.Clear())
		}, "Success({})"},
		{"interrupted by another", func(do *effect.Do, m *effect.FiberMap[string, int]) {
			fb := do.Await(m.Run("a", effect.Never[int](), effect.PropagateInterruption()))
			fb.InterruptNow(77)
			do.Await(fb.Await())
			do.Await(m.AwaitEmpty())
		}, "Failure(Cause(Interrupt(#77)))"},
	} {
		t.Run(c.name, func(t *testing.T) {
			onBoth(t, join(c.act), func(t *testing.T, exit scope.Exit[scope.Exit[effect.Unit]]) {
				succeeds(t, exit)
				if joined, _ := exit.Value(); joined.String() != c.want {
					t.Fatalf("joined: %v, want %s", joined, c.want)
				}
			})
		})
	}
}

// What runs in a closed collection: the caller of a map or a handle is
// interrupted, a set's fiber is.
func TestClosedCollections(t *testing.T) {
	program := effect.Gen(func(do *effect.Do) int {
		s := do.Await(effect.MakeScope(scope.Sequential))
		m := do.Await(effect.MakeFiberMap[string, int]().ProvideScope(s))
		h := do.Await(effect.MakeFiberHandle[int]().ProvideScope(s))
		set := do.Await(effect.MakeFiberSet[int]().ProvideScope(s))
		run := do.Await(effect.FiberMapRuntime(m))
		add := do.Await(effect.FiberSetRuntime(set))
		put := do.Await(effect.FiberHandleRuntime(h))
		for _, fb := range []*effect.Fiber[int]{run("a", effect.Succeed(1)), add(effect.Succeed(1)), put(effect.Succeed(1))} {
			if v := do.Await(fb.Join()); v != 1 {
				do.Fail(fmt.Errorf("gave %d", v))
			}
		}
		do.Await(effect.CloseScope(s, scope.ExitSucceed(0)))
		left := effect.NewDeferred[int]()
		outside := do.Await(effect.ForkDetach(left.Await()))
		m.SetNow("a", outside)
		for _, fb := range []*effect.Fiber[int]{
			outside, do.Await(set.Run(effect.Succeed(1))),
			run("a", effect.Succeed(1)), add(effect.Succeed(1)), put(effect.Succeed(1)),
		} {
			if exit := do.Await(fb.Await()); !exit.Cause().HasInterruptsOnly() {
				do.Fail(fmt.Errorf("ended with %v", exit))
			}
		}
		for _, e := range []effect.Effect[*effect.Fiber[int]]{m.Run("a", effect.Succeed(1)), h.Run(effect.Succeed(1))} {
			if exit := do.Await(effect.Exit(e)); !exit.Cause().HasInterruptsOnly() {
				do.Fail(fmt.Errorf("ran with %v", exit))
			}
		}
		return m.Len() + set.Len()
	})
	onBoth(t, program, func(t *testing.T, exit scope.Exit[int]) {
		succeeds(t, exit)
		if n, _ := exit.Value(); n != 0 {
			t.Fatalf("%d left", n)
		}
	})
}

// A set and a map say what they hold in order, and forget what ends.
func TestFiberSetAndOrder(t *testing.T) {
	program := effect.Scoped(effect.Gen(func(do *effect.Do) string {
		set := do.Await(effect.MakeFiberSet[int]())
		m := do.Await(effect.MakeFiberMap[string, int]())
		var first *effect.Fiber[int]
		for i := range 3 {
			fb := do.Await(set.Run(effect.Never[int]().As(i)))
			if first == nil {
				first = fb
			}
			set.AddNow(fb) // is in it
			m.SetNow(string(rune('a'+i)), fb)
		}
		m.SetNow("a", do.Await(set.Run(effect.Never[int]())))
		order := ""
		for key := range m.All() {
			order += key
		}
		do.Await(effect.Exit(first.Join()))
		n := 0
		for range set.All() {
			n++
		}
		do.Await(set.Clear())
		do.Await(set.AwaitEmpty())
		do.Await(m.AwaitEmpty())
		return fmt.Sprintf("%s %d %d %d", order, n, do.Await(set.Size()), do.Await(m.Size()))
	}))
	onBoth(t, program, func(t *testing.T, exit scope.Exit[string]) {
		succeeds(t, exit)
		if got, _ := exit.Value(); got != "abc 3 0 0" {
			t.Fatalf("got %q", got)
		}
	})
}

// A handle interrupts and awaits all it held when it closes.
func TestFiberHandleCloses(t *testing.T) {
	program := effect.Suspend(func() effect.Effect[int32] {
		var ended atomic.Int32
		work := effect.Never[int]().OnExit(func(scope.Exit[int]) effect.Effect[effect.Unit] {
			return effect.Sleep(time.Millisecond).AndThen(effect.SyncUnit(func() { ended.Add(1) }))
		})
		return effect.Scoped(effect.GenUnit(func(do *effect.Do) {
			h := do.Await(effect.MakeFiberHandle[int]())
			do.Await(h.Run(work))
			do.Await(h.Run(work))
			third := do.Await(h.Run(work, effect.OnlyIfMissing()))
			if exit := do.Await(third.Await()); !exit.Cause().HasInterruptsOnly() {
				do.Fail(fmt.Errorf("the third ended with %v", exit))
			}
		})).AndThen(effect.Sync(func() int32 { return ended.Load() }))
	})
	onBoth(t, program, func(t *testing.T, exit scope.Exit[int32]) {
		succeeds(t, exit)
		if n, _ := exit.Value(); n != 2 {
			t.Fatalf("%d had ended", n)
		}
	})
}

// Interrupted at any step, a map's fibers end with it.
func TestInterruptEverywhereFiberMap(t *testing.T) {
	var alive int
	program := func() effect.Effect[effect.Unit] {
		alive = 0
		work := effect.AcquireUseRelease(effect.SyncUnit(func() { alive++ }),
			func(effect.Unit) effect.Effect[effect.Unit] { return effect.Sleep(time.Second) },
			func(effect.Unit, scope.Exit[effect.Unit]) effect.Effect[effect.Unit] {
				return effect.YieldNow().AndThen(effect.SyncUnit(func() { alive-- }))
			})
		return effect.Scoped(effect.GenUnit(func(do *effect.Do) {
			m := do.Await(effect.MakeFiberMap[string, effect.Unit]())
			do.Await(m.Run("a", work))
			do.Await(m.Run("b", work, effect.StartLater()))
			do.Await(m.Run("a", work))
			do.Await(effect.YieldNow())
			do.Await(m.Remove("b"))
			do.Await(m.AwaitEmpty())
		}))
	}
	both(t, program, func(step int, out effect.RunReport[effect.Unit]) error {
		if out.Exit.IsAbsent() {
			return fmt.Errorf("never ended: %v", out.Report)
		}
		if alive != 0 {
			return fmt.Errorf("%d still alive", alive)
		}
		return nil
	})
}
