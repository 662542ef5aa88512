package docs_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// What a user pays after each edit is what the compiler makes of the user's package:
// of a generic type it compiles every plain method, for each type argument, and of a
// type that is reached it reads all fields and all signatures. It is counted in
// functions (text symbols), since a time depends on the machine.
func TestFunctionsCompiledForAProgram(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	programs := goBlock.FindAllSubmatch(readme, -1)
	o := newOverlay(t)
	for _, c := range []struct {
		what, pkg string
		most      int
	}{
		{"README's lease", o.add("compiled-lease", programs[0][1]), 700},
		{"README's lanes", o.add("compiled-lanes", programs[1][1]), 300},
		{"README's process lock", o.add("compiled-lock", programs[2][1]), 450},
		{"the worked port", "./examples/port", 1100},
	} {
		got := o.functions(c.pkg)
		t.Logf("%s: %d functions", c.what, got)
		if got > c.most {
			t.Errorf("%s: %d functions are compiled for it, want at most %d; see effect/onuse.go", c.what, got, c.most)
		}
	}

	few, many := o.functions(o.add("compiled-20", queries(20))), o.functions(o.add("compiled-40", queries(40)))
	each := float64(many-few) / 20
	t.Logf("a program of 40 result types: %d functions, %g for each type", many, each)
	if each > 35 {
		t.Errorf("%g functions are compiled for each result type, want at most 35", each)
	}
}

// functions counts the functions in the package's archive.
func (o *overlay) functions(pkg string) int {
	o.t.Helper()
	archive, err := o.command("list", "-export", "-f", "{{.Export}}", pkg).Output()
	if err != nil {
		o.t.Fatal(err, string(err.(*exec.ExitError).Stderr))
	}
	symbols, err := exec.Command("go", "tool", "nm", strings.TrimSpace(string(archive))).Output()
	if err != nil {
		o.t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(symbols)) {
		if fields := strings.Fields(line); len(fields) > 2 && strings.EqualFold(fields[1], "T") {
			n++
		}
	}
	return n
}

// queries is a program of n queries, each with a type of result of its own, as a server
// has them: what is read is given a time limit and a default, and a handler uses it.
func queries(n int) []byte {
	var b strings.Builder
	b.WriteString(`package main

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"github.com/rivus/tether/effect"
)
`)
	for i := range n {
		fmt.Fprintf(&b, `
type row%[1]d struct {
	name   string
	fields [%[2]d]int
}

func read%[1]d(id int) effect.Effect[row%[1]d] {
	return effect.Try(func() (row%[1]d, error) {
		if id < 0 {
			return row%[1]d{}, fs.ErrNotExist
		}
		return row%[1]d{name: fmt.Sprint(id)}, nil
	}).Timeout(time.Second).CatchTag(func(*fs.PathError) effect.Effect[row%[1]d] { return effect.Succeed(row%[1]d{}) })
}

func handle%[1]d(id int) effect.Effect[string] {
	return effect.Gen(func(do *effect.Do) string { return do.Await(read%[1]d(id)).name })
}
`, i, i+1)
	}
	b.WriteString("\nfunc main() {\n\tfmt.Println(effect.Run(context.Background(), effect.GenUnit(func(do *effect.Do) {\n")
	for i := range n {
		fmt.Fprintf(&b, "\t\tfmt.Println(do.Await(handle%[1]d(%[1]d)))\n", i)
	}
	b.WriteString("\t})))\n}\n")
	return []byte(b.String())
}
