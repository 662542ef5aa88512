package lanes

import (
	"context"
	"time"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
)

// turn is an activation of a Runner under way.
type turn struct {
	*activation
	cancel context.CancelCauseFunc
}

// run calls Activate with a context that ends with the stop of the activation.
func (t *turn) run(f *scope.Fiber, config RunnerConfig) *scope.Cause {
	fr := t.inside
	fr.plain = true
	ctx, cancel := context.WithCancelCause(fr.context(context.Background()))
	t.cancel = cancel
	defer cancel(nil)
	if config.TurnTimeout > 0 {
		why := &Stopped{Key: t.key, Reason: StopTimeout}
		var stop context.CancelFunc
		ctx, stop = context.WithDeadlineCause(ctx, time.Now().Add(config.TurnTimeout), why)
		defer stop()
	}
	defer f.OnInterrupt(t.interrupted)()
	scope.AboutToBlock(f)
	err := config.Activate(ctx, t.key)
	if err == nil {
		return nil
	}
	// The deadline's timer may be ahead of the turn's own, whose interruption decides
	// the report and is on its way.
	if ctx.Err() != nil {
		return f.Block(f.Arm(), waitStop).Cause
	}
	return scope.CauseFail(err)
}

var waitStop = &scope.Waiting{What: "the stop of an activation whose time is over"}

// interrupted ends the context in the name of the stop that came first. At the end of
// the turn's time the context ends by its own deadline, as callers expect.
func (t *turn) interrupted() {
	l := t.lanes
	l.mu.Lock()
	reason := t.entry.Value.lane.stop
	l.mu.Unlock()
	if reason != StopTimeout {
		t.cancel(&Stopped{Key: t.key, Reason: reason})
	}
}

// Stopped is the cause ([context.Cause]) of the context of a Runner's activation that is
// stopped. When its time is over, the context's own error is
// [context.DeadlineExceeded], else [context.Canceled].
type Stopped struct {
	Key string `json:"key"`
	// Reason is that of the first stop.
	Reason StopReason `json:"reason"`
}

// Tag implements errors.Tagged: "LaneStopped".
func (*Stopped) Tag() string { return "LaneStopped" }

func (e *Stopped) Error() string {
	switch e.Reason {
	case StopCancel:
		return "lanes: the activation was cancelled"
	case StopClose:
		return "lanes: the lanes were closed"
	default:
		return "lanes: the activation took longer than TurnTimeout"
	}
}

// MarshalJSON implements json.Marshaler: {"_tag":"LaneStopped", "key", "reason"}.
func (e *Stopped) MarshalJSON() ([]byte, error) {
	type fields Stopped
	return errors.MarshalTagged(e.Tag(), (*fields)(e))
}
