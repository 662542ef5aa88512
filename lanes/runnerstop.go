package lanes

import (
	"context"
	"fmt"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
)

// Cancel drops what the key is owed, ends the context of its activation and waits until
// that has returned and its OnExit, too; by then the slot has been passed on. A queued
// lane just leaves the queue. Wakes that are accepted after Cancel began are served as
// usual. The end of ctx ends the wait, with an error of ctx, and takes nothing back.
//
// Called with the context of the key's own activation, or of its OnExit, it would wait
// for itself: it returns *SelfDeadlock and changes nothing.
func (r *Runner) Cancel(ctx context.Context, key string) error {
	return r.wait(ctx, "Cancel", func(f *scope.Fiber) *scope.Cause { return r.lanes.cancel(f, key) })
}

// Close refuses all later wakes, drops the queue and everything owed, ends the contexts
// of all activations and waits until they have returned. It can be called more than
// once; each call waits. The end of ctx ends the wait, with an error of ctx, and takes
// nothing back: also with a context that has ended the lanes close.
//
// Called with the context of an activation, or of OnExit, it closes all the same, but
// waits for nothing and returns *SelfDeadlock.
func (r *Runner) Close(ctx context.Context) error { return r.wait(ctx, "Close", r.lanes.close) }

// Drain refuses all later wakes and lets what is owed run to its end: running
// activations, those that they are woken for once more, and the queue. Then the Runner
// is closed. When ctx ends first it closes it then, as Close does, waits until all
// activations have returned, and returns *Undrained, which names what was left and
// wraps the error of ctx, unless nothing was.
//
// Called with the context of an activation, or of OnExit, it would wait for itself: it
// returns *SelfDeadlock and changes nothing.
func (r *Runner) Drain(ctx context.Context) error {
	var d *drain
	err := r.wait(ctx, "Drain", func(f *scope.Fiber) (c *scope.Cause) {
		if d, c = r.lanes.beginDrain(f); c != nil {
			return c
		}
		return d.await(f)
	})
	why := errClosedMeanwhile
	if err != nil {
		if _, inside := errors.AsType[*SelfDeadlock](err); inside || d == nil {
			return err
		}
		why = endOf(ctx)
		r.rt.Run(r.lanes.close, scope.RunConfig{})
	}
	if left := d.left(why); left != nil {
		return left
	}
	return nil
}

// wait runs body on the caller's goroutine. The end of ctx ends its waits, never what
// it does before them.
func (r *Runner) wait(ctx context.Context, call string, body func(f *scope.Fiber) *scope.Cause) error {
	var env *scope.Env
	c := r.rt.Run(func(f *scope.Fiber) *scope.Cause {
		defer context.AfterFunc(ctx, func() { f.Interrupt(0) })()
		return body(f)
	}, scope.RunConfig{Env: env.WithContext(ctx)})
	if c == nil {
		return nil
	}
	if die, ok := c.Defect(); ok {
		if self, ok := die.Defect.(*SelfDeadlock); ok {
			return &SelfDeadlock{Operation: call, Key: self.Key, plain: true}
		}
		return c.Err()
	}
	return fmt.Errorf("lanes: waiting in %s: %w", call, endOf(ctx))
}

// endOf is the error of a context that has ended: errors.Is finds ctx.Err() in it, and
// its own cause.
func endOf(ctx context.Context) error {
	cause := context.Cause(ctx)
	if !errors.Is(cause, ctx.Err()) {
		cause = fmt.Errorf("%w: %w", ctx.Err(), cause)
	}
	return cause
}
