package effect

import (
	"sync"

	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// Service is a key under which programs find a T that somebody provides. T is
// usually an interface. Make each key once, in a package variable.
type Service[T any] struct{ key *scope.Key }

// NewService makes a key. name is what a message about a missing one says.
func NewService[T any](name string) Service[T] { return Service[T]{&scope.Key{Name: name}} }

// ProvidedBy is s whose message, when it is missing, names what provides it, such as
// "platform.Live".
func (s Service[T]) ProvidedBy[_ onUse](what string) Service[T] {
	s.key.Remedy = what
	return s
}

// NewReference makes a key that has a default (TypeScript: Context.Reference).
// def is called, once, when the default is first read.
func NewReference[T any](name string, def func() T) Service[T] {
	return Service[T]{&scope.Key{Name: name, Default: sync.OnceValue(func() any { return def() })}}
}

// Get gives the service. When nobody provided it, it is a defect that names it.
//
//go:noinline
func (s Service[T]) Get[_ onUse]() Effect[T] {
	return Effect[T]{step: func(f *scope.Fiber) (T, *scope.Cause, Effect[T]) {
		v, ok := s.Find(f.Env())
		if !ok {
			return v, missingService(f, s.key), Effect[T]{}
		}
		return v, nil, Effect[T]{}
	}}
}

// Find reads the service from env: its value there, else a reference's default.
func (s Service[T]) Find[_ onUse](env *scope.Env) (T, bool) {
	if v, ok := env.Lookup(s.key); ok {
		t, _ := v.(T)
		return t, true
	}
	if s.key.Default != nil {
		t, _ := s.key.Default().(T)
		return t, true
	}
	var none T
	return none, false
}

// Value is Find that gives T's zero value when there is none.
func (s Service[T]) Value[_ onUse](env *scope.Env) T {
	v, _ := s.Find(env)
	return v
}

// ServiceOption gives the service, or none (TypeScript: serviceOption).
//
//go:noinline
func ServiceOption[T any](s Service[T]) Effect[mo.Option[T]] {
	return Effect[mo.Option[T]]{step: func(f *scope.Fiber) (mo.Option[T], *scope.Cause, Effect[mo.Option[T]]) {
		return mo.TupleToOption(s.Find(f.Env())), nil, Effect[mo.Option[T]]{}
	}}
}

// In is env with v as the service.
func (s Service[T]) In[_ onUse](env *scope.Env, v T) *scope.Env { return env.With(s.key, v) }

// Name is the key's name.
func (s Service[T]) Name[_ onUse]() string { return s.key.Name }

// ProvideService runs e with v as the service s.
//
//go:noinline
func (e Effect[A]) ProvideService[T any](s Service[T], v T) Effect[A] {
	return withEnv(e, func(_ *scope.Fiber, env *scope.Env) *scope.Env { return s.In(env, v) })
}

// ProvideEnv runs e with env's services on top of those at hand (TypeScript:
// provideContext).
func (e Effect[A]) ProvideEnv[_ onUse](env *scope.Env) Effect[A] {
	if e.lit != nil {
		return e
	}
	return withEnv(e, func(_ *scope.Fiber, at *scope.Env) *scope.Env { return at.Merge(env) })
}

// Env gives the services at hand (TypeScript: Effect.context).
func Env() Effect[*scope.Env] {
	return Effect[*scope.Env]{step: func(f *scope.Fiber) (*scope.Env, *scope.Cause, Effect[*scope.Env]) {
		return f.Env(), nil, Effect[*scope.Env]{}
	}}
}

// withEnv runs e with the services that change makes of those at hand.
//
//go:noinline
func withEnv[A any](e Effect[A], change func(f *scope.Fiber, env *scope.Env) *scope.Env) Effect[A] {
	return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
		prev := f.Env()
		// From a defer: finalizers further out run on the way of a Goexit.
		defer f.SetEnv(prev)
		f.SetEnv(change(f, prev))
		return result(guarded(f, e))
	}}
}
