package vectors

import (
	"github.com/rivus/tether/effect"
	"github.com/samber/mo"
)

var _ = register(map[string]operation{
	"retry":  func(a args) E { return a.retryWith(nil) },
	"repeat": func(a args) E { return a.repeatWith(nil) },
	"retrySpaced": func(a args) E {
		return a.retryWith(effect.ScheduleSpaced(a.ms(2)))
	},
	"repeatSpaced": func(a args) E {
		return a.repeatWith(effect.ScheduleSpaced(a.ms(2)))
	},
	"retryExponential": func(a args) E {
		return a.retryWith(effect.ScheduleExponential(a.ms(2), 2))
	},
	"repeatFixed": func(a args) E {
		return a.repeatWith(effect.ScheduleFixed(a.ms(2)))
	},
	"retrySchedule":  func(a args) E { return a.of(0).Retry(scheduleOf(a.at(1))) },
	"repeatSchedule": func(a args) E { return a.of(0).Repeat(scheduleOf(a.at(1))) },
})

func (a args) retryWith(s effect.AnySchedule) E {
	return effect.RetryWith(a.of(0), effect.RetryConfig{Schedule: s, Times: mo.Some(a.int(1))})
}

func (a args) repeatWith(s effect.AnySchedule) E {
	return void(effect.RepeatWith(a.of(0), effect.RepeatConfig[any]{Schedule: s, Times: mo.Some(a.int(1))}))
}

// scheduleOf is a schedule as programs write it. An output that is a number
// stays one, any other has no form and is no value.
func scheduleOf(x any) effect.Schedule[any] {
	list, _ := x.([]any)
	if len(list) == 0 {
		bad("%v is no schedule", x)
	}
	a := args{all: list[1:]}
	switch list[0] {
	case "recurs":
		return untyped(effect.ScheduleRecurs(a.int(0)))
	case "spaced":
		return untyped(effect.ScheduleSpaced(a.ms(0)))
	case "fixed":
		return untyped(effect.ScheduleFixed(a.ms(0)))
	case "windowed":
		return untyped(effect.ScheduleWindowed(a.ms(0)))
	case "exponential":
		factor := 2.0
		if a.has(1) {
			factor = a.num(1)
		}
		return untyped(effect.ScheduleExponential(a.ms(0), factor))
	case "fibonacci":
		return untyped(effect.ScheduleFibonacci(a.ms(0)))
	case "duration":
		return untyped(effect.ScheduleDuration(a.ms(0)))
	case "during":
		return untyped(effect.ScheduleDuring(a.ms(0)))
	case "once":
		return untyped(effect.ScheduleOnce())
	case "max":
		first, more := schedulesOf(a.list(0))
		return untyped(effect.ScheduleMax(first, more...))
	case "min":
		first, more := schedulesOf(a.list(0))
		return untyped(effect.ScheduleMin(first, more...))
	case "concat":
		return scheduleOf(a.at(0)).Concat(scheduleOf(a.at(1)))
	}
	bad("unknown schedule %v", list[0])
	return effect.Schedule[any]{}
}

func schedulesOf(list []any) (first effect.AnySchedule, more []effect.AnySchedule) {
	if len(list) == 0 {
		bad("no schedules")
	}
	for _, x := range list[1:] {
		more = append(more, scheduleOf(x))
	}
	return scheduleOf(list[0]), more
}

func untyped[Out any](s effect.Schedule[Out]) effect.Schedule[any] {
	return s.Map(func(m effect.ScheduleMetadata[Out]) any {
		if n, ok := any(m.Output).(int); ok {
			return float64(n)
		}
		return nil
	})
}
