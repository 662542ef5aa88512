package main

import (
	"go/ast"
	"go/types"
	"strings"
	"testing"
)

func TestSites(t *testing.T) {
	t.Parallel()
	const text = `package p

import "fmt"

func f(a, b int, err error) (bool, error) {
	if a < b && a != 0 {
		a++
		defer g()
		fmt.Println("a" + "b")
	}
	for a > 7 {
		b = a
	}
	return a == b, err
}

func g() { panic("p" + "q") }

func (t T) String() string { return "s" + "t" }

type T struct{}
`
	s, err := parseSource(text)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	unit := &unit{
		listed: &listed{ImportPath: "p", GoFiles: []string{"p.go"}}, set: s.set, files: map[string]*source{"p.go": s}, info: info,
	}
	packages, err := listPackages("../..")
	if err != nil {
		t.Fatal(err)
	}
	unit.open = exports(packages)
	if err := unit.check("", "", info); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, site := range sites(s, info) {
		mutated := applyEdits(text, []edit{site.edit})
		if err := unit.check("p.go", mutated, nil); err != nil {
			t.Errorf("%s: %v", site.what, err)
		}
		got = append(got, site.kind+" "+text[site.from:site.to]+" -> "+site.text)
	}
	want := []string{
		"condition a < b && a != 0 -> !(a < b && a != 0)", "operator < -> <=", "operator < -> >", "operator && -> ||",
		"operator != -> ==", "number 0 -> (0 + 1)", "count ++ -> --", "left out defer g() -> if false { defer g() }",
		"loop a > 7 -> false && (a > 7)", "operator > -> >=", "operator > -> <", "number 7 -> (7 + 1)",
		"left out b = a -> if false { b = a }",
		"nil return a == b, err -> if _ = err; true { return a == b, nil }; return a == b, err",
		"result a == b -> !(a == b)", "operator == -> !=",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTheBestVerdictCounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		output string
		want   verdictKind
	}{
		{"--- FAIL: TestA (0.00s)\nFAIL\n", byAssertion},
		{"panic: oh\n\ngoroutine 1\n", byCrash},
		{"panic: test timed out after 1s\n", byTime},
	} {
		v, err := verdictOf("./p", false, c.output)
		if err != nil || v.kind != c.want {
			t.Errorf("%q: got %v, %v", c.output, v, err)
		}
	}
	if v, err := verdictOf("./p", true, "PASS\n"); err != nil || v.kind != survived {
		t.Errorf("got %v, %v", v, err)
	}
	caught, late := verdict{kind: byAssertion}, verdict{kind: byTime}
	if !caught.better(late) || late.better(caught) || late.better(late) {
		t.Error("an assertion says more than a time limit")
	}
}
