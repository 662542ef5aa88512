package effect_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/internal/vectors"
	"github.com/rivus/tether/scope"
)

// recorded is a program of the collections with what effect@4.1.0 did. The
// conformance format has only the main operations of queues, and none of PubSub,
// ScopedRef and results that expire; testdata/collections/record.mjs runs these
// programs there.
type recorded struct {
	Setup  []any           `json:"setup"`
	Fibers []recordedFiber `json:"fibers"`
	Trace  []string        `json:"trace,omitempty"`
	Now    int64           `json:"now"`
}

type recordedFiber struct {
	Now bool  `json:"now"`
	Ops []any `json:"ops"`
}

// Each recorded program gives the same trace and time as on effect@4.1.0.
func TestCollectionsRecorded(t *testing.T) {
	file, err := os.Open("testdata/collections/recorded.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	n, bad := 0, 0
	for dec := json.NewDecoder(unzipped); dec.More(); n++ {
		var p recorded
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if diff := compareRecorded(p); diff != "" {
			if bad++; bad <= 5 {
				t.Errorf("program %d:\n%s", n, diff)
			}
		}
	}
	if n < 1000 {
		t.Fatalf("only %d programs", n)
	}
	t.Logf("collections: %d passed of %d", n-bad, n)
}

func compareRecorded(p recorded) string {
	trace, now := runRecorded(p)
	if slices.Equal(trace, p.Trace) && now == p.Now {
		return ""
	}
	program, _ := json.Marshal(recorded{Setup: p.Setup, Fibers: p.Fibers})
	return vectors.Diff(vectors.Result{Trace: p.Trace, Now: p.Now}, vectors.Result{Trace: trace, Now: now}) + "  " + string(program)
}

type (
	anyEffect   = effect.Effect[any]
	cachePair   = effect.Pair[anyEffect, effect.Effect[effect.Unit]]
	recordedRun struct {
		trace []string
		names map[string]any
	}
)

func runRecorded(p recorded) ([]string, int64) {
	r := &recordedRun{names: map[string]any{}}
	main := effect.Void()
	for _, op := range p.Setup {
		main = main.AndThen(r.compile(op).AsUnit())
	}
	for i, fiber := range p.Fibers {
		var opts []effect.ForkOption
		if fiber.Now {
			opts = append(opts, effect.StartImmediately())
		}
		main = main.AndThen(effect.ForkDetach(r.body(i, fiber), opts...).
			Map(func(fb *effect.Fiber[effect.Unit]) effect.Unit {
				r.names[fmt.Sprintf("fiber%d", i)] = fb
				return effect.Unit{}
			}))
	}
	out := effect.RunDeterministic(main, scope.DeterministicConfig{MaxSteps: 100_000, OnEnd: func(main *scope.Fiber) {
		c, _ := main.Exited()
		r.log("main:%s", exitString(scope.NewExit(effect.Unit{}, c)))
	}})
	return r.trace, out.Now.Milliseconds()
}

func (r *recordedRun) log(format string, a ...any) {
	r.trace = append(r.trace, fmt.Sprintf(format, a...))
}

func exitString[A any](e scope.Exit[A]) string { return vectors.ExitText(plainExit(e)) }

func plainExit[A any](e scope.Exit[A]) scope.Exit[any] {
	v, ok := e.Value()
	if !ok {
		return scope.ExitFailCause[any](e.Cause())
	}
	switch v := any(v).(type) {
	case effect.Unit:
		return scope.ExitSucceed[any](nil)
	default:
		return scope.ExitSucceed[any](v)
	}
}

func (r *recordedRun) body(i int, fiber recordedFiber) effect.Effect[effect.Unit] {
	e := effect.Void()
	for j, op := range fiber.Ops {
		name := op.([]any)[0]
		compiled := r.compile(op)
		e = e.AndThen(effect.Exit(compiled).FlatMap(func(exit scope.Exit[any]) effect.Effect[effect.Unit] {
			return effect.SyncUnit(func() { r.log("%d.%d:%s:%s", i, j, name, vectors.ExitText(exit)) })
		}))
	}
	return e.OnExit(func(exit scope.Exit[effect.Unit]) effect.Effect[effect.Unit] {
		return effect.SyncUnit(func() { r.log("%d:%s", i, exitString(exit)) })
	})
}

func on[T any](r *recordedRun, name any, use func(T) anyEffect) anyEffect {
	return effect.Suspend(func() anyEffect {
		v, ok := r.names[name.(string)].(T)
		if !ok {
			panic(fmt.Errorf("unbound %v", name))
		}
		return use(v)
	})
}

func bindName[T any](r *recordedRun, name any, e effect.Effect[T]) anyEffect {
	return e.Map(func(v T) any {
		r.names[name.(string)] = v
		return nil
	})
}

func widened[T any](e effect.Effect[T]) anyEffect {
	return e.Map(func(v T) any {
		switch v := any(v).(type) {
		case effect.Unit:
			return nil
		default:
			return v
		}
	})
}
