package proptest

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
	"pgregory.net/rapid"
)

// ScheduleEnv is the environment variable that has Check run one schedule only.
const ScheduleEnv = "TETHER_SCHEDULE"

// CheckOption changes how Check runs a program.
type CheckOption func(*checkSettings)

type checkSettings struct {
	maxSteps    int
	cooperative bool
	start       time.Time
}

// MaxSteps is how many steps a run may take; more is a failure. The default is
// 100,000.
func MaxSteps(n int) CheckOption { return func(s *checkSettings) { s.maxSteps = n } }

// Cooperative lets fibers be switched only where they wait or let go, not before
// every step.
func Cooperative() CheckOption { return func(s *checkSettings) { s.cooperative = true } }

// StartAt is the wall clock's start. The default is the Unix epoch.
func StartAt(wall time.Time) CheckOption { return func(s *checkSettings) { s.start = wall } }

func checkSettingsOf(options []CheckOption) checkSettings {
	s := checkSettings{maxSteps: 100_000}
	for _, o := range options {
		o(&s)
	}
	return s
}

func (s checkSettings) deterministic(choose scope.Chooser) effect.DeterministicConfig {
	return effect.DeterministicConfig{
		Order: scope.ExploreOrder, Choose: choose, Preempt: !s.cooperative, MaxSteps: s.maxSteps, Start: s.start,
	}
}

// Check runs a program under as many schedules as -rapid.checks says, on the
// deterministic runtime: each time a fiber could go on, and before every step,
// rapid picks who does. The program is wrong when a run of it fails, dies, is
// interrupted, leaves a fiber waiting for ever, has a fiber die that nobody
// observes, or takes too many steps; what may fail goes through effect.Exit.
//
// program is called for each run and makes all its state anew. It must be the same
// each time; for input that varies see Explore.
//
// A failure is shrunk to a schedule with few switches, late ones. The report has
// the steps, fiber by fiber, and a command that runs just that schedule again. It
// costs two more runs for each that fails.
func Check[A any](t TB, program func() effect.Effect[A], options ...CheckOption) {
	t.Helper()
	s := checkSettingsOf(options)
	if text, replays := os.LookupEnv(ScheduleEnv); replays {
		schedule, err := ParseSchedule(text)
		if err != nil {
			t.Fatalf("%s: %v", ScheduleEnv, err)
		}
		verdict := judgeRun(runOnce(program, s.deterministic(schedule.Chooser())))
		t.Logf("%v", tracing[A]{program, s, schedule})
		if verdict.kind != "" {
			t.Fatalf("%v\n%s", verdict.kind, verdict.detail)
		}
		return
	}
	command := replayCommand(t)
	rapid.Check(t, func(t *rapid.T) { check(t, program, s, command) })
}

// Explore is one run of Check inside a property of rapid, under a schedule that
// is part of its case. It gives what the program succeeded with.
//
//	rapid.Check(t, func(t *rapid.T) {
//		n := rapid.IntRange(1, 4).Draw(t, "workers")
//		total := proptest.Explore(t, func() effect.Effect[int] { return count(n) })
//		...
//	})
func Explore[A any](t *rapid.T, program func() effect.Effect[A], options ...CheckOption) A {
	t.Helper()
	return check(t, program, checkSettingsOf(options), "")
}

func check[A any](t *rapid.T, program func() effect.Effect[A], s checkSettings, command string) A {
	t.Helper()
	got := explore(t, func(choose scope.Chooser) effect.RunReport[A] {
		return runOnce(program, s.deterministic(choose))
	})
	v := judgeRun(got.result)
	if v.kind == "" {
		value, _ := got.result.Exit.MustGet().Value()
		return value
	}
	reraise(got.result)
	// Rapid formats what is logged only when it reports.
	t.Logf("%v%s", tracing[A]{program, s, got.schedule}, v.detail)
	if command != "" {
		t.Logf("to run this schedule again:\n  %s=%v %s", ScheduleEnv, got.schedule, command)
	}
	// The same text for the same kind of failure, so that rapid goes on shrinking.
	t.Fatalf("%s", v.kind)
	panic("unreachable")
}

func runOnce[A any](program func() effect.Effect[A], o effect.DeterministicConfig) effect.RunReport[A] {
	return effect.RunDeterministic(effect.Suspend(program), o)
}

// reraise lets rapid's own panics pass, when the program drew while it ran.
func reraise[A any](out effect.RunReport[A]) {
	exit, _ := out.Exit.Get()
	for _, r := range exit.Cause().Reasons() {
		if die, ok := r.(scope.Die); ok && die.Defect != nil && reflect.TypeOf(die.Defect).PkgPath() == "pgregory.net/rapid" {
			panic(die.Defect)
		}
	}
}

// verdict is what was wrong with a run: the kind, which does not depend on the
// schedule, and the rest.
type verdict struct{ kind, detail string }

func judgeRun[A any](out effect.RunReport[A]) verdict {
	exit, ended := out.Exit.Get()
	switch {
	case out.StepLimit:
		return verdict{"the program takes too many steps", out.Report.String()}
	case !ended:
		return verdict{"the program is stuck", out.Report.String()}
	case exit.Cause().HasDies():
		die, _ := exit.Cause().Defect()
		return verdict{"the program died", fmt.Sprintf("%v\n%s", exit.Cause(), die.Stack())}
	case exit.IsFailure():
		return verdict{"the program failed", fmt.Sprintf("%v\n", exit.Cause())}
	case len(out.Unheard) > 0:
		u := out.Unheard[0]
		die, _ := u.Cause.Defect()
		return verdict{"a fiber died that nobody observes", fmt.Sprintf("fiber #%d: %v\n%s", u.Fiber, u.Cause, die.Stack())}
	case len(out.Stuck) > 0:
		return verdict{"a fiber is left waiting for ever", out.Report.String()}
	}
	return verdict{}
}

// replayCommand is the go test command for t, seen from the test's file.
func replayCommand(t TB) string {
	pattern := ""
	for part := range strings.SplitSeq(t.Name(), "/") {
		if pattern != "" {
			pattern += "/"
		}
		pattern += "^" + regexp.QuoteMeta(part) + "$"
	}
	dir := "."
	for skip := 2; ; skip++ {
		_, file, _, ok := runtime.Caller(skip)
		if !ok {
			break
		}
		if strings.HasSuffix(file, "_test.go") {
			dir = filepath.Dir(file)
			break
		}
	}
	return fmt.Sprintf("go test -v -run '%s' %s", pattern, dir)
}
