package effect_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// repetition is a program that logs its runs, as the script that told what
// effect@4.1.0 does with it: the run, then attempt, input and output of the
// current metadata.
type repetition struct {
	lines []string
	runs  int
}

func (r *repetition) say(format string, a ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, a...))
}

func (r *repetition) work(what func(run int) effect.Effect[int]) effect.Effect[int] {
	return effect.CurrentScheduleMetadata.Get().FlatMap(func(m effect.ScheduleMetadata[any]) effect.Effect[int] {
		shown := func(v any) any {
			if v == nil {
				return "-"
			}
			return v
		}
		run := r.runs
		r.runs++
		r.say("run:%d:%d:%v:%v", run, m.Attempt, shown(m.Input), shown(m.Output))
		return what(run)
	})
}

func failRun(run int) effect.Effect[int] { return effect.Fail[int](fmt.Errorf("e%d", run)) }

// failingFrom succeeds before run n.
func failingFrom(n int) func(int) effect.Effect[int] {
	return func(run int) effect.Effect[int] {
		if run < n {
			return effect.Succeed(run)
		}
		return failRun(run)
	}
}

func twoFailures(int) effect.Effect[int] {
	return effect.FailCause[int](scope.CauseFromReasons(scope.Fail{Err: errors.New("a")}, scope.Fail{Err: errors.New("b")}))
}

func failureAndDefect(int) effect.Effect[int] {
	return effect.FailCause[int](scope.CauseFromReasons(scope.Fail{Err: errors.New("a")}, scope.Die{Defect: "d"}))
}

func endOf[A any](e effect.Effect[A]) string {
	exit := effect.RunDeterministic(e, effect.DeterministicConfig{}).Exit.MustGet()
	if v, ok := exit.Value(); ok {
		return fmt.Sprintf("ok %v", v)
	}
	var parts []string
	for _, reason := range exit.Cause().Reasons() {
		switch reason := reason.(type) {
		case scope.Fail:
			parts = append(parts, "Fail "+reason.Err.Error())
		case scope.Die:
			parts = append(parts, fmt.Sprint("Die ", reason.Defect))
		default:
			parts = append(parts, reason.String())
		}
	}
	return strings.Join(parts, "+")
}

