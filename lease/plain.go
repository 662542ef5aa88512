package lease

import (
	"context"
	"fmt"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// plainly evaluates e for a caller that has a context and wants an error. It runs on
// the caller's goroutine; the end of ctx interrupts it.
func plainly[A any](ctx context.Context, rt *scope.Parallel, key string, e effect.Effect[A]) (A, error) {
	exit := effect.RunExitOn(ctx, rt, e)
	v, ok := exit.Value()
	switch c := exit.Cause(); {
	case ok:
		return v, nil
	case c.HasInterruptsOnly() && ctx.Err() != nil:
		return v, contextError(ctx, key)
	default:
		return v, c.Err()
	}
}

// contextError is the error of a call that ended with its context. errors.Is finds
// ctx.Err() in it, as callers expect, and ctx's own cause.
func contextError(ctx context.Context, key string) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return fmt.Errorf("%s: %w", subject(key), cause)
	}
	return fmt.Errorf("%s: %w: %w", subject(key), err, cause)
}

// fencedKey is the key of the fenced work that a context is of.
type fencedKey struct{}

// fencedOf is the innermost fenced work that ctx was given to, or nil.
func fencedOf(ctx context.Context) *fencedRun {
	run, _ := ctx.Value(fencedKey{}).(*fencedRun)
	return run
}

// context is ctx for the work of r.
func (r *fencedRun) context(ctx context.Context) context.Context {
	return context.WithValue(ctx, fencedKey{}, r)
}

// refuseInside is the error of a call that would wait for its own caller: its context
// is that of work which holds the key's fence.
func (m *Manager) refuseInside(ctx context.Context, call, key string) error {
	if key == "" {
		return errEmptyKey
	}
	if fencedOf(ctx).holds(m, key) {
		return waitsForItself(call, key)
	}
	return nil
}

func waitsForItself(call, key string) error {
	return fmt.Errorf("lease %s: %s inside fenced work of the same key would wait for itself; use the token that the work was given",
		quote(key), call)
}

// CheckAfter is [CheckFence] for plain Go: the check that a resource makes before a
// write with t, when last is the last token that it accepted, or the zero token. It
// fails with *FenceRejected when last is a later one of the same key. The resource
// keeps the token with what it protects, in one atomic step.
func (t FencingToken) CheckAfter(last FencingToken) error {
	if t.Key == last.Key && t.Generation < last.Generation {
		return &FenceRejected{Key: t.Key, Generation: t.Generation, Current: mo.Some(last.Generation)}
	}
	return nil
}
