package processlock

import (
	"context"
	"time"

	"github.com/samber/mo"

	"github.com/rivus/tether/platform"
)

// Acquire takes the lock at path. Of any number of simultaneous starters on a
// free lock, in any number of processes, exactly one gets it.
//
// Without [Wait] it does not wait for a holder: when one is there it fails with
// *Held, or with *Failure where this process could not have the lock anyway. A race among starters is settled by short random pauses, up to a second,
// after which it fails with *Failure and ReasonContended. With Wait it keeps
// trying; inside one process waiters get the lock in the order in which they came.
//
// Whatever else is in the way is a *Failure that names the path and the reason.
// A context that ends gives its cause; a lock that was taken at that moment is
// given back first. It panics when p is nil or lacks a port.
func Acquire(ctx context.Context, p *platform.Platform, path string, options ...Option) mo.Result[*Lock] {
	lock, err := acquire(ctx, p, path, options)
	if err != nil {
		return mo.Err[*Lock](err)
	}
	return mo.Ok(lock)
}

func acquire(ctx context.Context, p *platform.Platform, path string, options []Option) (*Lock, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	attempt, err := Begin(p, path, options...)
	if err != nil {
		return nil, err
	}
	// A panic of a port included, the turn must pass on.
	defer attempt.Cancel()
	if !attempt.HasTurn() {
		turn := make(chan struct{})
		attempt.OnTurn(func() { close(turn) })
		select {
		case <-turn:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	for {
		step := attempt.Try()
		if step.Err != nil {
			return nil, step.Err
		}
		if step.Lock != nil {
			if ctx.Err() != nil {
				_ = step.Lock.Release()
				return nil, context.Cause(ctx)
			}
			return step.Lock, nil
		}
		if !pause(ctx, p, step.Pause) {
			return nil, context.Cause(ctx)
		}
	}
}

// pause answers false when the context ended first.
func pause(ctx context.Context, p *platform.Platform, d time.Duration) bool {
	over := make(chan struct{})
	timer := p.Clock.AfterFunc(d, func() { close(over) })
	select {
	case <-over:
		return ctx.Err() == nil
	case <-ctx.Done():
		timer.Stop()
		return false
	}
}

// IsHeld tells whether another process, or an acquisition in this one, holds the
// lock at path. It writes and creates nothing; a missing file is free. The context
// is looked at once, before it starts; then nothing waits: the cost is one attempt
// at a shared lock (SQLite), or the reading and judging of the file.
//
// The answer is of the moment: it is for reports, not for deciding that one may go
// on without the lock. It fails with *Failure.
func IsHeld(ctx context.Context, p *platform.Platform, path string, options ...Option) (bool, error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	s, err := settingsOf(path, options)
	if err != nil {
		return false, err
	}
	at, err := resolve(p, path, s)
	if platform.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	switch ahead := inProcess.front(at); {
	case ahead.held != nil:
		return true, nil
	case ahead.taken && ahead.mechanism != s.mechanism:
		// Somebody here attempts by the other mechanism. If that is SQLite, reading
		// the file would drop the lock it is about to get (K11).
		return true, nil
	}
	if s.mechanism == LockFile {
		return isHeldLockFile(at, path)
	}
	return isHeldSQLite(at, path)
}
