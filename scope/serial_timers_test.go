package scope_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rivus/tether/scope"
)

// Timers fire in the order of their times, those of one time in the order they were set,
// on the runtime, with what each makes ready before the next.
func TestSerialTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scope.NewSerial(scope.OnClock(scope.NewLiveClock()))
		var fired []string
		c := s.Run(func(f *scope.Fiber) *scope.Cause {
			clock := f.Clock()
			for _, one := range []struct {
				name string
				d    time.Duration
			}{{"c", 3}, {"a", 1}, {"b1", 2}, {"stopped", 2}, {"b2", 2}, {"now", 0}, {"past", -5}} {
				timer := clock.AfterFunc(one.d*time.Second, func() {
					if !scope.Alone(s) {
						t.Error("a timer's function runs beside the runtime")
					}
					fired = append(fired, one.name)
					scope.Dispatch(f, func() { fired = append(fired, "then") })
				})
				if one.name == "stopped" && (!timer.Stop() || timer.Stop()) {
					t.Error("Stop")
				}
			}
			return rest(f, func(w func() bool) { clock.AfterFunc(time.Hour, func() { w() }) })
		}, scope.RunConfig{})
		want := []string{"now", "then", "past", "then", "a", "then", "b1", "then", "b2", "then", "c", "then"}
		if c != nil || !slices.Equal(fired, want) {
			t.Errorf("ended with %v, fired %q", c, fired)
		}
	})
}

// Timers may be set and stopped from outside, before and after the runtime has heard of
// them, and one that is due earlier than all others is in time although the runtime
// sleeps for a later one.
func TestSerialTimersFromOutside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scope.NewSerial(scope.OnClock(scope.NewLiveClock()))
		start := time.Now()
		var fired []time.Duration
		at := func() { fired = append(fired, time.Since(start)) }
		late := s.Clock().AfterFunc(time.Hour, at)
		synctest.Wait() // it sleeps for that one
		s.Clock().AfterFunc(time.Second, at)
		gone := s.Clock().AfterFunc(2*time.Second, at)
		if !gone.Stop() || gone.Stop() {
			t.Error("Stop before the runtime has heard of it")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []time.Duration{time.Second}; !slices.Equal(fired, want) {
			t.Errorf("fired at %v", fired)
		}
		if !late.Stop() {
			t.Error("Stop")
		}
		// Without a timer or a fiber the runtime has no goroutine, or this test would
		// fail.
	})
}

// A timer that is stopped leaves its alarm behind, which must neither fire it nor keep
// others from being in time.
func TestSerialAlarmOfAStoppedTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scope.NewSerial(scope.OnClock(scope.NewLiveClock()))
		start := time.Now()
		c := s.Run(func(f *scope.Fiber) *scope.Cause {
			clock := f.Clock()
			sleep := func(d time.Duration) {
				rest(f, func(w func() bool) { clock.AfterFunc(d, func() { w() }) })
			}
			early := clock.AfterFunc(2*time.Second, func() { t.Error("it fired") })
			sleep(time.Second) // the alarm is set for 1 s, then for 2 s
			f.Fork(func(f *scope.Fiber) *scope.Cause { early.Stop(); return nil }, scope.ForkConfig{})
			sleep(4 * time.Second)
			if took := time.Since(start); took != 5*time.Second {
				t.Errorf("woken after %v", took)
			}
			return nil
		}, scope.RunConfig{})
		if c != nil {
			t.Error(c)
		}
	})
}

// The base of a serial runtime's clock fires its timers while a fiber holds it up, and
// its times can be compared with the clock's.
func TestBaseClock(t *testing.T) {
	base := scope.NewLiveClock()
	s := scope.NewSerial(scope.OnClock(base))
	if scope.BaseClock(s.Clock()) != scope.Clock(base) || scope.BaseClock(base) != scope.Clock(base) {
		t.Error("it has another base")
	}
	s.Run(func(f *scope.Fiber) *scope.Cause {
		fired := make(chan time.Duration)
		before := f.Clock().Monotonic()
		scope.BaseClock(f.Clock()).AfterFunc(time.Nanosecond, func() { fired <- base.Monotonic() })
		if at := <-fired; at < before || at > f.Clock().Monotonic() { // held up all the while
			t.Errorf("fired at %v, set at %v", at, before)
		}
		return nil
	}, scope.RunConfig{})
}
