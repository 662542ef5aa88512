package effect

import "github.com/rivus/tether/scope"

// UpdateEnv runs e with the services that fn makes of those at hand
// (TypeScript: updateContext). What fn leaves out is gone for e, the scope at
// hand included.
func (e Effect[A]) UpdateEnv[_ onUse](fn func(*scope.Env) *scope.Env) Effect[A] {
	return withEnv(e, func(_ *scope.Fiber, env *scope.Env) *scope.Env { return fn(env) })
}

// SetEnv runs e with env's services and no others (TypeScript: setContext). Not
// even the scope at hand stays, nor the mark by which a lease knows fenced work that
// takes its own fence again, which then waits for ever; see ProvideEnv.
func (e Effect[A]) SetEnv[_ onUse](env *scope.Env) Effect[A] {
	return withEnv(e, func(*scope.Fiber, *scope.Env) *scope.Env { return env })
}

// UpdateService runs e with what fn makes of the service s. When nobody provided
// that, it is a defect that names it.
func (e Effect[A]) UpdateService[T any](s Service[T], fn func(T) T) Effect[A] {
	return s.Get().FlatMap(func(v T) Effect[A] { return e.ProvideService(s, fn(v)) })
}

// ProvideServiceEffect runs e with what acquire gives as the service s.
func (e Effect[A]) ProvideServiceEffect[T any](s Service[T], acquire Effect[T]) Effect[A] {
	return acquire.FlatMap(func(v T) Effect[A] { return e.ProvideService(s, v) })
}

// ClockWith goes on with what fn makes of the runtime's clock.
func ClockWith[A any](fn func(scope.Clock) Effect[A]) Effect[A] {
	return WithFiber(func(f *scope.Fiber) Effect[A] { return fn(f.Clock()) })
}
