package conformance_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rivus/tether/conformance"
	"github.com/rivus/tether/conformance/generate"
	"github.com/rivus/tether/conformance/grammar"
)

// defaultCount is the number of fresh programs that CI compares.
const defaultCount = 5000

// startOracle starts the oracle, or skips the test where this machine has no node.
func startOracle(t *testing.T) *conformance.Oracle {
	t.Helper()
	oracle, err := conformance.OpenOracle()
	require(t, err)
	t.Cleanup(func() {
		if err := oracle.Close(); err != nil {
			t.Error(err)
		}
	})
	return oracle
}

// require skips the test where this machine cannot run the oracle, and fails it if the oracle failed otherwise.
func require(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, conformance.ErrUnavailable) {
		t.Skipf("conformance with effect@4.1.0 is skipped: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// environment reads a number, so that `SEED=7 COUNT=50000 go test` works.
func environment(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

func TestOracleReproducesTheRecordedVectors(t *testing.T) {
	t.Parallel()
	oracle := startOracle(t)
	vectors, err := conformance.ReadVectors("../effect/testdata/vectors")
	if err != nil {
		t.Fatal(err)
	}
	// The recorded ones, and those that were found since.
	if len(vectors) < 1422 {
		t.Fatalf("there are only %d recorded vectors", len(vectors))
	}
	for _, vector := range vectors {
		if err := grammar.Check(vector.Program); err != nil {
			t.Errorf("%s: %v", vector.Name, err)
		}
		got, err := oracle.Run(vector.Program)
		if err != nil {
			t.Errorf("%s: %v", vector.Name, err)
		} else if !got.Equal(vector.Expect) {
			t.Errorf("%s:\n%s", vector.Name, conformance.Diff(vector.Expect, got))
		}
	}
}

func TestOracleKnowsTheGrammar(t *testing.T) {
	t.Parallel()
	const script = `import { operationNames } from "./oracle/interpret.mjs"; console.log(operationNames().join(" "))`
	dir, err := conformance.PrepareOracle()
	require(t, err)
	node := exec.Command("node", "--input-type=module", "--eval", script)
	node.Dir = dir
	output, err := node.Output()
	if err != nil {
		t.Fatal(err)
	}
	oracle, ours := strings.Fields(string(output)), grammar.Operations()
	slices.Sort(oracle)
	slices.Sort(ours)
	if !slices.Equal(oracle, ours) {
		t.Errorf("the oracle knows\n%v\nthe grammar\n%v", oracle, ours)
	}
}

func TestOracleAnswersInOrderAndGivesUpEndlessPrograms(t *testing.T) {
	t.Parallel()
	oracle := startOracle(t)
	var group sync.WaitGroup
	for i := range 200 {
		group.Go(func() {
			if i%10 == 0 {
				endless := []any{"forever", []any{[]string{"yield", "now"}[i/10%2]}}
				if _, err := oracle.Run(endless); err != conformance.ErrStepLimit {
					t.Errorf("an endless program gave %v", err)
				}
				return
			}
			got, err := oracle.Run([]any{"seq", []any{"sleep", float64(i)}, []any{"log", fmt.Sprint("n", i)}})
			if err != nil || got.Now != int64(i) || got.Trace[0] != fmt.Sprint("n", i) {
				t.Errorf("program %d gave %v, %v", i, got, err)
			}
		})
	}
	group.Wait()
}

func TestOracleRefusesWhatIsNoProgram(t *testing.T) {
	t.Parallel()
	oracle := startOracle(t)
	for _, program := range []any{nil, 1.0, []any{}, []any{"no such operation"}, []any{"exit", 1.0}} {
		if got, err := oracle.Run(program); err == nil {
			t.Errorf("%v gave %v", program, got)
		}
	}
	if err := oracle.Close(); err != nil {
		t.Error(err)
	}
	if _, err := oracle.Run([]any{"yield"}); err == nil {
		t.Error("a closed oracle answered")
	}
}

// The comparison itself is under test here: equal sides have no difference.
func TestEqualSidesDoNotDiffer(t *testing.T) {
	t.Parallel()
	oracle := startOracle(t)
	summary, err := conformance.Compare(conformance.Comparison{Oracle: oracle, Subject: oracle, Seed: 3, Count: 400})
	if err != nil {
		t.Fatal(err)
	}
	if len(summary.Differences) != 0 || summary.Same+summary.Skipped != 400 || summary.Skipped > 4 {
		t.Error(summary)
	}
}

// A subject that is wrong on purpose is found out, and the reports are small.
func TestWrongSubjectsAreFound(t *testing.T) {
	t.Parallel()
	oracle := startOracle(t)
	tests := map[string]struct {
		subject conformance.RunnerFunc
		// most is how many operations a minimal program may have.
		most int
	}{
		"onExit hides its finalizer": {rewriting(oracle, "onExit", func(e []any) any { return e[1] }), 3},
		"signal does nothing":        {rewriting(oracle, "signal", func([]any) any { return []any{"yield"} }), 8},
		"restore is interruptible":   {rewriting(oracle, "restore", func(e []any) any { return []any{"interruptible", e[1]} }), 8},
		"panics on a latch": {func(program any) (conformance.Result, error) {
			grammar.Walk(program, func(e []any) {
				if e[0] == "whenOpen" {
					panic("no latches")
				}
			})
			return oracle.Run(program)
		}, 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			summary, err := conformance.Compare(conformance.Comparison{
				Oracle: oracle, Subject: test.subject, Seed: 5, Count: 4000, MaxDifferences: 2,
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(summary.Differences) == 0 {
				t.Fatal("no difference was found")
			}
			for _, difference := range summary.Differences {
				operations := 0
				grammar.Walk(difference.Minimal, func([]any) { operations++ })
				if operations > test.most {
					t.Errorf("%d operations are left:\n%v", operations, difference)
				}
			}
		})
	}
}

// rewriting is a runner that does something else for an operation.
func rewriting(runner conformance.Runner, name string, instead func([]any) any) conformance.RunnerFunc {
	var rewrite func(any) any
	rewrite = func(node any) any {
		switch node := node.(type) {
		case []any:
			changed := make([]any, len(node))
			for i, child := range node {
				changed[i] = rewrite(child)
			}
			if len(changed) > 0 && changed[0] == name {
				return instead(changed)
			}
			return changed
		case map[string]any:
			changed := map[string]any{}
			for key, child := range node {
				changed[key] = rewrite(child)
			}
			return changed
		default:
			return node
		}
	}
	return func(program any) (conformance.Result, error) { return runner.Run(rewrite(program)) }
}

// The differential test: tether against effect@4.1.0 on fresh programs.
func TestDifferential(t *testing.T) {
	t.Parallel()
	seed, count := environment(t, "SEED", uint64(time.Now().UnixNano())), environment(t, "COUNT", defaultCount)
	summary, err := conformance.Compare(conformance.Comparison{
		Oracle: startOracle(t), Subject: subject, Seed: seed, Count: int(count),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("seed %d: %v", seed, summary)
	for _, difference := range summary.Differences {
		t.Error(difference)
	}
}

func TestRecordGivesTheSameAgain(t *testing.T) {
	t.Parallel()
	oracle := startOracle(t)
	for _, kind := range generate.Kinds() {
		var texts [2]strings.Builder
		for i := range texts {
			vectors, err := conformance.Record(oracle, kind, 9, 50)
			if err != nil {
				t.Fatal(err)
			}
			if err := conformance.WriteVectors(&texts[i], vectors); err != nil {
				t.Fatal(err)
			}
		}
		if texts[0].String() != texts[1].String() {
			t.Errorf("two recordings of %s programs differ", kind)
		}
	}
}
