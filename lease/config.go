package lease

import "time"

// Config says how long a lease lasts and how it is kept. Times are of the
// runtime's monotonic clock.
type Config struct {
	// TTL is how long a holder that does not renew is left alone, and how long it
	// trusts its own lease. Clocks must not drift apart by more than TTL less
	// 2 × Heartbeat within a TTL.
	TTL time.Duration
	// Heartbeat is the pause between renewals; at most half of TTL. Up to a tenth
	// of it is taken off at random, so that holders do not meet.
	Heartbeat time.Duration
	// Retry is the pause between the tries of Acquire with Wait. 0: Heartbeat.
	Retry time.Duration
	// Observer hears what happens to this manager's leases. nil: the one that is
	// provided as ObserverService, if any.
	Observer Observer
}

// normalize is the config with its defaults, or *ConfigInvalid.
func (c Config) normalize() (Config, error) {
	switch {
	case c.TTL <= 0:
		return c, &ConfigInvalid{"TTL must be positive, not " + c.TTL.String()}
	case c.Heartbeat <= 0:
		return c, &ConfigInvalid{"Heartbeat must be positive, not " + c.Heartbeat.String()}
	case c.Retry < 0:
		return c, &ConfigInvalid{"Retry must be positive, not " + c.Retry.String()}
	case c.Heartbeat > c.TTL-c.Heartbeat:
		return c, &ConfigInvalid{"Heartbeat must be at most half of TTL, so that one failed renewal does not lose the lease: " +
			c.Heartbeat.String() + " is more than half of " + c.TTL.String()}
	}
	if c.Retry == 0 {
		c.Retry = c.Heartbeat
	}
	return c, nil
}
