package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mutant is one fault.
type mutant struct {
	// name is GROUP/NAME.
	name string
	// rule says what holds and what the mutant makes of it.
	rule  string
	fails check
	files []filePatch
	// texts is what a random mutant makes of its file, in place of a patch.
	texts map[string]string
}

// check is what must fail with a mutant: a test, or the differential run.
type check struct {
	// pkg is a package as the go command takes it, run a -run pattern.
	pkg, run string
	// count, when positive, makes the test run count fresh programs of seed too.
	seed  uint64
	count int
}

// vectorsPackage and vectorsRun are the test that compares programs with what
// effect@4.1.0 did with them. EFFECT_VECTORS gives it more of them.
const (
	vectorsPackage = "./effect"
	vectorsRun     = "^TestVectors$"
)

func (c check) differential() bool { return c.count > 0 }

func (c check) String() string {
	if c.differential() {
		return fmt.Sprintf("differential %d %d", c.seed, c.count)
	}
	return c.pkg + " " + strings.Trim(c.run, "^$")
}

func parseCheck(text string) (check, error) {
	words := strings.Fields(text)
	if len(words) == 3 && words[0] == "differential" {
		seed, err := strconv.ParseUint(words[1], 10, 64)
		count, err2 := strconv.Atoi(words[2])
		if err == nil && err2 == nil && count > 0 {
			return check{pkg: vectorsPackage, run: vectorsRun, seed: seed, count: count}, nil
		}
	}
	if len(words) == 2 && strings.HasPrefix(words[0], "./") {
		c := check{pkg: words[0], run: words[1]}
		if c.run == "TestVectors" {
			// Not the tests whose names only begin so.
			c.run = vectorsRun
		}
		return c, nil
	}
	return check{}, fmt.Errorf("what fails is %q; it should be ./PACKAGE PATTERN or differential SEED COUNT", text)
}

// parseMutant reads a patch file.
func parseMutant(name, text string) (mutant, error) {
	m := mutant{name: name}
	head, diff, found := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	if !found || len(lines) != 2 || !strings.HasPrefix(lines[0], "Rule: ") || !strings.HasPrefix(lines[1], "Fails: ") {
		return m, fmt.Errorf("%s does not begin with Rule:, Fails: and an empty line", name)
	}
	m.rule = strings.TrimPrefix(lines[0], "Rule: ")
	var err error
	if m.fails, err = parseCheck(strings.TrimPrefix(lines[1], "Fails: ")); err == nil {
		m.files, err = parseDiff(diff)
	}
	if err != nil {
		return m, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// patchesDir is where the patches are, in the module.
const patchesDir = "internal/mutants"

// load reads all mutants of the module at root, by name.
func load(root string) ([]mutant, error) {
	paths, err := filepath.Glob(filepath.Join(root, patchesDir, "*", "*.patch"))
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	var list []mutant
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		group := filepath.Base(filepath.Dir(path))
		m, err := parseMutant(group+"/"+strings.TrimSuffix(filepath.Base(path), ".patch"), string(text))
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// choose is the mutants with the given names or groups; all without any.
func choose(list []mutant, names []string) ([]mutant, error) {
	if len(names) == 0 {
		return list, nil
	}
	var chosen []mutant
	for _, m := range list {
		if group, _, _ := strings.Cut(m.name, "/"); slices.Contains(names, m.name) || slices.Contains(names, group) {
			chosen = append(chosen, m)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(list, func(m mutant) bool { return m.name == name || strings.HasPrefix(m.name, name+"/") }) {
			return nil, fmt.Errorf("there is no mutant %s", name)
		}
	}
	return chosen, nil
}

// moduleRoot is the folder of this module's go.mod, at the working directory or
// above it.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, patchesDir, "mutant.go")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no %s in the working directory or above it", patchesDir)
		}
		dir = parent
	}
}
