package effect

import (
	"context"
	"io"

	"github.com/rivus/tether/scope"
)

// AcquireCloser runs acquire masked and closes what it gave when the scope at
// hand closes (TypeScript: acquireDisposable). An error of Close is a defect.
//
//go:noinline
func AcquireCloser[A io.Closer](acquire Effect[A]) Effect[A] {
	return AcquireRelease(acquire, func(v A, _ scope.Exit[any]) Effect[Unit] {
		return Suspend(func() Effect[Unit] {
			if err := v.Close(); err != nil {
				return Die[Unit](err)
			}
			return Void()
		})
	})
}

// ScopedContext gives a context that is cancelled when the scope at hand closes,
// for Go code that outlives a call (TypeScript: abortSignal). It has the values
// of the context that the program runs with.
func ScopedContext() Effect[context.Context] {
	type cancellable struct {
		ctx    context.Context
		cancel context.CancelFunc
	}
	return AcquireRelease(
		Effect[cancellable]{step: func(f *scope.Fiber) (cancellable, *scope.Cause, Effect[cancellable]) {
			ctx, cancel := context.WithCancel(f.Env().Context())
			return cancellable{ctx, cancel}, nil, Effect[cancellable]{}
		}},
		func(c cancellable, _ scope.Exit[any]) Effect[Unit] { return SyncUnit(c.cancel) },
	).Map(func(c cancellable) context.Context { return c.ctx })
}

// Promise is TryPromise for code that cannot fail: a panic is a defect.
//
//go:noinline
func Promise[A any](fn func(ctx context.Context) A) Effect[A] {
	return TryPromise(func(ctx context.Context) (A, error) { return fn(ctx), nil })
}

// ForkScope makes a scope that closes with s, at its place in the order
// (TypeScript: Scope.fork).
func ForkScope(s *scope.Scope, strategy scope.Strategy) Effect[*scope.Scope] {
	return Sync(func() *scope.Scope { return s.Fork(strategy) })
}
