package shrink_test

import (
	"encoding/json"
	"testing"

	"github.com/rivus/tether/conformance/generate"
	"github.com/rivus/tether/conformance/grammar"
	"github.com/rivus/tether/conformance/shrink"
)

func encode(t *testing.T, program any) string {
	t.Helper()
	text, err := json.Marshal(program)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// has is a predicate on the operations that a program has.
func has(names ...string) func(any) bool {
	return func(program any) bool {
		uses := map[string]bool{}
		grammar.Walk(program, func(expression []any) { uses[expression[0].(string)] = true })
		for _, name := range names {
			if !uses[name] {
				return false
			}
		}
		return true
	}
}

func TestMinimizeKeepsOnlyWhatMatters(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		program string
		differs func(any) bool
		want    string
	}{
		"a subexpression": {
			`["seq",["log","a"],["exit",["scoped",["seq",["log","b"],["uninterruptible",["yield"]]]]]]`,
			has("yield"), `["yield"]`,
		},
		"two of a list": {
			`["seq",["log","a"],["yield"],["log","b"],["now"],["log","c"]]`,
			has("yield", "now"), `["seq",["yield"],["now"]]`,
		},
		"numbers and options": {
			`["fork","f",["sleep",50],{"kind":"detach","immediate":true}]`,
			has("fork", "sleep"), `["fork","f",["sleep",0]]`,
		},
		"a mask keeps its restore": {
			`["mask",["seq",["log","a"],["restore",["log","b"]],["log","c"]]]`,
			has("restore"), `["mask",["restore",["succeed",null]]]`,
		},
		"inside a callback": {
			`["callback",{"name":"c","ms":10,"result":["fail","E1"],"cancel":["seq",["log","a"],["yield"]]}]`,
			has("yield"), `["yield"]`,
		},
		"schedules": {
			`["repeatSchedule",["now"],["max",[["min",[["fixed",10],["once"]]],["recurs",3]]]]`,
			has("repeatSchedule"), `["repeatSchedule",["succeed",null],["recurs",0]]`,
		},
		"layers": {
			`["provideLayer",["merge",["provide",["l","b"],["l","a"]],["fresh",["l","c"]]],["service","A"]]`,
			has("provideLayer"), `["provideLayer",["l","b"],["succeed",null]]`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var program any
			if err := json.Unmarshal([]byte(test.program), &program); err != nil {
				t.Fatal(err)
			}
			minimal, _ := shrink.Minimize(program, 0, test.differs)
			if got := encode(t, minimal); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if encode(t, program) != test.program && encode(t, program) == encode(t, minimal) {
				t.Error("the program itself was changed")
			}
		})
	}
}

func TestMinimizeIsDeterministicAndBounded(t *testing.T) {
	t.Parallel()
	differs := has("onExit", "signal")
	for index := range uint64(300) {
		program := generate.Program(generate.Adversarial, 4, index)
		if !differs(program) {
			continue
		}
		before := encode(t, program)
		first, asked := shrink.Minimize(program, 0, differs)
		second, _ := shrink.Minimize(program, 0, differs)
		if encode(t, first) != encode(t, second) {
			t.Fatalf("program %d shrinks to\n%s\nand to\n%s", index, encode(t, first), encode(t, second))
		}
		if asked > shrink.Limit || !differs(first) || encode(t, program) != before {
			t.Fatalf("program %d: asked %d times, %s", index, asked, encode(t, first))
		}
		if _, asked := shrink.Minimize(program, 7, differs); asked > 7 {
			t.Fatalf("asked %d times", asked)
		}
	}
}
