package lanes

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/samber/mo"
)

// Config is what Make is given.
type Config struct {
	// MaxConcurrent is how many activations run at the same time, from 1.
	MaxConcurrent int
	// MaxQueued is how many lanes may wait for a slot, from 0; none sets no
	// bound. A lane that was woken while it ran joins the queue beyond it.
	MaxQueued mo.Option[int]
	// TurnTimeout is how long an activation may take, from its own start to the
	// end of its scope's closing; it is interrupted then. 0 sets no limit.
	TurnTimeout time.Duration
	// Activate is the work of one activation. It runs in a fiber and a scope of
	// its own, with the services that Make ran with.
	Activate func(key string) effect.Effect[effect.Unit]
	// OnExit hears how each activation ended, once, in a scope of its own and
	// uninterruptibly, while the slot is still held. Its own failure is logged
	// as a warning. nil hears nothing; then an activation that failed is logged.
	OnExit func(exit ActivationExit) effect.Effect[effect.Unit]
	// Observe hears events, for metrics and tests. It is called on the fiber
	// that caused the event, with no lock held, and must not block. A panic in
	// it is logged. nil hears nothing, and costs nothing.
	Observe func(Event)
	// Logger gets the warnings; nil is slog.Default().
	Logger *slog.Logger
}

// check gives what is wrong, or nil.
func (c Config) check() *ConfigInvalid {
	invalid := func(format string, args ...any) *ConfigInvalid {
		return &ConfigInvalid{Message: fmt.Sprintf(format, args...)}
	}
	if c.MaxConcurrent < 1 {
		return invalid("MaxConcurrent must be at least 1, not %d", c.MaxConcurrent)
	}
	if n, ok := c.MaxQueued.Get(); ok && n < 0 {
		return invalid("MaxQueued must be absent or at least 0, not %d", n)
	}
	if c.TurnTimeout < 0 {
		return invalid("TurnTimeout must be absent or positive, not %v", c.TurnTimeout)
	}
	if c.Activate == nil {
		return invalid("Activate must be set")
	}
	return nil
}

func (c Config) rules() admission {
	return admission{maxConcurrent: c.MaxConcurrent, maxQueued: c.MaxQueued.OrElse(-1)}
}

func (c Config) logger() *slog.Logger {
	if c.Logger != nil {
		return c.Logger
	}
	return slog.Default()
}
