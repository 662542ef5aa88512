package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// verdict is how the tests took a random mutant.
type verdict struct {
	kind verdictKind
	by   string
}

type verdictKind string

const (
	byAssertion verdictKind = "caught"
	byCrash     verdictKind = "crashed"
	byTime      verdictKind = "no end"
	survived    verdictKind = "SURVIVED"
)

// better reports whether v says more than the verdict w of another package.
func (v verdict) better(w verdict) bool {
	order := []verdictKind{survived, byTime, byCrash, byAssertion}
	return slices.Index(order, v.kind) > slices.Index(order, w.kind)
}

// verdictOf reads what the tests of a package printed.
func verdictOf(pkg string, passed bool, output string) (verdict, error) {
	o, err := judge(passed, output)
	switch {
	case err != nil:
		return verdict{}, err
	case !o.failed:
		return verdict{kind: survived}, nil
	case o.first == "no end":
		return verdict{byTime, pkg}, nil
	case o.first == "a crash":
		return verdict{byCrash, pkg}, nil
	}
	return verdict{byAssertion, pkg + " " + o.first}, nil
}

// proveRandom tries random mutants and prints what became of each.
func (c command) proveRandom(root string) error {
	list, err := generate(root, c.random, c.seed)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	r := &runner{root: root, temp: temp, timeout: c.timeout, binaries: map[string]string{}}
	var mutants []mutant
	var checks []check
	for _, m := range list {
		mutants = append(mutants, m.mutant)
		for _, pkg := range m.tests {
			if one := (check{pkg: pkg, run: "."}); !slices.Contains(checks, one) {
				checks = append(checks, one)
			}
		}
	}
	if err := r.compile(mutants, checks); err != nil {
		return err
	}
	// What fails anyway (a count of allocations, since nothing is inlined) catches
	// nothing.
	skip := map[string]string{}
	for _, one := range checks {
		_, output, err := r.runAll(one.pkg, "", "", false)
		if err != nil {
			return err
		}
		var names []string
		for _, found := range failLine.FindAllStringSubmatch(output, -1) {
			names = append(names, regexp.QuoteMeta(found[1]))
		}
		if names != nil {
			skip[one.pkg] = "^(" + strings.Join(names, "|") + ")$"
			fmt.Printf("left out of %s, as they fail without a mutant: %s\n", one.pkg, strings.Join(names, " "))
		}
	}
	verdicts := make([]verdict, len(list))
	var (
		group   sync.WaitGroup
		printer sync.Mutex
		failure error
	)
	places := make(chan struct{}, max(1, c.jobs))
	for i, m := range list {
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			v, err := r.try(m, skip)
			printer.Lock()
			defer printer.Unlock()
			if err != nil {
				failure = fmt.Errorf("%s: %w", m.mutant.name, err)
			}
			verdicts[i] = v
			fmt.Printf("%-8s %s\n         %s\n         %s\n", v.kind, m.mutant.name, m.mutant.rule, v.by)
		})
	}
	group.Wait()
	counts := map[verdictKind]int{}
	for _, v := range verdicts {
		counts[v.kind]++
	}
	fmt.Printf("of %d random mutants of seed %d: %d caught, %d crashed, %d without an end, %d survived\n",
		len(list), c.seed, counts[byAssertion], counts[byCrash], counts[byTime], counts[survived])
	return failure
}

// try runs the tests of the packages that may notice m until one fails by an
// assertion.
func (r *runner) try(m random, skip map[string]string) (verdict, error) {
	best := verdict{kind: survived}
	for _, pkg := range m.tests {
		passed, output, err := r.runAll(pkg, m.mutant.name, skip[pkg], true)
		if err != nil {
			return best, err
		}
		v, err := verdictOf(pkg, passed, output)
		if err != nil {
			return best, err
		}
		if v.better(best) {
			best = v
		}
		if v.kind == byAssertion {
			break
		}
	}
	return best, nil
}

// runAll runs a package's tests but those that skip matches.
func (r *runner) runAll(pkg, mutant, skip string, failFast bool) (passed bool, output string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), r.timeout+30*time.Second)
	defer cancel()
	args := []string{"-test.short", "-test.timeout", r.timeout.String()}
	if failFast {
		args = append(args, "-test.failfast")
	}
	if skip != "" {
		args = append(args, "-test.skip", skip)
	}
	command := exec.CommandContext(ctx, r.binaries[pkg], args...)
	command.Dir = filepath.Join(r.root, filepath.FromSlash(pkg))
	command.Env = append(os.Environ(), activeEnv+"="+mutant)
	var buffer bytes.Buffer
	command.Stdout, command.Stderr = &buffer, &buffer
	err = command.Run()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		return false, "", err
	}
	return err == nil, buffer.String(), nil
}
