package scope_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/rivus/tether/scope"
)

// The process's clock counts a bubble's time in a bubble, and is of use on both sides
// of it.
func TestLiveClockInABubble(t *testing.T) {
	outside := scope.NewParallel().Clock()
	var inside scope.Clock
	synctest.Test(t, func(t *testing.T) {
		inside = scope.NewParallel().Clock()
		for _, c := range []scope.Clock{outside, inside} {
			began := c.Monotonic()
			rang := make(chan time.Duration, 1)
			c.AfterFunc(time.Hour, func() { rang <- c.Monotonic() })
			if took := <-rang - began; took != time.Hour || began <= 0 {
				t.Errorf("%v after %v", took, began)
			}
		}
	})
	for _, c := range []scope.Clock{outside, inside} {
		if now := c.Monotonic(); now <= 0 || c.Monotonic() < now {
			t.Errorf("%v", now)
		}
	}
}
