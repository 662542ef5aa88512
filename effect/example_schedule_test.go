package effect_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/samber/mo"
)

// A call is tried again with growing delays, at most four times more.
func ExampleEffect_Retry() {
	backoff := effect.ScheduleExponential(100*time.Millisecond, 2).UpTo(effect.ScheduleLimit{Times: mo.Some(4)})
	attempts := 0
	call := effect.Gen(func(do *effect.Do) string {
		attempts++
		fmt.Println("attempt", attempts, "at", do.Await(effect.Monotonic()))
		if attempts < 4 {
			do.Fail(errors.New("unavailable"))
		}
		return "answer"
	})
	out := effect.RunDeterministic(call.Retry(backoff), effect.DeterministicConfig{})
	fmt.Println(out.Exit.MustGet())
	// Output:
	// attempt 1 at 0s
	// attempt 2 at 100ms
	// attempt 3 at 300ms
	// attempt 4 at 700ms
	// Success(answer)
}

// Only some failures are worth another try; the last one is the result.
func ExampleRetryWith() {
	busy, denied := errors.New("busy"), errors.New("permission denied")
	answers := []error{busy, busy, denied}
	tries := 0
	call := effect.Suspend(func() effect.Effect[int] {
		tries++
		return effect.Fail[int](answers[tries-1])
	})
	program := effect.RetryWith(call, effect.RetryConfig{
		Schedule: effect.ScheduleSpaced(time.Second),
		While:    func(err error) bool { return errors.Is(err, busy) },
		Times:    mo.Some(10),
	})
	out := effect.RunDeterministic(program, effect.DeterministicConfig{})
	fmt.Println(out.Exit.MustGet(), "after", tries, "tries and", out.Now)
	// Output: Failure(Cause(Fail(permission denied))) after 3 tries and 2s
}

// A job is asked every five seconds how far it is, until it is done.
func ExampleRepeatWith() {
	percent := 0
	poll := effect.Sync(func() int {
		percent += 40
		return min(percent, 100)
	})
	program := effect.RepeatWith(poll, effect.RepeatConfig[int]{
		Schedule: effect.ScheduleSpaced(5 * time.Second),
		Until:    func(percent int) bool { return percent == 100 },
	})
	out := effect.RunDeterministic(program, effect.DeterministicConfig{})
	fmt.Println(out.Exit.MustGet(), "after", out.Now)
	// Output: Success(100) after 10s
}

// Schedules combine: ScheduleMin takes the shorter delay, which caps a backoff,
// and ScheduleMax goes on only as long as all do.
func ExampleSchedule() {
	capped := effect.ScheduleMin(effect.ScheduleExponential(time.Second, 2), effect.ScheduleSpaced(5*time.Second))
	policy := effect.ScheduleMax(capped, effect.ScheduleRecurs(5))
	call := effect.Monotonic().FlatMap(func(at time.Duration) effect.Effect[int] {
		fmt.Print(at, " ")
		return effect.Fail[int](errors.New("unavailable"))
	})
	fmt.Println(effect.RunDeterministic(call.Retry(policy), effect.DeterministicConfig{}).Exit.MustGet())
	// Output: 0s 1s 3s 7s 12s 17s Failure(Cause(Fail(unavailable)))
}

// The next three times of a report that is due on workdays at half past nine.
func ExampleParseCron() {
	report, err := effect.ParseCron("30 9 * * mon-fri", effect.CronInZone("+02:00"))
	if err != nil {
		fmt.Println(err)
		return
	}
	thursday := time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC)
	n := 0
	for at := range report.All(thursday) {
		fmt.Println(at.Format("Mon 15:04 -07:00"), "is", at.UTC().Format(time.DateTime), "UTC")
		if n++; n == 3 {
			break
		}
	}
	// Output:
	// Fri 09:30 +02:00 is 2026-01-02 07:30:00 UTC
	// Mon 09:30 +02:00 is 2026-01-05 07:30:00 UTC
	// Tue 09:30 +02:00 is 2026-01-06 07:30:00 UTC
}
