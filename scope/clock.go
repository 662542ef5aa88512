package scope

import (
	"sync"
	"time"
)

// Clock is the port through which everything here tells time. Wall time is for
// people (records, logs); every decision is made on monotonic time, which no
// adjustment of the system's clock moves.
//
// The methods may be called from any goroutine.
type Clock interface {
	// Now is the wall-clock time.
	Now() time.Time
	// Monotonic is the time since an origin that is fixed for this clock value.
	// It never goes back. Two clocks' readings must not be compared.
	Monotonic() time.Duration
	// AfterFunc calls f once, on a goroutine of the clock's choosing, when d has
	// passed (at once, though never inside this call, when d is not positive).
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is what AfterFunc set.
type Timer interface {
	// Stop prevents the call and answers true, or answers false when the call
	// has begun, is over, or was stopped before.
	Stop() bool
}

// LiveClock is the clock of the machine. Its zero value is not usable; take it
// from NewLiveClock. On Linux and macOS its monotonic time stands still while
// the machine sleeps.
type LiveClock struct {
	origin time.Time
}

// NewLiveClock makes a live clock whose monotonic origin is now.
func NewLiveClock() *LiveClock { return &LiveClock{origin: time.Now()} }

// processClock is the process's one live clock. It starts with the first runtime, since
// importing reads no clock. Its origin is a century before that, so that its readings
// stay positive in a bubble of testing/synctest, whose year is 2000, and outside of it,
// whichever of the two the first runtime was made in.
var processClock = sync.OnceValue(func() *LiveClock { return &LiveClock{origin: time.Now().Add(-century)} })

const century = 100 * 365 * 24 * time.Hour

// Now implements Clock.
func (c *LiveClock) Now() time.Time { return time.Now() }

// Monotonic implements Clock.
func (c *LiveClock) Monotonic() time.Duration { return time.Since(c.origin) }

// AfterFunc implements Clock by time.AfterFunc.
func (c *LiveClock) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }
