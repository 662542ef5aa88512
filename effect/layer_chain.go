package effect

import "github.com/rivus/tether/scope"

// FlatMap builds the layer that fn makes of l's services, and provides that
// one's. Unlike l and what fn makes, the combination is not memoized: fn is
// called each time it is used.
func (l Layer) FlatMap(fn func(*scope.Env) Layer) Layer {
	return fromBuild(func(m *memoMap, s *scope.Scope) Effect[*scope.Env] {
		return l.build(m, s).FlatMap(func(env *scope.Env) Effect[*scope.Env] { return fn(env).build(m, s) })
	})
}

// LayerUnwrap builds the layer that e gives (TypeScript: Layer.unwrap). e runs
// once in a build, with the layer's scope at hand.
func LayerUnwrap(e Effect[Layer]) Layer {
	return unwrapKey.From(e).FlatMap(func(env *scope.Env) Layer {
		inner, _ := env.Lookup(unwrapKey.key)
		return inner.(Layer)
	})
}

var unwrapKey = NewService[Layer]("Layer.unwrap")

// Tap runs what fn makes of l's services once they are built, with the layer's
// scope at hand. When that fails, the build fails.
func (l Layer) Tap[X any](fn func(*scope.Env) Effect[X]) Layer {
	return fromBuild(func(m *memoMap, s *scope.Scope) Effect[*scope.Env] {
		return l.build(m, s).FlatMap(func(env *scope.Env) Effect[*scope.Env] { return fn(env).As(env).ProvideScope(s) })
	})
}

// TapError runs what h makes of an expected failure to build l, with the layer's
// scope at hand, and fails all the same.
func (l Layer) TapError[X any](h func(error) Effect[X]) Layer {
	return fromBuild(func(m *memoMap, s *scope.Scope) Effect[*scope.Env] {
		return l.build(m, s).Catch(func(err error) Effect[*scope.Env] {
			return h(err).AndThen(Fail[*scope.Env](err)).ProvideScope(s)
		})
	})
}

// TapCause runs what h makes of the cause when l cannot be built, with the
// layer's scope at hand, and fails all the same.
func (l Layer) TapCause[X any](h func(*scope.Cause) Effect[X]) Layer {
	return fromBuild(func(m *memoMap, s *scope.Scope) Effect[*scope.Env] {
		return l.build(m, s).CatchCause(func(c *scope.Cause) Effect[*scope.Env] {
			return h(c).AndThen(FailCause[*scope.Env](c)).ProvideScope(s)
		})
	})
}

// CatchTag builds another layer when l fails with an E, wrapped ones included.
func (l Layer) CatchTag[E error](h func(E) Layer) Layer {
	return unmemoized(func(m *memoMap, s *scope.Scope) Effect[*scope.Env] {
		return l.build(m, s).CatchTag(func(err E) Effect[*scope.Env] { return h(err).build(m, s) })
	})
}

// UpdateService gives l what fn makes of the service s at hand, which l gets in
// its place. When nobody provided that, it is a defect that names it.
func (l Layer) UpdateService[T any](s Service[T], fn func(T) T) Layer {
	return l.Provide(s.From(s.Get().Map(fn)))
}
