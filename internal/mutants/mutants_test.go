package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func everyMutant(t *testing.T) (root string, list []mutant) {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	if list, err = load(root); err != nil {
		t.Fatal(err)
	}
	return root, list
}

func TestEveryPatchApplies(t *testing.T) {
	t.Parallel()
	root, list := everyMutant(t)
	for _, m := range list {
		if _, err := m.mutated(root); err != nil {
			t.Error(err)
		}
		if _, err := together(root, []mutant{m}); err != nil {
			t.Error(err)
		}
	}
	if len(list) < 34 {
		t.Errorf("there are %d mutants", len(list))
	}
}

// The tests that must fail are not run here: that is what the command is for.
func TestEveryMutantCompiles(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the module's packages")
	}
	t.Parallel()
	root, list := everyMutant(t)
	files, err := together(root, list)
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := writeOverlay(root, t.TempDir(), files)
	if err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", append([]string{"build", "-gcflags=github.com/rivus/tether/...=-l", "-overlay", overlay}, packages(list)...)...)
	build.Dir = root
	if output, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

// Every check names a test that exists, so that a test's new name does not leave
// a mutant unwatched until the command runs.
func TestEveryCheckNamesTests(t *testing.T) {
	t.Parallel()
	root, list := everyMutant(t)
	sources := map[string]string{}
	for _, m := range list {
		if _, known := sources[m.fails.pkg]; !known {
			paths, err := filepath.Glob(filepath.Join(root, m.fails.pkg, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range paths {
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				sources[m.fails.pkg] += string(text)
			}
		}
		for _, name := range strings.Split(strings.Trim(m.fails.run, "^$"), "|") {
			name, _, _ = strings.Cut(name, "/")
			if !strings.Contains(sources[m.fails.pkg], "func "+strings.Trim(name, "^$()")) {
				t.Errorf("%s: %s has no test %s", m.name, m.fails.pkg, name)
			}
		}
	}
}

func TestTheTablesListEveryMutant(t *testing.T) {
	t.Parallel()
	root, list := everyMutant(t)
	paths, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	var docs strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		docs.Write(text)
	}
	for _, group := range groups(list) {
		begin, end := markers(group)
		_, rest, found := strings.Cut(docs.String(), begin)
		table, _, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Errorf("no table in docs/ for %s", group)
			continue
		}
		rows := 0
		for _, m := range list {
			if name, ok := strings.CutPrefix(m.name, group+"/"); ok {
				rows++
				if !strings.Contains(table, "| "+name+" | "+m.rule+" | ") {
					t.Errorf("%s is not in its table; go run ./internal/mutants -table %s", m.name, group)
				}
			}
		}
		if got := strings.Count(table, "\n| ") - 1; got != rows {
			t.Errorf("the table of %s has %d rows for %d mutants", group, got, rows)
		}
	}
}
