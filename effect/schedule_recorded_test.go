package effect_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/samber/mo"
)

// recordedStep is a step with what effect@4.1.0 answered.
type recordedStep struct {
	Now    float64
	Input  any
	Output any
	Delay  float64
	Done   bool
	Error  string
}

// Every recorded schedule answers every tick as on effect@4.1.0.
func TestSchedulesAreEffects(t *testing.T) {
	var cases []struct {
		Schedule []any
		Steps    []recordedStep
	}
	readRecorded(t, "schedules", "TETHER_RECORDED_SCHEDULES", &cases)
	for i, c := range cases {
		for j, got := range stepThrough(t, recordedSchedule(c.Schedule), c.Steps) {
			want := c.Steps[j]
			if sameStep(got, want) {
				continue
			}
			text, _ := json.Marshal(c.Schedule)
			t.Fatalf("schedule %d, %s, step %d:\n got  %+v\n want %+v", i, text, j+1, got, want)
		}
	}
	t.Logf("%d schedules", len(cases))
}

func sameStep(got, want recordedStep) bool {
	slack := 1e-6 + 1e-12*math.Abs(want.Delay)
	return got.Done == want.Done && got.Error == want.Error && math.Abs(got.Delay-want.Delay) <= slack &&
		reflect.DeepEqual(rounded(got.Output), rounded(want.Output))
}

// rounded takes the noise of floating point out of durations.
func rounded(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = rounded(x)
		}
		return out
	case map[string]any:
		return rounded(v["ms"])
	case float64:
		return fmt.Sprintf("%.5f", v)
	}
	return v
}

func stepThrough(t *testing.T, s effect.Schedule[any], steps []recordedStep) []recordedStep {
	t.Helper()
	out := effect.RunDeterministic(effect.Gen(func(do *effect.Do) []recordedStep {
		var got []recordedStep
		step := do.Await(effect.ScheduleToStep(s))
		for _, r := range steps {
			tick := effect.ScheduleTick{
				Now: time.UnixMilli(int64(r.Now)).UTC(), Monotonic: duration(r.Now), Input: r.Input,
			}
			exit := do.Await(effect.Exit(step(tick)))
			answer := recordedStep{Now: r.Now, Input: r.Input}
			if d, ok := exit.Value(); ok {
				answer.Output, answer.Done = plainOutput(d.Output), d.Done
				if !d.Done {
					answer.Delay = millisOf(d.Delay)
				}
			} else if answer.Error = errors.TagOf(exit.Err()); answer.Error == "" {
				answer.Error = exit.Err().Error()
			}
			got = append(got, answer)
		}
		return got
	}), effect.DeterministicConfig{})
	got, err := out.Exit.MustGet().Get()
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func duration(ms float64) time.Duration { return time.Duration(math.Round(ms * 1e6)) }
func millisOf(d time.Duration) float64  { return float64(d) / 1e6 }
func plainOutput(v any) any {
	switch v := v.(type) {
	case int:
		return float64(v)
	case time.Duration:
		return map[string]any{"ms": millisOf(v)}
	case effect.Unit:
		return nil
	}
	return v
}

var errTapped = errors.New("tapped")

func recordedSchedule(x []any) effect.Schedule[any] {
	num := func(i int) float64 { return x[i].(float64) }
	inner := func(i int) effect.Schedule[any] { return recordedSchedule(x[i].([]any)) }
	type meta = effect.ScheduleMetadata[any]
	switch x[0] {
	case "forever":
		return anySchedule(effect.ScheduleForever())
	case "recurs":
		return anySchedule(effect.ScheduleRecurs(int(num(1))))
	case "once":
		return anySchedule(effect.ScheduleOnce())
	case "identity":
		return effect.ScheduleIdentity()
	case "spaced":
		return anySchedule(effect.ScheduleSpaced(duration(num(1))))
	case "windowed":
		return anySchedule(effect.ScheduleWindowed(duration(num(1))))
	case "fixed":
		return anySchedule(effect.ScheduleFixed(duration(num(1))))
	case "fibonacci":
		return anySchedule(effect.ScheduleFibonacci(duration(num(1))))
	case "duration":
		return anySchedule(effect.ScheduleDuration(duration(num(1))))
	case "during":
		return anySchedule(effect.ScheduleDuring(duration(num(1))))
	case "exponential":
		return anySchedule(effect.ScheduleExponential(duration(num(1)), num(2)))
	case "cron":
		return anySchedule(effect.ScheduleCron(x[1].(string), effect.CronInZone("UTC")))
	case "max", "min":
		merge := effect.ScheduleMax
		if x[0] == "min" {
			merge = effect.ScheduleMin
		}
		var more []effect.AnySchedule
		for i := 2; i < len(x); i++ {
			more = append(more, inner(i))
		}
		return anySchedule(merge(inner(1), more...))
	case "concat":
		return inner(1).Concat(inner(2))
	case "map":
		return inner(1).Map(func(m meta) any {
			return []any{"mapped", plainOutput(m.Output), float64(m.Attempt), millisOf(m.Elapsed), millisOf(m.Delay)}
		})
	case "whileInput":
		return inner(1).While(func(m meta) bool { return m.Input != x[2] })
	case "whileElapsed":
		return inner(1).WhileEffect(func(m meta) effect.Effect[bool] { return effect.Succeed(m.Elapsed <= duration(num(2))) })
	case "whileAttempt":
		return inner(1).While(func(m meta) bool { return m.Attempt <= int(num(2)) })
	case "upTo":
		var limit effect.ScheduleLimit
		if x[2] != nil {
			limit.Times = mo.Some(int(num(2)))
		}
		if x[3] != nil {
			limit.Duration = mo.Some(duration(num(3)))
		}
		return inner(1).UpTo(limit)
	case "addDelay":
		return inner(1).AddDelay(func(meta) time.Duration { return duration(num(2)) })
	case "scaleDelay":
		return inner(1).ModifyDelayEffect(func(m meta) effect.Effect[time.Duration] {
			return effect.Succeed(duration(millisOf(m.Delay) * num(2)))
		})
	case "passthrough":
		return inner(1).Passthrough()
	case "jittered":
		return withDraw(inner(1).Jittered(), num(2))
	case "tap":
		return inner(1).Tap(func(m meta) effect.Effect[effect.Unit] {
			if m.Attempt == int(num(2)) {
				return effect.Fail[effect.Unit](errTapped)
			}
			return effect.Void()
		})
	case "metadata":
		return inner(1).Map(func(m meta) any {
			return []any{
				float64(m.Attempt), float64(m.Start.UnixMilli()), float64(m.Now.UnixMilli()),
				millisOf(m.Elapsed), millisOf(m.SincePrevious),
			}
		})
	}
	panic(fmt.Sprint("unknown schedule ", x[0]))
}

func anySchedule[Out any](s effect.Schedule[Out]) effect.Schedule[any] {
	return s.Map(func(m effect.ScheduleMetadata[Out]) any { return m.Output })
}

// always draws the same number.
type always float64

func (a always) Uint64() uint64 { return uint64(float64(a)*(1<<53)) << 11 }

// withDraw steps s with random numbers that are all draw.
func withDraw(s effect.Schedule[any], draw float64) effect.Schedule[any] {
	type stepping = func(effect.ScheduleTick) effect.Effect[effect.ScheduleDecision[any]]
	return effect.ScheduleFromStepEffect(effect.ScheduleToStep(s).Map(func(step stepping) stepping {
		return func(t effect.ScheduleTick) effect.Effect[effect.ScheduleDecision[any]] {
			return step(t).ProvideService(effect.Random, rand.Source(always(draw)))
		}
	}))
}
