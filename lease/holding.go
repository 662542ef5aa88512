package lease

import (
	"context"
	"io"
	"sync"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
)

// Holding is a lease that plain Go code holds until it calls Release or Close, or the
// lease is lost. Its methods may be called from any goroutine, and after its end. One
// that is neither released nor lost is renewed for as long as the process lives.
type Holding struct {
	lease *Lease
	// rt runs the engine's part of each call; scope is what the lease lives in.
	rt    *scope.Parallel
	scope *scope.Scope
	// ctx ends when the lease does.
	ctx    context.Context
	cancel context.CancelCauseFunc

	release sync.Once
	// released is closed when the release is over, and ended, which it guards, is
	// the loss that came before it.
	released chan struct{}
	ended    error
}

var _ io.Closer = (*Holding)(nil)

// Take takes the lease of key and keeps it until Release, Close or a loss, for work
// that has no one function; [Manager.Hold] is for work that has. ctx is for the taking
// alone: its end ends the wait, and not the lease. It fails as Hold does before its
// work runs.
func (m *Manager) Take(ctx context.Context, key string, options ...AcquireOption) (*Holding, error) {
	return m.take(ctx, "Take", key, options)
}

func (m *Manager) take(ctx context.Context, call, key string, options []AcquireOption) (*Holding, error) {
	if err := m.refuseInside(ctx, call, key); err != nil {
		return nil, err
	}
	h := &Holding{rt: scope.NewParallel(), scope: scope.New(scope.Sequential), released: make(chan struct{})}
	taken := false
	// Of an acquisition that failed, too, something may be left to release; and an
	// observer may end the goroutine.
	defer func() {
		if !taken {
			h.closeScope(h.scope)
		}
	}()
	l, err := plainly(ctx, h.rt, key, m.Acquire(key, options...).ProvideScope(h.scope))
	if err != nil {
		return nil, err
	}
	h.lease = l
	h.ctx, h.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	l.onLoss(func(lost *Lost) { h.cancel(lost) })
	taken = true
	return h, nil
}

// Key is what is held.
func (h *Holding) Key() string { return h.lease.token.Key }

// Token is the fencing token of this acquisition. Give it to every resource that the
// work writes to, and let that check it with [CheckFence].
func (h *Holding) Token() FencingToken { return h.lease.token }

// Context returns a context that ends when the lease does, with *Lost as its cause
// ([context.Cause]): when it is lost, and with the reason released when its release
// begins. It has the values of the context that Take was given, and no deadline.
func (h *Holding) Context() context.Context { return h.ctx }

// RunFenced runs work under the key's fence, on the caller's goroutine: no other
// fenced work of the key runs anywhere meanwhile. work's context is ctx, and ends with
// *Lost as its cause when the lease ends. The error is as that of [Manager.Hold]. Calls
// wait for each other; one with a context of work that holds the same key is refused
// with an error.
func (h *Holding) RunFenced(ctx context.Context, work func(ctx context.Context, token FencingToken) error) error {
	l := h.lease
	if err := l.m.refuseInside(ctx, "RunFenced", l.token.Key); err != nil {
		return err
	}
	// No interruption falls between the counting of this run and its leave.
	run, err := plainly(context.WithoutCancel(ctx), h.rt, l.token.Key, effect.Direct(l.enter))
	if err != nil {
		return err
	}
	defer l.leave(run)
	fence := new(scope.Scope)
	defer h.closeScope(fence)
	if _, err := plainly(ctx, h.rt, l.token.Key, l.admitIn(fence)); err != nil {
		return err
	}
	return h.perform(ctx, run, work)
}

// admitIn takes the key's fence in s and looks at the record under it, unless the lease
// is lost meanwhile.
func (l *Lease) admitIn(s *scope.Scope) effect.Effect[effect.Unit] {
	lost := l.Lost().Map(func(effect.Nothing) (never effect.Unit) { return never })
	return lost.RaceFirst(l.m.fence(l.token.Key).ProvideScope(s).AndThen(effect.Direct(l.admit)))
}

// perform runs work, whose fence is held.
func (h *Holding) perform(ctx context.Context, run *fencedRun, work func(context.Context, FencingToken) error) error {
	ctx, cancel := context.WithCancelCause(run.context(ctx))
	defer cancel(nil)
	defer context.AfterFunc(h.ctx, func() { cancel(context.Cause(h.ctx)) })()
	err := work(ctx, h.Token())
	if lost := h.lease.check(); lost != nil {
		return lostWith(lost, err)
	}
	return err
}

// lostWith is the error of work that returned err after its lease was lost.
func lostWith(lost *Lost, err error) error {
	if err == nil || err == context.Canceled {
		return lost
	}
	if already, ok := errors.AsType[*Lost](err); ok && already == lost {
		return err
	}
	return errors.Join(lost, err)
}

// Release gives the lease up. It ends the contexts of this holding's fenced work, waits
// for that to return, and writes that the lease is free, for which it has one
// Heartbeat; a lease that could not be released then is left to its TTL.
//
// It returns nil when the lease was held until then, and *Lost when it had been lost
// before. When ctx ends first it returns an error that says so, and the release goes on
// by itself. Called with a context of this holding's own fenced work it does not wait
// at all: the lease is released when the work has returned. Later calls are like the
// first.
func (h *Holding) Release(ctx context.Context) error {
	h.release.Do(func() {
		// Before: from now on the loss may be the release itself.
		before := h.lease.check()
		go func() {
			defer close(h.released)
			h.giveUp(before)
		}()
	})
	if fencedOf(ctx).of(h.lease) {
		return nil
	}
	select {
	case <-h.released:
		return h.ended
	default:
	}
	select {
	case <-h.released:
		return h.ended
	case <-ctx.Done():
		return contextError(ctx, h.Key())
	}
}

// Close is [Holding.Release] without a limit. It is not for this holding's own fenced
// work: that would wait for itself, which nobody can tell without its context.
func (h *Holding) Close() error { return h.Release(context.Background()) }

// close is Close on the caller's goroutine, for a holding that nobody else has.
func (h *Holding) close() {
	h.closeScope(h.scope)
	h.cancel(nil)
}

func (h *Holding) giveUp(before *Lost) {
	h.close()
	h.lease.mu.Lock()
	lost := h.lease.lost
	h.lease.mu.Unlock()
	if before != nil || lost.Reason != LostReleased {
		h.ended = lost
	}
}

// closeScope closes s, whatever becomes of the caller.
func (h *Holding) closeScope(s *scope.Scope) {
	effect.RunExitOn(context.Background(), h.rt, effect.CloseScope(s, scope.ExitSucceed(0)))
}

// of reports whether r is work of l, or inside of it, that has not ended.
func (r *fencedRun) of(l *Lease) bool {
	for at := r; at != nil; at = at.outer {
		if at.lease == l && !at.ended.Completed() {
			return true
		}
	}
	return false
}
