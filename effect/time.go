package effect

import (
	"time"

	"github.com/rivus/tether/scope"
)

// Sleep waits for d by the runtime's clock. A d that is not positive is a
// YieldNow on the parallel runtime; on the deterministic one it is a timer at the
// present time, which fires when nothing is ready.
//
//go:noinline
func Sleep(d time.Duration) Effect[Unit] {
	return Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
		return Unit{}, sleep(f, d), Effect[Unit]{}
	}}
}

func sleep(f *scope.Fiber, d time.Duration) *scope.Cause {
	if d <= 0 && !scope.Alone(f.Runtime()) {
		return yieldNow(f)
	}
	t := f.Arm()
	timer := f.Clock().AfterFunc(d, func() { t.Wake() })
	p := f.Block(t, waitSleep)
	if p.Cause == nil && !p.Slept {
		return nil
	}
	return f.Settle(p.Cause, func() *scope.Cause {
		timer.Stop()
		return nil
	})
}

var waitSleep = &scope.Waiting{What: "a timer (Sleep)"}

// Delay waits for d before it runs e.
func (e Effect[A]) Delay[_ onUse](d time.Duration) Effect[A] { return after(Sleep(d), e) }

// Now is the wall-clock time.
func Now() Effect[time.Time] {
	return Effect[time.Time]{step: func(f *scope.Fiber) (time.Time, *scope.Cause, Effect[time.Time]) {
		return f.Clock().Now(), nil, Effect[time.Time]{}
	}}
}

// Monotonic is the monotonic time since the runtime clock's origin.
func Monotonic() Effect[time.Duration] {
	return Effect[time.Duration]{step: func(f *scope.Fiber) (time.Duration, *scope.Cause, Effect[time.Duration]) {
		return f.Clock().Monotonic(), nil, Effect[time.Duration]{}
	}}
}

// Elapsed is what Timed gives.
type Elapsed[A any] struct {
	Duration time.Duration
	Value    A
}

// Timed measures how long e took, by the monotonic clock.
//
//go:noinline
func Timed[A any](e Effect[A]) Effect[Elapsed[A]] {
	return Effect[Elapsed[A]]{step: func(f *scope.Fiber) (Elapsed[A], *scope.Cause, Effect[Elapsed[A]]) {
		start := f.Clock().Monotonic()
		v, c := run(f, e)
		if c != nil {
			return failed[Elapsed[A]](c)
		}
		return value(Elapsed[A]{f.Clock().Monotonic() - start, v})
	}}
}
