package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// markers are the lines between which a group's table stands.
func markers(group string) (begin, end string) {
	return "<!-- mutants: " + group + " -->\n", "<!-- end of mutants: " + group + " -->\n"
}

// row is a mutant and what caught it.
type row struct {
	mutant mutant
	caught string
}

// table is the rows of a group as Markdown, in order.
func table(group string, rows []row) string {
	var b strings.Builder
	b.WriteString("| mutant | the rule, and what the mutant makes of it | caught by |\n|---|---|---|\n")
	for _, r := range rows {
		if name, ok := strings.CutPrefix(r.mutant.name, group+"/"); ok {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", name, strings.ReplaceAll(r.mutant.rule, "|", `\|`), r.caught)
		}
	}
	return b.String()
}

// rewriteTables puts the groups' tables between their markers in docs/*.md. A
// group without markers is an error.
func rewriteTables(root string, groups []string, rows []row) error {
	paths, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return err
	}
	missing := map[string]bool{}
	for _, group := range groups {
		missing[group] = true
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		out := string(text)
		for _, group := range groups {
			begin, end := markers(group)
			before, rest, found := strings.Cut(out, begin)
			_, after, ended := strings.Cut(rest, end)
			if !found || !ended {
				continue
			}
			delete(missing, group)
			out = before + begin + "\n" + table(group, rows) + "\n" + end + after
		}
		if out == string(text) {
			continue
		}
		if err := os.WriteFile(path, []byte(out), 0o644); err != nil {
			return err
		}
	}
	for group := range missing {
		begin, _ := markers(group)
		return fmt.Errorf("no file in docs/ has the line %s", strings.TrimSpace(begin))
	}
	return nil
}
