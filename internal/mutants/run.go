package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// runner compiles the mutants of a module and runs their checks.
type runner struct {
	root string
	// temp holds what is compiled and recorded.
	temp string
	// timeout bounds one run of a test program. A run that takes longer has
	// noticed the mutant.
	timeout time.Duration
	// binaries has the test program of each package, fresh the folder of fresh
	// programs of each seed and count.
	binaries map[string]string
	fresh    map[string]string
}

// compile makes the test programs that the checks need, with all mutants in them.
func (r *runner) compile(list []mutant, checks []check) error {
	files, err := together(r.root, list)
	if err != nil {
		return err
	}
	overlay, err := writeOverlay(r.root, r.temp, files)
	if err != nil {
		return err
	}
	for _, c := range checks {
		if r.binaries[c.pkg] != "" {
			continue
		}
		binary := filepath.Join(r.temp, "test"+strings.NewReplacer("/", "_", ".", "_").Replace(c.pkg)+".exe")
		// Without inlining the compiler takes a third of the time, and much less
		// memory.
		command := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay,
			"-gcflags=github.com/rivus/tether/...=-l", "-o", binary, c.pkg)
		command.Dir = r.root
		if output, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("the tests of %s do not compile with the mutants: %w\n%s", c.pkg, err, output)
		}
		r.binaries[c.pkg] = binary
	}
	return nil
}

// record makes the fresh programs that a differential check compares, with the
// answers of effect@4.1.0.
func (r *runner) record(c check) error {
	if !c.differential() || r.fresh[c.String()] != "" {
		return nil
	}
	dir := filepath.Join(r.temp, "fresh"+strings.ReplaceAll(c.String(), " ", "-"))
	// Half of them tame, half adversarial.
	command := exec.Command("go", "run", "./cmd/record", "-seed", strconv.FormatUint(c.seed, 10),
		"-count", strconv.Itoa(c.count/2), "-per-file", strconv.Itoa(c.count), "-out", dir)
	command.Dir = filepath.Join(r.root, "conformance")
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("fresh programs: %w\n%s", err, output)
	}
	r.fresh[c.String()] = dir
	return nil
}

// outcome is how a check ended.
type outcome struct {
	failed bool
	// first is the first test or program that failed, others how many more.
	first  string
	others int
	// passed and total count the vectors, where the check is about them.
	passed, total int
}

func (o outcome) String() string {
	switch {
	case !o.failed:
		return "nothing failed"
	case o.others > 0:
		return fmt.Sprintf("%s and %d more", o.first, o.others)
	}
	return o.first
}

// without is an outcome of recorded and fresh vectors without the recorded ones,
// whose outcome was that; fresh ones come first in a report.
func (o outcome) without(recorded outcome) outcome {
	if o.total == 0 {
		return o // it did not get as far as to count
	}
	o.others -= recorded.total - recorded.passed
	o.failed = o.others >= 0 && o.failed
	return o
}

// run runs a check with a mutant active, or with none for "". The error means
// that nothing was learned.
func (r *runner) run(c check, mutant string) (outcome, error) {
	ctx, cancel := context.WithTimeout(context.Background(), r.timeout+30*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, r.binaries[c.pkg], "-test.run", c.run, "-test.timeout", r.timeout.String())
	command.Dir = filepath.Join(r.root, filepath.FromSlash(c.pkg))
	command.Env = append(os.Environ(), activeEnv+"="+mutant, "EFFECT_VECTORS="+r.fresh[c.String()])
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return outcome{}, err
	}
	return judge(err == nil, output.String())
}

var (
	vectorsLine = regexp.MustCompile(`(?m)^vectors: (\d+) passed of (\d+)$`)
	vectorLine  = regexp.MustCompile(`(?m)^ +\w+_test\.go:\d+: (.+) \(\S+\.json(?:\.gz)?\)$`)
	failLine    = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)
)

// judge reads what a test program printed.
func judge(passed bool, output string) (outcome, error) {
	o := outcome{failed: !passed}
	if counts := vectorsLine.FindStringSubmatch(output); counts != nil {
		o.passed, _ = strconv.Atoi(counts[1])
		o.total, _ = strconv.Atoi(counts[2])
	}
	if passed {
		if strings.Contains(output, "warning: no tests to run") {
			return o, errors.New("no test has that name")
		}
		return o, nil
	}
	failed := failLine.FindAllStringSubmatch(output, -1)
	switch first := vectorLine.FindStringSubmatch(output); {
	case first != nil:
		o.first, o.others = first[1], o.total-o.passed-1
	case strings.Contains(output, "panic: test timed out"):
		o.first = "no end"
	case strings.Contains(output, "panic: ") || strings.Contains(output, "fatal error: "):
		o.first = "a crash"
	case len(failed) > 0:
		o.first, o.others = failed[0][1], len(failed)-1
	default:
		return o, fmt.Errorf("the tests ended without a verdict:\n%s", tail(output))
	}
	return o, nil
}

func tail(text string) string { return text[max(0, len(text)-2000):] }

// nodeMissing says why there can be no differential run here, or "".
func nodeMissing() string {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			return tool + " is missing"
		}
	}
	return ""
}
