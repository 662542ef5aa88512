package effect_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/sourcegraph/conc"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// raise panics in the line that it says.
func raise(at *string, value any) {
	_, file, line, _ := runtime.Caller(0)
	*at = fmt.Sprintf("%s:%d", file, line+2)
	panic(value)
}

// A defect that a panic raised says where, however it came to who hears of it: %v the
// line, %+v the stack from there on, slog both.
func TestADefectSaysWhere(t *testing.T) {
	var at string
	boom := effect.SyncUnit(func() { raise(&at, "boom") })
	var deep func(n int) effect.Effect[effect.Unit]
	deep = func(n int) effect.Effect[effect.Unit] {
		if n == 0 {
			return boom
		}
		return effect.Suspend(func() effect.Effect[effect.Unit] { return deep(n - 1) }).Map(func(u effect.Unit) effect.Unit { return u })
	}
	for name, program := range map[string]effect.Effect[effect.Unit]{
		"sync":        boom,
		"gen":         effect.GenUnit(func(do *effect.Do) { do.Await(boom) }),
		"in Gen":      effect.GenUnit(func(*effect.Do) { raise(&at, "boom") }),
		"a map":       effect.Void().Map(func(effect.Unit) effect.Unit { raise(&at, "boom"); return effect.Unit{} }),
		"deep":        deep(40_000),
		"a child":     effect.ForkChild(boom).FlatMap((*effect.Fiber[effect.Unit]).Join),
		"a racer":     boom.RaceFirst(effect.Never[effect.Unit]()),
		"all":         effect.AllDiscard([]effect.Effect[effect.Unit]{boom, effect.Never[effect.Unit]()}, effect.Unbounded),
		"blocking":    effect.Blocking(func(context.Context) (effect.Unit, error) { raise(&at, "boom"); return effect.Unit{}, nil }),
		"promise":     effect.TryPromise(func(context.Context) (effect.Unit, error) { raise(&at, "boom"); return effect.Unit{}, nil }),
		"a finalizer": effect.Scoped(effect.AddFinalizer(func(scope.Exit[any]) effect.Effect[effect.Unit] { return boom })),
		"conc": effect.SyncUnit(func() {
			var all conc.WaitGroup
			all.Go(func() { raise(&at, "boom") })
			all.Wait()
		}),
		"after another": effect.SyncUnit(func() {
			defer func() { raise(&at, "boom") }()
			panic("before")
		}),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := effect.Run(context.Background(), program)
			var defect *scope.Defect
			if !errors.As(err, &defect) || defect.Value != "boom" || defect.Panic == nil {
				t.Fatalf("%#v", err)
			}
			want := "defect: boom (" + at + ")"
			for verb, got := range map[string]string{
				"Error": err.Error(), "%v": fmt.Sprintf("%v", err), "%s": fmt.Sprintf("%s", err), "wrapped": fmt.Errorf("%w", err).Error(),
			} {
				if got != want {
					t.Errorf("%s: %s, want %s", verb, got, want)
				}
			}
			if got, want := fmt.Sprintf("%q", err), fmt.Sprintf("%q", want); got != want {
				t.Errorf("%%q: %s, want %s", got, want)
			}
			text := fmt.Sprintf("%+v", err)
			if !strings.HasPrefix(text, want+"\n\ngoroutine ") || !strings.Contains(text, "\n\t"+at) {
				t.Error(text)
			}
			// It begins where the panic was raised, as Go's own text does.
			if _, stack, _ := strings.Cut(text, ":\n"); !strings.HasPrefix(stack, "github.com/rivus/tether/effect_test.raise(") {
				t.Error(text)
			}
			var out bytes.Buffer
			slog.New(slog.NewTextHandler(&out, nil)).Error("over", "err", err)
			for _, part := range []string{"err.defect=boom", "err.at=" + at, `err.stack="goroutine `} {
				if !strings.Contains(out.String(), part) {
					t.Errorf("no %s in %s", part, out.String())
				}
			}
		})
	}
}

type record struct{ field int }

// So does one that the runtime raises; one that no panic raised has no place.
func TestWhereOfOtherDefects(t *testing.T) {
	var none *record
	_, file, line, _ := runtime.Caller(0)
	_, err := effect.Run(context.Background(), effect.Sync(func() int { return none.field }))
	if want := fmt.Sprintf("(%s:%d)", file, line+1); !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	// What an operator of this module raises is shown where the program's own code is.
	_, file, line, _ = runtime.Caller(0)
	_, err = effect.Run(context.Background(), effect.GenUnit(func(do *effect.Do) {
		do.Await(effect.BoundedPubSub[int](0))
	}))
	if want := fmt.Sprintf("(%s:%d)", file, line+2); !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	_, err = effect.Run(context.Background(), effect.Die[int](errors.New("boom")))
	for _, verb := range []string{"%v", "%+v"} {
		if got := fmt.Sprintf(verb, err); got != "defect: boom" {
			t.Errorf("%s: %s", verb, got)
		}
	}
	var out bytes.Buffer
	slog.New(slog.NewTextHandler(&out, nil)).Error("over", "err", err)
	if !strings.Contains(out.String(), "err.defect=boom\n") {
		t.Error(out.String())
	}
}

// An interruption says who asked.
func TestAnInterruptionSaysWho(t *testing.T) {
	for want, program := range map[string]effect.Effect[effect.Unit]{
		"interrupted by fiber #1": effect.GenUnit(func(do *effect.Do) {
			child := do.Await(effect.ForkChild(effect.Never[effect.Unit](), effect.StartImmediately()))
			do.Await(child.Interrupt())
			do.Await(child.Join())
		}),
		"interrupted by fibers #7, #8": effect.FailCause[effect.Unit](scope.CauseFromReasons(scope.Interrupt{By: 7}, scope.Interrupt{By: 8})),
		"interrupted from outside":     effect.FailCause[effect.Unit](scope.CauseInterrupt(0)),
		"interrupted by its FiberMap, FiberSet or FiberHandle": effect.FailCause[effect.Unit](
			scope.CauseInterrupt(effect.CollectionFiber)),
	} {
		_, err := effect.Run(context.Background(), program)
		if err == nil || err.Error() != want || !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
