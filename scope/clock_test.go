package scope_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/rivus/tether/scope"
)

// A live clock counts a bubble's time in a bubble, and is of use on both sides of it.
func TestLiveClockInABubble(t *testing.T) {
	outside := scope.NewLiveClock()
	var inside *scope.LiveClock
	synctest.Test(t, func(t *testing.T) {
		inside = scope.NewLiveClock()
		for _, c := range []*scope.LiveClock{outside, inside} {
			began := c.Monotonic()
			rang := make(chan time.Duration, 1)
			c.AfterFunc(time.Hour, func() { rang <- c.Monotonic() })
			if took := <-rang - began; took != time.Hour || began <= 0 {
				t.Errorf("%v after %v", took, began)
			}
		}
	})
	for _, c := range []*scope.LiveClock{outside, inside} {
		if now := c.Monotonic(); now <= 0 || c.Monotonic() < now {
			t.Errorf("%v", now)
		}
	}
}
