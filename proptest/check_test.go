package proptest_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/proptest"
	"pgregory.net/rapid"
)

// lostUpdate adds one in each of two fibers, with a step between read and write.
func lostUpdate() effect.Effect[effect.Unit] {
	value := 0
	add := effect.GenUnit(func(do *effect.Do) {
		read := value
		do.Await(effect.Void())
		value = read + 1
	})
	return effect.AllDiscard([]effect.Effect[effect.Unit]{add, add}, effect.Unbounded).AndThen(effect.Suspend(func() effect.Effect[effect.Unit] {
		if value != 2 {
			return effect.Fail[effect.Unit](fmt.Errorf("two fibers added one, and the sum is %d", value))
		}
		return effect.Void()
	}))
}

func TestCheckFindsALostUpdate(t *testing.T) {
	report := failing(t, func(t proptest.TB) { proptest.Check(t, lostUpdate) })
	mentions(t, report, "the program failed", "the sum is 1", "fiber #2", "check_test.go:18", "TETHER_SCHEDULE=", "go test -v -run '^TestCheckFindsALostUpdate$'")
	// The command's schedule runs it again, and shrinking left a switch or two.
	schedule := regexp.MustCompile(`TETHER_SCHEDULE=(\S+)`).FindStringSubmatch(report)[1]
	choices, err := proptest.ParseSchedule(schedule)
	if err != nil {
		t.Fatal(err)
	}
	switches := 0
	for _, choice := range choices {
		switches += min(choice, 1)
	}
	if switches < 1 || switches > 2 {
		t.Errorf("the schedule %v has %d switches", choices, switches)
	}
	t.Setenv(proptest.ScheduleEnv, schedule)
	again := failing(t, func(t proptest.TB) { proptest.Check(t, lostUpdate) })
	mentions(t, again, "the program failed", "the sum is 1")
	t.Setenv(proptest.ScheduleEnv, "-")
	proptest.Check(t, lostUpdate)
	t.Setenv(proptest.ScheduleEnv, "one")
	mentions(t, failing(t, func(t proptest.TB) { proptest.Check(t, lostUpdate) }), "a schedule is numbers")
}

func TestCheckFindsADeadlock(t *testing.T) {
	program := func() effect.Effect[effect.Unit] {
		a, b := effect.NewSemaphore(1), effect.NewSemaphore(1)
		both := func(first, second *effect.Semaphore) effect.Effect[effect.Unit] {
			return first.WithPermits(1, second.WithPermits(1, effect.Void()))
		}
		return effect.AllDiscard([]effect.Effect[effect.Unit]{both(a, b), both(b, a)}, effect.Unbounded)
	}
	report := failing(t, func(t proptest.TB) { proptest.Check(t, program) })
	mentions(t, report, "the program is stuck", "waits for")
}

func TestCheckSeesEveryKindOfFailure(t *testing.T) {
	never := effect.Never[effect.Unit]()
	for kind, program := range map[string]effect.Effect[effect.Unit]{
		"the program died":                  effect.SyncUnit(func() { panic("bug") }),
		"a fiber died that nobody observes": effect.ForkDetach(effect.Die[effect.Unit]("bug")).AsUnit(),
		"a fiber is left waiting for ever":  effect.ForkDetach(never).AsUnit(),
		"the program takes too many steps":  effect.YieldNow().Forever().Map(func(effect.Nothing) effect.Unit { return effect.Unit{} }),
	} {
		t.Run(kind, func(t *testing.T) {
			report := failing(t, func(t proptest.TB) {
				proptest.Check(t, func() effect.Effect[effect.Unit] { return program }, proptest.MaxSteps(300))
			})
			mentions(t, report, kind)
		})
	}
}

// Preemption finds what switching at waits does not.
func TestCheckCooperatively(t *testing.T) {
	proptest.Check(t, lostUpdate, proptest.Cooperative())
}

func TestExploreWithInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "workers")
		total := proptest.Explore(t, func() effect.Effect[int] {
			sum := effect.NewRef(0)
			add := sum.Update(func(v int) int { return v + 1 })
			return effect.ForEachDiscard(make([]int, n), func(int, int) effect.Effect[effect.Unit] { return add }, effect.Unbounded).
				AndThen(sum.Get())
		})
		if total != n {
			t.Fatalf("%d workers added up to %d", n, total)
		}
	})
}

func TestSchedules(t *testing.T) {
	for text, choices := range map[string][]int{"-": nil, "0.2.1": {0, 2, 1}, "3": {3, 0, 0}} {
		if got := proptest.Schedule(choices).String(); got != text {
			t.Errorf("%v is %q, not %q", choices, got, text)
		}
		parsed, err := proptest.ParseSchedule(text)
		if err != nil || parsed.String() != text {
			t.Errorf("%q is parsed as %v, %v", text, parsed, err)
		}
	}
	for _, text := range []string{"", ".", "1.", "-1", "a"} {
		if _, err := proptest.ParseSchedule(text); err == nil {
			t.Errorf("%q is a schedule", text)
		}
	}
	choose := proptest.Schedule{1, 9}.Chooser()
	if a, b, c := choose(2), choose(3), choose(5); a != 1 || b != 2 || c != 0 {
		t.Error(a, b, c)
	}
}
