package generate_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/rivus/tether/conformance/generate"
	"github.com/rivus/tether/conformance/grammar"
)

func TestProgramsAreWellFormedAndTheSameAgain(t *testing.T) {
	t.Parallel()
	for _, kind := range generate.Kinds() {
		for index := range uint64(2000) {
			program := generate.Program(kind, 1, index)
			if err := grammar.Check(program); err != nil {
				t.Fatalf("%s %d: %v", kind, index, err)
			}
			text, err := json.Marshal(program)
			if err != nil {
				t.Fatal(err)
			}
			var decoded any
			if err := json.Unmarshal(text, &decoded); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(program, decoded) {
				t.Fatalf("%s %d is not what its JSON is", kind, index)
			}
			if !reflect.DeepEqual(program, generate.Program(kind, 1, index)) {
				t.Fatalf("%s %d is another the second time", kind, index)
			}
		}
	}
}

func TestEveryOperationOccursInBothKinds(t *testing.T) {
	t.Parallel()
	for _, kind := range generate.Kinds() {
		uses := map[string]int{}
		for index := range uint64(3000) {
			grammar.Walk(generate.Program(kind, 2, index), func(expression []any) { uses[expression[0].(string)]++ })
		}
		for _, name := range grammar.Operations() {
			if uses[name] < 15 {
				t.Errorf("%s: %s occurs %d times", kind, name, uses[name])
			}
		}
	}
}

func TestSeedsAndIndicesGiveDifferentPrograms(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for seed := range uint64(20) {
		for index := range uint64(50) {
			for _, kind := range generate.Kinds() {
				text, err := json.Marshal(generate.Program(kind, seed, index))
				if err != nil {
					t.Fatal(err)
				}
				seen[string(text)] = true
			}
		}
	}
	if len(seen) != 2000 {
		t.Errorf("%d of 2000 programs are different", len(seen))
	}
}
