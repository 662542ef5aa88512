package platform

import "time"

// SharedClock is an optional port of a [Process], for processes that live for a moment
// each and count together for how long something has stayed as it is. Its methods may
// be called from any goroutine.
type SharedClock interface {
	// Uptime is the reading of a clock that every process of this boot shares, in
	// whatever namespace, and that the monotonic clocks of programs are made of: it
	// stands still while the machine sleeps, so that a holder that slept with it has
	// aged as little as the observer has. Readings of two boots mean nothing to each
	// other. A failure is a *Failure; the system call costs some 100 ns.
	Uptime() (time.Duration, error)

	// User is the user whose files this process writes (the effective one).
	User() int64
}

var _ SharedClock = (*osProcess)(nil)
