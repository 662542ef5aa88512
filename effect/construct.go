package effect

import (
	"github.com/rivus/tether/scope"
)

// Succeed is the effect that succeeds with v.
func Succeed[A any](v A) Effect[A] { return Effect[A]{lit: &literal[A]{value: v}} }

var unit = &literal[Unit]{}

// Void is the effect that does nothing (TypeScript: Effect.void).
func Void() Effect[Unit] { return Effect[Unit]{lit: unit} }

// Fail is the effect that fails with err. Failing with nil is a defect.
func Fail[A any](err error) Effect[A] { return Effect[A]{lit: &literal[A]{cause: failure(err)}} }

// failure is the cause of Fail.
//
//go:noinline
func failure(err error) *scope.Cause {
	if err == nil {
		return scope.CauseDie("effect: Fail(nil)")
	}
	return scope.CauseFail(err)
}

// FailCause is the effect that fails with a cause. A nil cause is a defect.
func FailCause[A any](c *scope.Cause) Effect[A] {
	if c == nil {
		c = scope.CauseDie("effect: FailCause(nil)")
	}
	return Effect[A]{lit: &literal[A]{cause: c}}
}

// Die is the effect that ends with a defect.
func Die[A any](defect any) Effect[A] {
	return Effect[A]{lit: &literal[A]{cause: scope.CauseDie(defect)}}
}

// FromExit is the effect that ends with e (TypeScript: an Exit is an Effect).
func FromExit[A any](e scope.Exit[A]) Effect[A] {
	v, _ := e.Value()
	return Effect[A]{lit: &literal[A]{value: v, cause: e.Cause()}}
}

// FromResult is the effect of a Go pair, known already.
func FromResult[A any](v A, err error) Effect[A] {
	if err != nil {
		return Fail[A](err)
	}
	return Succeed(v)
}

// Sync is the effect that calls fn and succeeds with its result. A panic is a
// defect. fn runs on the fiber and must not block; see Blocking.
//
//go:noinline
func Sync[A any](fn func() A) Effect[A] {
	return Effect[A]{step: func(*scope.Fiber) (A, *scope.Cause, Effect[A]) { return fn(), nil, Effect[A]{} }}
}

// SyncUnit runs fn for what it does; it is Sync without a result.
//
//go:noinline
func SyncUnit(fn func()) Effect[Unit] {
	return Effect[Unit]{step: func(*scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
		fn()
		return Unit{}, nil, Effect[Unit]{}
	}}
}

// Try is the effect that calls fn: its error is a failure, a panic a defect. fn
// runs on the fiber and must not block; see Blocking.
//
//go:noinline
func Try[A any](fn func() (A, error)) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		v, err := fn()
		if err != nil {
			return again[A](failure(err))
		}
		return v, nil, Effect[A]{}
	}}
}

// Suspend is the effect that fn builds, each time it runs.
//
//go:noinline
func Suspend[A any](fn func() Effect[A]) Effect[A] {
	return Effect[A]{step: func(*scope.Fiber) (A, *scope.Cause, Effect[A]) { return then(fn()) }}
}

// WithFiber is Suspend for code that needs the fiber that runs it.
//
//go:noinline
func WithFiber[A any](fn func(f *scope.Fiber) Effect[A]) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) { return then(fn(f)) }}
}

// Direct is the effect of direct-style code on the kernel. fn runs on f and
// gives a result or a cause.
func Direct[A any](fn func(f *scope.Fiber) (A, *scope.Cause)) Effect[A] { return primitive(fn) }

// RunOn evaluates e on f, for direct-style code (finalizers of a scope.Scope,
// bodies of scope's forks). It must be called on f's own goroutine.
func RunOn[A any](f *scope.Fiber, e Effect[A]) (A, *scope.Cause) { return run(f, e) }

// FiberID is the number of the fiber that runs it.
func FiberID() Effect[scope.FiberID] {
	return Effect[scope.FiberID]{step: func(f *scope.Fiber) (scope.FiberID, *scope.Cause, Effect[scope.FiberID]) {
		return f.ID(), nil, Effect[scope.FiberID]{}
	}}
}

// Never is the effect that never ends, except by interruption.
//
//go:noinline
func Never[A any]() Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		var zero A
		p := f.Block(f.Arm(), waitNever)
		return zero, p.Cause, Effect[A]{}
	}}
}

var (
	waitNever = &scope.Waiting{What: "nothing (Never)"}
	waitYield = &scope.Waiting{What: "its turn (YieldNow)"}
)

// YieldNow lets everything else that is ready run first.
//
//go:noinline
func YieldNow() Effect[Unit] {
	return Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
		return Unit{}, yieldNow(f), Effect[Unit]{}
	}}
}

func yieldNow(f *scope.Fiber) *scope.Cause {
	// On the parallel runtime the wait below is over before it begins; whoever
	// started f at once goes on all the same.
	scope.AboutToBlock(f)
	t := f.Arm()
	t.WakeLater(f)
	return f.Block(t, waitYield).Cause
}
