package effect

import (
	"fmt"
	"time"

	"github.com/rivus/tether/scope"
)

// ScheduleCron recurs whenever the expression is due, by the wall clock. Its
// output is the delay. An expression that ParseCron refuses fails at the first
// step, with *CronParseError; one that is never due is a defect.
func ScheduleCron(expression string, options ...CronOption) Schedule[time.Duration] {
	c, err := ParseCron(expression, options...)
	if err != nil {
		return Schedule[time.Duration]{plan{func(*scope.Fiber) (stepper, *scope.Cause) {
			return failing(scope.CauseFail(err)), nil
		}}}
	}
	return ScheduleCronOf(c)
}

// ScheduleCronOf is ScheduleCron for a Cron.
func ScheduleCronOf(c Cron) Schedule[time.Duration] {
	return Schedule[time.Duration]{plan{func(*scope.Fiber) (stepper, *scope.Cause) {
		return func(_ *scope.Fiber, t ScheduleTick) (d ScheduleDecision[any], _ *scope.Cause) {
			next, ok := c.Next(t.Now)
			if !ok {
				return d, scope.CauseDie(fmt.Errorf("effect: the cron %q is never due", c))
			}
			d.Delay = next.Sub(t.Now)
			d.Output = d.Delay
			return d, nil
		}, nil
	}}}
}
