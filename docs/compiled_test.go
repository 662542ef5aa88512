package docs_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// What a user pays after each edit is what the compiler makes of the user's package:
// of a generic type it compiles every plain method, for each type argument, and of a
// type that is reached it reads all fields and all signatures. It is counted in
// functions (text symbols), since a time depends on the machine. The goals are the
// most there may be; performance.md has what there is, give or take a tenth.
func TestFunctionsCompiledForAProgram(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	programs := goBlock.FindAllSubmatch(readme, -1)
	o := newOverlay(t)
	few, many := o.functions(o.add("compiled-20", queries(20))), o.functions(o.add("compiled-40", queries(40)))
	for _, c := range []struct {
		what      string
		got, goal int
	}{
		{"README's lease", o.functions(o.add("compiled-lease", programs[0][1])), 900},
		{"README's lanes", o.functions(o.add("compiled-lanes", programs[1][1])), 600},
		{"README's process lock", o.functions(o.add("compiled-lock", programs[2][1])), 655},
		{"the worked port", o.functions("./examples/port"), 8141 / 5},
		{"40 queries, each with a type of result of its own", many, 15864 / 5},
		{"each further type of result", (many - few + 19) / 20, 40},
	} {
		t.Logf("%s: %d functions", c.what, c.got)
		if c.got > c.goal {
			t.Errorf("%s: %d functions are compiled for it, the goal is %d; see effect/onuse.go", c.what, c.got, c.goal)
		}
		holdCompiled(t, c.what, c.got)
	}
}

// holdCompiled holds got against the table, or writes it there.
func holdCompiled(t *testing.T, what string, got int) {
	t.Helper()
	row := regexp.MustCompile(`(?m)^(\| ` + regexp.QuoteMeta(what) + ` \| [0-9,]+ \| )([0-9,]+) \|`)
	for _, file := range []string{"performance.md", "../bench/performance.md.tmpl"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := row.FindSubmatch(text)
		if found == nil {
			t.Errorf("%s has no row of %s", file, what)
			continue
		}
		said, _ := strconv.Atoi(strings.ReplaceAll(string(found[2]), ",", ""))
		if got*10 >= said*9 && got*10 <= said*11 {
			continue
		}
		if !*update {
			t.Errorf("%s says %d functions for %s, there are %d: go test ./docs -run TestFunctionsCompiled -update", file, said, what, got)
			continue
		}
		if err := os.WriteFile(file, row.ReplaceAll(text, []byte("${1}"+grouped(got)+" |")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// grouped is n as the table has it.
func grouped(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
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
