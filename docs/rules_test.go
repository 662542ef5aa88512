package docs_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated tables of docs/ anew")

// The rules of the contract by their letters, and how many there are of each.
var rules = []struct {
	letter, of string
	count      int
}{
	{"L", "leases", 20},
	{"R", "repositories of leases", 8},
	{"N", "lanes", 15},
	{"K", "the process lock", 12},
	{"H", "liveness of holders", 2},
	{"P", "identity and files", 6},
	{"F", "failures met in the field", 38},
}

var ruleName = regexp.MustCompile(`(?:Test|\b)((?:[LRNKHPF][0-9]{1,2})+)\b`)

// testsOfRules finds the tests that name a rule, in their own name or in their
// comment.
func testsOfRules(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("../*/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.Base(filepath.Dir(file))
		for _, d := range tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "Test") && !strings.HasPrefix(fn.Name.Name, "Fuzz") {
				continue
			}
			text := strings.ReplaceAll(fn.Name.Name, "_", " ") + "\n" + fn.Doc.Text()
			// TestF28RacersThatEndTogether
			text = regexp.MustCompile(`^(Test[LRNKHPF][0-9]+)([A-Z])`).ReplaceAllString(text, "$1 $2")
			for _, m := range ruleName.FindAllStringSubmatch(text, -1) {
				for _, rule := range regexp.MustCompile(`[A-Z][0-9]+`).FindAllString(m[1], -1) {
					name := folder + "." + fn.Name.Name
					if !slices.Contains(found[rule], name) {
						found[rule] = append(found[rule], name)
					}
				}
			}
		}
	}
	return found
}

// Every rule of the contract and every case from the field has a test that names
// it, and docs/rules.md lists them.
func TestEveryRuleHasATest(t *testing.T) {
	found := testsOfRules(t)
	var b strings.Builder
	b.WriteString("# Which test shows what\n\n" +
		"The rules are those of the contract that this library keeps, the cases failures that people met with others of its kind. The\n" +
		"table is made by `go test ./docs -run TestEveryRule -update`, and checked by the same test.\n")
	for _, group := range rules {
		if group.letter == "F" {
			fmt.Fprintf(&b, "\n## F: %s\n\n| | the failure | shown by | what trying it here found, and what was mended |\n|---|---|---|---|\n", group.of)
		} else {
			fmt.Fprintf(&b, "\n## %s: %s\n\n| | the rule, in short | shown by |\n|---|---|---|\n", group.letter, group.of)
		}
		for i := range group.count {
			rule := fmt.Sprintf("%s%d", group.letter, i+1)
			tests := found[rule]
			if len(tests) == 0 {
				t.Errorf("no test names %s", rule)
			}
			slices.Sort(tests)
			shown := "`" + strings.Join(tests, "`, `") + "`"
			if group.letter == "F" {
				shown = fieldCases[i].what + " | " + shown + " | " + fieldCases[i].found
			} else {
				shown = contract[group.letter][i] + " | " + shown
			}
			fmt.Fprintf(&b, "| %s | %s |\n", rule, shown)
		}
	}
	const file = "rules.md"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(written) != b.String() {
		t.Errorf("%s is not what the tests say; make it anew: go test ./docs -run TestEveryRule -update", file)
	}
}