func TestRetryAndRepeatAreEffects(t *testing.T) {
	orElse := func(err error, last mo.Option[effect.ScheduleMetadata[int]]) effect.Effect[int] {
		m, ok := last.Get()
		return effect.Fail[int](fmt.Errorf("%v %v %d %v %d", err, ok, m.Attempt, m.Input, m.Output))
	}
	for _, c := range []struct {
		name string
		run  func(r *repetition) string
		want string
	}{
		{"retry recurs", func(r *repetition) string {
			return endOf(r.work(failRun).Retry(effect.ScheduleRecurs(2)))
		}, "run:0:0:-:- run:1:1:e0:0 run:2:2:e1:1 => Fail e2"},
		{"retry times 0", func(r *repetition) string {
			return endOf(effect.RetryWith(r.work(failRun), effect.RetryConfig{Times: mo.Some(0)}))
		}, "run:0:0:-:- => Fail e0"},
		{"retry while", func(r *repetition) string {
			return endOf(effect.RetryWith(r.work(failRun), effect.RetryConfig{Times: mo.Some(5), While: func(err error) bool {
				r.say("while:%v", err)
				return err.Error() != "e2"
			}}))
		}, "run:0:0:-:- while:e0 run:1:1:e0:e0 while:e1 run:2:2:e1:e1 while:e2 => Fail e2"},
		{"retry until", func(r *repetition) string {
			return endOf(effect.RetryWith(r.work(failRun), effect.RetryConfig{Until: func(err error) bool {
				r.say("until:%v", err)
				return err.Error() == "e1"
			}}))
		}, "run:0:0:-:- until:e0 run:1:1:e0:e0 until:e1 => Fail e1"},
		{"retry asks while, until, times", func(r *repetition) string {
			return endOf(effect.RetryWith(r.work(failRun), effect.RetryConfig{
				Times: mo.Some(1),
				While: func(err error) bool { r.say("while:%v", err); return true },
				UntilEffect: func(err error) effect.Effect[bool] {
					return effect.Sync(func() bool { r.say("until:%v", err); return false })
				},
			}))
		}, "run:0:0:-:- while:e0 until:e0 run:1:1:e0:e0 while:e1 until:e1 => Fail e1"},
		{"retry asks the schedule first", func(r *repetition) string {
			return endOf(effect.RetryWith(r.work(failRun), effect.RetryConfig{
				Schedule: effect.ScheduleRecurs(1),
				While:    func(err error) bool { r.say("while:%v", err); return true },
			}))
		}, "run:0:0:-:- while:e0 run:1:1:e0:e0 => Fail e1"},
		{"retry whose predicate fails", func(r *repetition) string {
			return endOf(effect.RetryWith(r.work(failRun), effect.RetryConfig{WhileEffect: func(err error) effect.Effect[bool] {
				return effect.Fail[bool](fmt.Errorf("pred:%w", err))
			}}))
		}, "run:0:0:-:- => Fail pred:e0"},
		{"retry whose predicate panics", func(r *repetition) string {
			return endOf(effect.RetryWith(r.work(failRun), effect.RetryConfig{While: func(error) bool { panic("boom") }}))
		}, "run:0:0:-:- => Die boom"},
		{"retry until it succeeds", func(r *repetition) string {
			return endOf(r.work(func(run int) effect.Effect[int] {
				if run < 2 {
					return failRun(run)
				}
				return effect.Succeed(run)
			}).Retry(effect.ScheduleForever()))
		}, "run:0:0:-:- run:1:1:e0:0 run:2:2:e1:1 => ok 2"},
		{"retry of a defect", func(r *repetition) string {
			return endOf(r.work(func(int) effect.Effect[int] { return effect.Die[int]("d") }).Retry(effect.ScheduleRecurs(2)))
		}, "run:0:0:-:- => Die d"},
		{"retry of two failures", func(r *repetition) string {
			return endOf(r.work(twoFailures).Retry(effect.ScheduleRecurs(1)))
		}, "run:0:0:-:- run:1:1:a:0 => Fail a"},
		{"retry of a failure beside a defect", func(r *repetition) string {
			return endOf(r.work(failureAndDefect).Retry(effect.ScheduleRecurs(1)))
		}, "run:0:0:-:- => Die a+Die d"},
		{"retryOrElse", func(r *repetition) string {
			return endOf(r.work(failRun).RetryOrElse(effect.ScheduleRecurs(2), func(err error, out int) effect.Effect[int] {
				r.say("else:%v:%d", err, out)
				return effect.Succeed(7)
			}))
		}, "run:0:0:-:- run:1:1:e0:0 run:2:2:e1:1 else:e2:2 => ok 7"},
		{"retry with a bad cron", func(r *repetition) string {
			return endOf(r.work(failRun).Retry(effect.ScheduleCron("nope")))
		}, `run:0:0:-:- => Fail cron: an expression has 5 or 6 fields: "nope"`},
		{"retry concat", func(r *repetition) string {
			return endOf(r.work(failRun).Retry(effect.ScheduleRecurs(1).Concat(effect.ScheduleRecurs(1))))
		}, "run:0:0:-:- run:1:1:e0:0 run:2:2:e1:0 => Fail e2"},
		{"retry with the zero schedule", func(r *repetition) string {
			return endOf(r.work(failRun).Retry(effect.Schedule[int]{}))
		}, " => Die effect: the zero Schedule was used; make schedules with ScheduleRecurs, ScheduleSpaced..."},

		{"repeat recurs", func(r *repetition) string {
			return endOf(r.work(effect.Succeed[int]).Repeat(effect.ScheduleRecurs(2)))
		}, "run:0:0:-:- run:1:1:0:0 run:2:2:1:1 => ok 2"},
		{"repeat times", func(r *repetition) string {
			return endOf(effect.RepeatWith(r.work(effect.Succeed[int]), effect.RepeatConfig[int]{Times: mo.Some(2)}))
		}, "run:0:0:-:- run:1:1:0:0 run:2:2:1:1 => ok 2"},
		{"repeat while", func(r *repetition) string {
			return endOf(effect.RepeatWith(r.work(effect.Succeed[int]), effect.RepeatConfig[int]{While: func(v int) bool {
				r.say("while:%d", v)
				return v < 2
			}}))
		}, "run:0:0:-:- while:0 run:1:1:0:0 while:1 run:2:2:1:1 while:2 => ok 2"},
		{"repeat until", func(r *repetition) string {
			return endOf(effect.RepeatWith(r.work(effect.Succeed[int]), effect.RepeatConfig[int]{
				Schedule: effect.ScheduleRecurs(5),
				Until:    func(v int) bool { r.say("until:%d", v); return v == 1 },
			}))
		}, "run:0:0:-:- until:0 run:1:1:0:0 until:1 => ok 1"},
		{"repeat whose predicate fails", func(r *repetition) string {
			return endOf(effect.RepeatWith(r.work(effect.Succeed[int]), effect.RepeatConfig[int]{UntilEffect: func(v int) effect.Effect[bool] {
				return effect.Fail[bool](fmt.Errorf("pred:%d", v))
			}}))
		}, "run:0:0:-:- => Fail pred:0"},
		{"repeat that fails", func(r *repetition) string {
			return endOf(r.work(failingFrom(2)).Repeat(effect.ScheduleRecurs(5)))
		}, "run:0:0:-:- run:1:1:0:0 run:2:2:1:1 => Fail e2"},
		{"repeat of two failures", func(r *repetition) string {
			return endOf(r.work(twoFailures).Repeat(effect.ScheduleRecurs(5)))
		}, "run:0:0:-:- => Fail a"},
		{"repeatOrElse at first", func(r *repetition) string {
			return endOf(r.work(failRun).RepeatOrElse(effect.ScheduleRecurs(5), orElse))
		}, "run:0:0:-:- => Fail e0 false 0 <nil> 0"},
		{"repeatOrElse later", func(r *repetition) string {
			return endOf(r.work(failingFrom(2)).RepeatOrElse(effect.ScheduleRecurs(5), orElse))
		}, "run:0:0:-:- run:1:1:0:0 run:2:2:1:1 => Fail e2 true 2 1 1"},
		{"repeatOrElse of the schedule's failure", func(r *repetition) string {
			s := effect.ScheduleForever().WhileEffect(func(m effect.ScheduleMetadata[int]) effect.Effect[bool] {
				return effect.Fail[bool](fmt.Errorf("pred:%v", m.Input))
			})
			return endOf(r.work(effect.Succeed[int]).RepeatOrElse(s, orElse))
		}, "run:0:0:-:- => Fail pred:0 false 0 <nil> 0"},
		{"schedule", func(r *repetition) string {
			return endOf(r.work(effect.Succeed[int]).Schedule(effect.ScheduleRecurs(2)))
		}, "run:0:1:-:0 run:1:2:0:1 => ok 2"},
		{"scheduleFrom", func(r *repetition) string {
			return endOf(r.work(effect.Succeed[int]).ScheduleFrom(9, effect.ScheduleRecurs(2).Passthrough()))
		}, "run:0:1:9:9 run:1:2:0:0 => ok 1"},
		{"schedule that is done at once", func(r *repetition) string {
			return endOf(r.work(effect.Succeed[int]).Schedule(effect.ScheduleRecurs(0)))
		}, " => ok 0"},
		{"schedule that fails", func(r *repetition) string {
			return endOf(r.work(failRun).Schedule(effect.ScheduleRecurs(2)))
		}, "run:0:1:-:0 => Fail e0"},
		{"nested", func(r *repetition) string {
			return endOf(r.work(func(run int) effect.Effect[int] {
				if run%2 == 0 {
					return failRun(run)
				}
				return effect.Succeed(run)
			}).Retry(effect.ScheduleRecurs(1)).Repeat(effect.ScheduleRecurs(1)))
		}, "run:0:0:-:- run:1:1:e0:0 run:2:0:-:- run:3:1:e2:0 => ok 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &repetition{}
			end := c.run(r)
			if got := strings.Join(r.lines, " ") + " => " + end; got != c.want && got != " "+c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// A schedule is a value: each use starts it afresh, two at a time too.
func TestScheduleUsesAreApart(t *testing.T) {
	s := effect.ScheduleFibonacci(time.Second).UpTo(effect.ScheduleLimit{Times: mo.Some(3)})
	waits := func() effect.Effect[time.Duration] {
		return effect.Timed(effect.Void().Repeat(s)).Map(func(e effect.Elapsed[time.Duration]) time.Duration { return e.Duration })
	}
	if got := endOf(effect.ZipConcurrent(waits(), waits())); got != "ok {4s 4s}" {
		t.Errorf("got %s", got)
	}
}

// A wait that is longer than any duration is not a timer that ends the run.
func TestScheduleWithoutEnd(t *testing.T) {
	e := effect.Fail[int](errors.New("x")).Retry(effect.ScheduleExponential(time.Hour, 1e9))
	out := effect.RunDeterministic(e, effect.DeterministicConfig{})
	if _, ended := out.Exit.Get(); ended || out.Now != time.Hour {
		t.Errorf("%v at %v", out.Exit, out.Now)
	}
	if len(out.Stuck) != 1 {
		t.Errorf("stuck: %v", out.Stuck)
	}
}

// An interruption during a delay ends Retry and Repeat at once, and neither
// takes it for a failure.
func TestRetryIsInterrupted(t *testing.T) {
	for name, e := range map[string]effect.Effect[int]{
		"retry":    effect.Fail[int](errors.New("x")).Retry(effect.ScheduleSpaced(time.Minute)),
		"repeat":   effect.Succeed(1).Repeat(effect.ScheduleSpaced(time.Minute)),
		"schedule": effect.Succeed(1).Schedule(effect.ScheduleSpaced(time.Minute)),
	} {
		out := effect.RunDeterministic(effect.Gen(func(do *effect.Do) scope.Exit[int] {
			fiber := do.Await(effect.ForkChild(e))
			do.Await(effect.Sleep(90 * time.Second))
			do.Await(fiber.Interrupt())
			return do.Await(fiber.Await())
		}), effect.DeterministicConfig{})
		exit, _ := out.Exit.MustGet().Value()
		if !exit.Cause().HasInterruptsOnly() || out.Now != 90*time.Second {
			t.Errorf("%s: %v at %v", name, exit, out.Now)
		}
	}
}

// No iteration leaves a frame behind: any number of them runs in constant
// stack.
func TestRetryIsALoop(t *testing.T) {
	n := 0
	e := effect.Suspend(func() effect.Effect[int] {
		if n++; n < 20_000 {
			return effect.Fail[int](errors.New("again"))
		}
		return effect.Succeed(n)
	})
	if got := endOf(e.Retry(effect.ScheduleForever())); got != "ok 20000" {
		t.Error(got)
	}
}

// A timer beyond the end of time does not fire first.
func TestSleepBeyondTheEnd(t *testing.T) {
	late := false
	out := effect.RunDeterministic(effect.GenUnit(func(do *effect.Do) {
		do.Await(effect.Sleep(time.Second))
		do.Await(effect.ForkChild(effect.Sleep(math.MaxInt64).AndThen(effect.SyncUnit(func() { late = true }))))
		do.Await(effect.Sleep(time.Hour))
	}), effect.DeterministicConfig{})
	if late || out.Now != time.Hour+time.Second {
		t.Errorf("fired: %v, at %v", late, out.Now)
	}
}
