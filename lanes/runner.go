package lanes

import (
	"context"
	"log/slog"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// Runner is Lanes for plain Go: contexts and errors in place of effects. It keeps the
// same rules. Its methods may be called from any goroutine.
//
//	rooms, err := lanes.NewRunner(lanes.RunnerConfig{MaxConcurrent: 4, Activate: turn})
//	...
//	outcome, err := rooms.Wake("room:1") // lanes.Started, lanes.Queued or lanes.Coalesced
//	...
//	err = rooms.Drain(ctx) // before the program ends
//
// It starts a goroutine for each activation, and none else; one that nobody uses need
// not be closed.
type Runner struct {
	config RunnerConfig
	lanes  *Lanes
	rt     *scope.Parallel
	// root has ended. Activations are forked in its name by any number of goroutines.
	root *scope.Fiber
}

// RunnerConfig is what NewRunner is given.
type RunnerConfig struct {
	// MaxConcurrent is how many activations run at the same time, from 1.
	MaxConcurrent int
	// MaxQueued is how many lanes may wait for a slot; 0 sets no bound, NoQueue lets
	// none wait. A lane that was woken while it ran joins the queue beyond it.
	MaxQueued int
	// TurnTimeout is how long an activation may take: its context has that deadline.
	// 0 sets no limit.
	TurnTimeout time.Duration
	// Activate is the work of one activation, on a goroutine of its own. It keeps its
	// slot until it returns, so it must heed ctx, which ends when the activation is
	// stopped, with *Stopped as its cause. ctx has no values of a caller's.
	Activate func(ctx context.Context, key string) error
	// OnExit hears how each activation ended, once, while the slot is still held. It
	// is not interrupted: ctx does not end, and serves to tell calls of the Runner's
	// own methods from inside. A panic in it is logged as a warning. nil hears
	// nothing; then an activation that failed is logged.
	OnExit func(ctx context.Context, exit ActivationExit)
	// Observe hears events, for metrics and tests, as Config.Observe does.
	Observe func(Event)
	// Logger gets the warnings; nil is slog.Default().
	Logger *slog.Logger
}

// NoQueue is the MaxQueued of a Runner in which no lane waits: a wake that finds no
// free slot is refused.
const NoQueue = -1

// NewRunner makes a Runner. The error is a *ConfigInvalid.
func NewRunner(config RunnerConfig) (*Runner, error) {
	r := &Runner{config: config, rt: scope.NewParallel()}
	inner := Config{
		MaxConcurrent: config.MaxConcurrent, TurnTimeout: config.TurnTimeout,
		Activate: r.activate, Observe: config.Observe, Logger: config.Logger,
	}
	switch {
	case config.Activate == nil:
		inner.Activate = nil
	case config.MaxQueued == NoQueue:
		inner.MaxQueued = mo.Some(0)
	case config.MaxQueued < 0:
		return nil, &ConfigInvalid{Message: "MaxQueued must be 0 for no bound, positive, or NoQueue"}
	case config.MaxQueued > 0:
		inner.MaxQueued = mo.Some(config.MaxQueued)
	}
	if config.OnExit != nil {
		inner.OnExit = r.onExit
	}
	if invalid := inner.check(); invalid != nil {
		return nil, invalid
	}
	r.rt.Run(func(f *scope.Fiber) *scope.Cause {
		r.root = f
		return nil
	}, scope.RunConfig{})
	r.lanes = &Lanes{config: inner, board: makeBoard(inner.rules())}
	return r, nil
}

// Wake asks for an activation of key that starts after this moment, and says what that
// came to; it never waits for it. It fails with *QueueFull, or with *Closed after Close
// or Drain has begun. A coalesced wake allocates nothing.
func (r *Runner) Wake(key string) (Outcome, error) { return r.lanes.WakeNow(r.root, key) }

// Status is a consistent snapshot. It costs O(lanes that are not idle), with the lock
// held.
func (r *Runner) Status() Status { return r.lanes.StatusNow() }

// activate is one activation, on its fiber's own goroutine.
func (r *Runner) activate(key string) effect.Effect[effect.Unit] {
	return effect.Direct(func(f *scope.Fiber) (effect.Unit, *scope.Cause) {
		t := turn{activation: frameOf(f).of}
		return effect.Unit{}, t.run(f, r.config)
	})
}

func (r *Runner) onExit(exit ActivationExit) effect.Effect[effect.Unit] {
	return effect.Direct(func(f *scope.Fiber) (effect.Unit, *scope.Cause) {
		fr := *frameOf(f)
		fr.plain = true
		scope.AboutToBlock(f)
		r.config.OnExit(fr.context(context.Background()), exit)
		return effect.Unit{}, nil
	})
}
