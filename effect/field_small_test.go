package effect_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
)

// F65: annotations of a scope leave nothing behind in the services at hand.
func TestF65_ScopedAnnotationsLeaveNothing(t *testing.T) {
	program := effect.GenUnit(func(do *effect.Do) {
		before := do.Await(effect.Env()).Len()
		for range 100 {
			do.Await(effect.Scoped(effect.AnnotateLogsScoped("a", 1)))
		}
		if after := do.Await(effect.Env()).Len(); after != before {
			do.FailCause(scope.CauseDie(fmt.Sprintf("%d entries became %d", before, after)))
		}
	})
	onBoth(t, program, func(t *testing.T, exit scope.Exit[effect.Unit]) { succeeds(t, exit) })
}

// F67: the clock does not run over, the first attempt has the epoch, a cause without
// reasons is no error, and a report prints.
func TestF67_EdgesOfValues(t *testing.T) {
	d := scope.NewDeterministic(effect.DeterministicConfig{})
	clock := d.Clock().(*scope.VirtualClock)
	clock.Skip(time.Hour)
	clock.Skip(math.MaxInt64)
	if now := clock.Monotonic(); now != math.MaxInt64 {
		t.Errorf("it is %v", now)
	}
	out := effect.RunDeterministic(effect.CurrentScheduleMetadata.Get().Retry(effect.ScheduleForever()), effect.DeterministicConfig{})
	if m, _ := out.Exit.MustGet().Value(); m.Now.UnixMilli() != 0 || m.Start.UnixMilli() != 0 {
		t.Errorf("the first attempt: %v, %v", m.Start, m.Now)
	}
	if err := (*scope.Cause)(nil).Err(); err != nil {
		t.Errorf("no cause: %v", err)
	}
	if text := fmt.Sprintf("%v", effect.RunDeterministic(effect.Sleep(time.Second).As(7), effect.DeterministicConfig{})); !strings.HasPrefix(text, "Success(7) after 1s") {
		t.Errorf("printed %q", text)
	}
	stuck := effect.RunDeterministic(effect.Never[int](), effect.DeterministicConfig{})
	if text := fmt.Sprint(stuck); !strings.Contains(text, "no exit") || !strings.Contains(text, "waits for nothing (Never)") {
		t.Errorf("printed %q", text)
	}
}

// F69: the context of a TryPromise is cancelled when its run is cut off.
func TestF69_TryPromiseOfARunThatIsCutOff(t *testing.T) {
	cancelled := make(chan struct{})
	promise := effect.TryPromise(func(ctx context.Context) (int, error) {
		<-ctx.Done()
		close(cancelled)
		return 0, ctx.Err()
	})
	out := effect.RunDeterministic(effect.ForkChild(promise, effect.StartImmediately()).AndThen(effect.YieldNow().Forever()),
		effect.DeterministicConfig{MaxSteps: 1000})
	if !out.StepLimit {
		t.Fatal(out)
	}
	select {
	case <-cancelled:
	case <-time.After(20 * time.Second):
		t.Error("the context was not cancelled")
	}
}

// F69: a closed scope keeps none of its finalizers.
func TestF69_ClosedScopeKeepsNothing(t *testing.T) {
	for finalizers := 1; finalizers <= 3; finalizers++ {
		for _, strategy := range []scope.Strategy{scope.Sequential, scope.Parallelly} {
			s := scope.New(strategy)
			freed := make(chan struct{}, finalizers)
			program := effect.GenUnit(func(do *effect.Do) {
				for range finalizers {
					big := new([1 << 16]byte)
					runtime.AddCleanup(big, func(c chan struct{}) { c <- struct{}{} }, freed)
					do.Await(effect.AddFinalizerTo(s, func(scope.Exit[any]) effect.Effect[effect.Unit] {
						return effect.SyncUnit(func() { big[0]++ })
					}))
				}
				do.Await(effect.CloseScope(s, scope.ExitSucceed(0)))
			})
			if _, err := effect.Run(context.Background(), program); err != nil {
				t.Fatal(err)
			}
			for range finalizers {
				for i := 0; len(freed) == 0 && i < 1000; i++ {
					runtime.GC()
					runtime.Gosched()
				}
				select {
				case <-freed:
				default:
					t.Fatalf("strategy %d: one of %d is kept", strategy, finalizers)
				}
			}
			runtime.KeepAlive(s)
		}
	}
}

// F70: awaiting again in a defer, after a failure, does not undo it, and what is
// awaited there does not run.
func TestF70_AwaitInADeferAfterAFailure(t *testing.T) {
	ran := false
	program := effect.Gen(func(do *effect.Do) int {
		defer do.Await(effect.Void())
		defer func() {
			defer func() { _ = recover() }()
			do.Await(effect.SyncUnit(func() { ran = true }))
		}()
		do.Fail(errors.New("first"))
		return 1
	})
	onBoth(t, program, func(t *testing.T, exit scope.Exit[int]) {
		if err := exit.Err(); err == nil || err.Error() != "first" || ran {
			t.Errorf("%v, ran %v", exit, ran)
		}
	})
}

// F70: ForEachSeq counts its items.
func TestF70_ForEachSeqIndex(t *testing.T) {
	var got []int
	program := effect.ForEachSeq(slices.Values([]string{"a", "b", "c"}), func(_ string, i int) effect.Effect[effect.Unit] {
		return effect.SyncUnit(func() { got = append(got, i) })
	})
	onBoth(t, program, func(t *testing.T, exit scope.Exit[effect.Unit]) {
		if !slices.Equal(got, []int{0, 1, 2}) {
			t.Errorf("indices %v; %v", got, exit)
		}
		got = nil
	})
}

// F70: a report shows the line of the program, before those of this module.
func TestF70_ReportShowsTheProgramsLine(t *testing.T) {
	out := effect.RunDeterministic(effect.GenUnit(func(do *effect.Do) {
		do.Await(effect.NewDeferred[int]().Await())
	}), effect.DeterministicConfig{})
	_, file, line, _ := runtime.Caller(0)
	if want := fmt.Sprintf("%s:%d ", file, line-2); len(out.Stuck) != 1 || !strings.HasPrefix(out.Stuck[0].At[0], want) {
		t.Errorf("want %s in %v", want, out.Stuck)
	}
}

// F70: a reader of a ScopedRef sees one value or the other, and no half of both.
func TestF70_ScopedRefIsReadWhole(t *testing.T) {
	type wide [16]int
	of := func(n int) (w wide) {
		for i := range w {
			w[i] = n
		}
		return w
	}
	program := effect.Scoped(effect.GenUnit(func(do *effect.Do) {
		ref := do.Await(effect.AcquireScopedRef(effect.Succeed(of(0))))
		stop := make(chan struct{})
		torn := make(chan wide, 1)
		go func() {
			defer close(torn)
			for {
				select {
				case <-stop:
					return
				default:
				}
				if w := ref.Now(); w != of(w[0]) {
					torn <- w
					return
				}
			}
		}()
		for i := range 5000 {
			do.Await(ref.Set(effect.Succeed(of(i))))
		}
		close(stop)
		if w, ok := <-torn; ok {
			do.FailCause(scope.CauseDie(fmt.Sprint("read ", w)))
		}
	}))
	if _, err := effect.Run(context.Background(), program); err != nil {
		t.Fatal(err)
	}
}
