package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	var c command
	flag.BoolVar(&c.list, "list", false, "print the mutants and what must fail with each")
	flag.BoolVar(&c.short, "short", false, "leave out the differential run, which needs node")
	flag.BoolVar(&c.table, "table", false, "write the tables in docs/ anew; vectors are counted, recorded and fresh ones")
	flag.StringVar(&c.overlay, "overlay", "", "only write this folder's overlay.json, with one mutant's change")
	flag.IntVar(&c.random, "random", 0, "try so many generated mutants in place of the kept ones")
	flag.Uint64Var(&c.seed, "seed", 1, "where random mutants begin")
	flag.DurationVar(&c.timeout, "timeout", 2*time.Minute, "how long one run of a test may take")
	flag.IntVar(&c.jobs, "j", runtime.GOMAXPROCS(0), "how many tests run at a time")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: mutants [flags] [GROUP|GROUP/NAME]...")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := c.run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

type command struct {
	list, short, table bool
	overlay            string
	timeout            time.Duration
	jobs               int
	random             int
	seed               uint64
}

// fresh is the differential run that -table counts for every mutant that the
// vectors catch.
var fresh = check{pkg: vectorsPackage, run: vectorsRun, seed: 1, count: 5000}

func (c command) run(names []string) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	if c.random > 0 {
		return c.proveRandom(root)
	}
	all, err := load(root)
	if err != nil {
		return err
	}
	list, err := choose(all, names)
	if err != nil {
		return err
	}
	switch {
	case c.list:
		for _, m := range list {
			fmt.Printf("%s\n    %s\n    fails: %v\n", m.name, m.rule, m.fails)
		}
		return nil
	case c.overlay != "":
		return c.writeOverlay(root, list)
	}
	return c.prove(root, list)
}

func (c command) writeOverlay(root string, list []mutant) error {
	if len(list) != 1 {
		return fmt.Errorf("-overlay takes one mutant, not %d", len(list))
	}
	files, err := list[0].mutated(root)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.overlay, 0o755); err != nil {
		return err
	}
	path, err := writeOverlay(root, c.overlay, files)
	if err != nil {
		return err
	}
	fmt.Printf("go test -overlay %s -run %s %s\n", path, list[0].fails.run, list[0].fails.pkg)
	return nil
}

// prove runs the mutants' checks. The error is that one did not fail.
func (c command) prove(root string, list []mutant) error {
	without := ""
	if c.short {
		without = "-short leaves it out"
	} else {
		without = nodeMissing()
	}
	if without != "" {
		if c.table {
			return fmt.Errorf("-table needs the differential run: %s", without)
		}
		kept := slices.DeleteFunc(slices.Clone(list), func(m mutant) bool { return m.fails.differential() })
		if n := len(list) - len(kept); n > 0 {
			fmt.Printf("skipped %d mutants that only the differential run catches: %s\n", n, without)
		}
		list = kept
	}
	temp, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	r := &runner{root: root, temp: temp, timeout: c.timeout, binaries: map[string]string{}, fresh: map[string]string{}}
	checks := c.checks(list)
	if err := r.compile(list, checks); err != nil {
		return err
	}
	for _, check := range checks {
		if err := r.record(check); err != nil {
			return err
		}
	}
	// What fails anyway catches nothing.
	for _, check := range checks {
		o, err := r.run(check, "")
		if err != nil {
			return fmt.Errorf("%v without a mutant: %w", check, err)
		}
		if o.failed {
			return fmt.Errorf("%v fails without a mutant: %v", check, o)
		}
	}
	rows, err := c.proveEach(r, list)
	if err != nil {
		return err
	}
	if c.table {
		return rewriteTables(root, groups(list), rows)
	}
	return nil
}

// checks are the different checks that list needs, in a stable order.
func (c command) checks(list []mutant) []check {
	var checks []check
	add := func(one check) {
		if !slices.Contains(checks, one) {
			checks = append(checks, one)
		}
	}
	for _, m := range list {
		for _, one := range c.checksOf(m) {
			add(one)
		}
	}
	return checks
}

// checksOf are a mutant's own check and, for a table about vectors, the other
// kind too.
func (c command) checksOf(m mutant) []check {
	if !c.table || m.fails.pkg != vectorsPackage || m.fails.run != vectorsRun {
		return []check{m.fails}
	}
	recorded := check{pkg: vectorsPackage, run: vectorsRun}
	if m.fails.differential() {
		return []check{recorded, m.fails}
	}
	return []check{recorded, fresh}
}

func groups(list []mutant) []string {
	var found []string
	for _, m := range list {
		if group, _, _ := strings.Cut(m.name, "/"); !slices.Contains(found, group) {
			found = append(found, group)
		}
	}
	return found
}

// proveEach runs the checks of every mutant, several at a time, and prints what
// caught it.
func (c command) proveEach(r *runner, list []mutant) ([]row, error) {
	var (
		group   sync.WaitGroup
		printer sync.Mutex
		missed  []string
		failure error
	)
	rows := make([]row, len(list))
	places := make(chan struct{}, max(1, c.jobs))
	for i, m := range list {
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			caught, ok, err := c.catch(r, m)
			printer.Lock()
			defer printer.Unlock()
			switch {
			case err != nil:
				failure = fmt.Errorf("%s: %w", m.name, err)
			case !ok:
				missed = append(missed, m.name)
				fmt.Printf("MISSED  %-44s %v passes (%s)\n", m.name, m.fails, caught)
			default:
				fmt.Printf("caught  %-44s %s\n", m.name, caught)
			}
			rows[i] = row{m, caught}
		})
	}
	group.Wait()
	switch {
	case failure != nil:
		return nil, failure
	case len(missed) > 0:
		return rows, fmt.Errorf("%d of %d mutants were not caught: %s", len(missed), len(list), strings.Join(missed, " "))
	}
	fmt.Printf("all %d mutants were caught\n", len(list))
	return rows, nil
}

// catch runs a mutant's checks and says what failed. ok tells that its own check
// did.
func (c command) catch(r *runner, m mutant) (caught string, ok bool, err error) {
	var parts []string
	recorded := outcome{}
	for _, one := range c.checksOf(m) {
		o, err := r.run(one, m.name)
		if err != nil {
			return "", false, err
		}
		if one.differential() {
			o = o.without(recorded)
		} else {
			recorded = o
		}
		if one == m.fails {
			ok = o.failed
		}
		if !o.failed {
			continue
		}
		what := strings.Trim(one.run, "^$")
		if one.differential() {
			what = "fresh programs"
		}
		parts = append(parts, fmt.Sprintf("%s: %v", what, o))
	}
	if len(parts) == 0 {
		return "nothing failed", ok, nil
	}
	return strings.Join(parts, "; "), ok, nil
}
