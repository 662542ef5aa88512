package effect

import (
	"sync"

	"github.com/rivus/tether/scope"
)

// Layer is a recipe for services: how to build them, in a scope, from other
// services. A layer is one value: used twice in one build, it is built once.
type Layer struct{ node *layerNode }

type layerNode struct {
	build func(memo *memoMap, s *scope.Scope) Effect[*scope.Env]
}

type memoEntry struct {
	layer     *layerNode
	observers int
	// wait gives what complete was given. Functions, since every program that
	// provides a layer compiles what this type names.
	wait     func() Effect[*scope.Env]
	complete func(*scope.Env, *scope.Cause)
	scope    *scope.Scope
}

func newMemoEntry(l *layerNode) *memoEntry {
	built := NewDeferred[*scope.Env]()
	return &memoEntry{
		layer: l, scope: new(scope.Scope),
		wait: func() Effect[*scope.Env] {
			if done, ok := built.Poll(); ok {
				return done
			}
			return built.Await()
		},
		complete: func(env *scope.Env, c *scope.Cause) { built.CompleteNow(FromExit(scope.NewExit(env, c))) },
	}
}

// memoMap shares the layers of one build.
type memoMap struct {
	parent *memoMap
	mu     sync.Mutex
	built  map[*layerNode]*memoEntry
}

var memoKey = NewService[*memoMap]("Layer.CurrentMemoMap")

func newMemoMap(parent *memoMap) *memoMap {
	return &memoMap{parent: parent, built: map[*layerNode]*memoEntry{}}
}

// join counts one more user of l's entry, here or in a map above, and may make one
// here. Counting, finding and making are one step: between them the last user could
// close what is found, or another could make a second one.
func (m *memoMap) join(l *layerNode, mayMake bool) (e *memoEntry, at *memoMap, made bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.built[l]; e != nil {
		e.observers++
		return e, m, false
	}
	if m.parent != nil {
		// Locks are taken upwards only.
		if e, at, _ := m.parent.join(l, false); e != nil {
			return e, at, false
		}
	}
	if !mayMake {
		return nil, nil, false
	}
	e = newMemoEntry(l)
	e.observers = 1
	m.built[l] = e
	return e, m, true
}

// leave takes a user back and tells whether that was the last one, who must close the
// entry. Nobody finds it any more.
func (m *memoMap) leave(e *memoEntry) (last bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e.observers--
	if e.observers == 0 {
		delete(m.built, e.layer)
	}
	return e.observers == 0
}

// share ties s to l's entry, which is made when there is none. It answers nil when s is
// closed: such a scope cannot own a part of an entry.
func (m *memoMap) share(l *layerNode, s *scope.Scope) (e *memoEntry, made bool) {
	var at *memoMap
	s.AddOpen(func() { e, at, made = m.join(l, true) }, func(f *scope.Fiber, exit scope.Exit[any]) *scope.Cause {
		if !at.leave(e) {
			return nil
		}
		return e.scope.Close(f, exit)
	})
	return e, made
}

// find is the entry that there is for l.
func (m *memoMap) find(l *layerNode) *memoEntry {
	for at := m; at != nil; at = at.parent {
		at.mu.Lock()
		e := at.built[l]
		at.mu.Unlock()
		if e != nil {
			return e
		}
	}
	return nil
}

func (m *memoMap) getOrBuild(l *layerNode, s *scope.Scope, build func(*memoMap, *scope.Scope) Effect[*scope.Env]) Effect[*scope.Env] {
	return Suspend(func() Effect[*scope.Env] {
		// The handler is there before the entry is published: it completes the
		// deferred even if this fiber is interrupted.
		var mine *memoEntry
		return onExitEffect(Suspend(func() Effect[*scope.Env] {
			e, made := m.share(l, s)
			switch {
			case made:
				mine = e
				return build(m, e.scope)
			case e == nil:
				if e = m.find(l); e == nil {
					return build(m, s)
				}
			}
			return e.wait()
		}), true, func(f *scope.Fiber, env *scope.Env, c *scope.Cause) *scope.Cause {
			if mine != nil {
				mine.complete(env, c)
			}
			return nil
		})
	})
}

// fromBuild makes a layer whose scope closes when building it fails.
func fromBuild(build func(*memoMap, *scope.Scope) Effect[*scope.Env]) Layer {
	return Layer{&layerNode{build: func(m *memoMap, s *scope.Scope) Effect[*scope.Env] {
		return Suspend(func() Effect[*scope.Env] {
			own := s.Fork(scope.Sequential)
			return onExitEffect(Suspend(func() Effect[*scope.Env] { return build(m, own) }), true,
				func(f *scope.Fiber, env *scope.Env, c *scope.Cause) *scope.Cause {
					if c == nil {
						return nil
					}
					return own.Close(f, scope.NewExit(env, c).Any())
				})
		})
	}}}
}

// unmemoized makes a layer that is nothing but its build: what it is made of is
// memoized, it is not.
func unmemoized(build func(*memoMap, *scope.Scope) Effect[*scope.Env]) Layer {
	return Layer{&layerNode{build: build}}
}

func memoized(build func(*memoMap, *scope.Scope) Effect[*scope.Env]) Layer {
	var self Layer
	self = fromBuild(func(m *memoMap, s *scope.Scope) Effect[*scope.Env] {
		return m.getOrBuild(self.node, s, build)
	})
	return self
}

// LayerEmpty provides nothing.
func LayerEmpty() Layer { return LayerEnv(nil) }

// LayerEnv provides the services of env (TypeScript: Layer.succeedContext).
func LayerEnv(env *scope.Env) Layer {
	return Layer{&layerNode{build: func(*memoMap, *scope.Scope) Effect[*scope.Env] { return Succeed(env) }}}
}

// LayerEffect provides the services that e gives. e runs with the layer's scope
// at hand (TypeScript: Layer.effectContext).
func LayerEffect(e Effect[*scope.Env]) Layer {
	return memoized(func(_ *memoMap, s *scope.Scope) Effect[*scope.Env] {
		return withEnv(e, func(_ *scope.Fiber, env *scope.Env) *scope.Env {
			return building.In(env.WithScope(s), Unit{})
		})
	})
}

// building tells, among the services, that a layer's effect runs.
var building = NewService[Unit]("Layer.building")

// LayerDiscard runs e for what it does, with the layer's scope at hand
// (TypeScript: Layer.effectDiscard).
func LayerDiscard[A any](e Effect[A]) Layer { return LayerEffect(e.As((*scope.Env)(nil))) }

// LayerSuspend makes the layer when it is built.
func LayerSuspend(fn func() Layer) Layer {
	return memoized(func(m *memoMap, s *scope.Scope) Effect[*scope.Env] {
		return Suspend(func() Effect[*scope.Env] { return fn().build(m, s) })
	})
}

// Of is the layer that provides v as the service s.
func (s Service[T]) Of[_ onUse](v T) Layer { return LayerEnv(s.In(nil, v)) }

// From is the layer that provides what e gives as the service s. e runs with
// the layer's scope at hand.
func (s Service[T]) From[_ onUse](e Effect[T]) Layer {
	return LayerEffect(e.Map(func(v T) *scope.Env { return s.In(nil, v) }))
}

func (l Layer) build(m *memoMap, s *scope.Scope) Effect[*scope.Env] {
	if l.node == nil {
		return Die[*scope.Env]("effect: the zero Layer was built")
	}
	return l.node.build(m, s)
}

// LayerMergeAll builds the layers side by side and provides what all provide;
// of two that provide one service the later wins.
func LayerMergeAll(layers ...Layer) Layer {
	return memoized(func(m *memoMap, s *scope.Scope) Effect[*scope.Env] { return mergeAll(layers, m, s) })
}

func mergeAll(layers []Layer, m *memoMap, s *scope.Scope) Effect[*scope.Env] {
	parent := s.Fork(scope.Parallelly)
	return ForEach(layers, func(l Layer, _ int) Effect[*scope.Env] {
		return l.build(m, parent.Fork(scope.Sequential))
	}, Concurrency(len(layers))).Map(func(envs []*scope.Env) *scope.Env {
		var out *scope.Env
		for _, env := range envs {
			out = out.Merge(env)
		}
		return out
	})
}

// Merge provides what both provide.
func (l Layer) Merge(that ...Layer) Layer {
	return LayerMergeAll(append([]Layer{l}, that...)...)
}

func (l Layer) provideWith(that []Layer, combine func(own, given *scope.Env) *scope.Env) Layer {
	return memoized(func(m *memoMap, s *scope.Scope) Effect[*scope.Env] {
		given := Effect[*scope.Env]{}
		if len(that) == 1 {
			given = that[0].build(m, s)
		} else {
			given = mergeAll(that, m, s)
		}
		return given.FlatMap(func(env *scope.Env) Effect[*scope.Env] {
			return l.build(m, s).ProvideEnv(env).Map(func(own *scope.Env) *scope.Env { return combine(own, env) })
		})
	})
}

// Provide gives l the services of that, which it does not pass on.
func (l Layer) Provide(that ...Layer) Layer {
	return l.provideWith(that, func(own, _ *scope.Env) *scope.Env { return own })
}

// ProvideMerge gives l the services of that and provides both.
func (l Layer) ProvideMerge(that ...Layer) Layer {
	return l.provideWith(that, func(own, given *scope.Env) *scope.Env { return given.Merge(own) })
}

// Fresh is l, built anew, with all that it is made of, each time it is used.
func (l Layer) Fresh() Layer {
	return unmemoized(func(_ *memoMap, s *scope.Scope) Effect[*scope.Env] { return l.build(newMemoMap(nil), s) })
}

// CatchCause builds another layer when l cannot be built.
func (l Layer) CatchCause(h func(*scope.Cause) Layer) Layer {
	return unmemoized(func(m *memoMap, s *scope.Scope) Effect[*scope.Env] {
		return l.build(m, s).CatchCause(func(c *scope.Cause) Effect[*scope.Env] { return h(c).build(m, s) })
	})
}

// Catch builds another layer when l fails with an expected failure.
func (l Layer) Catch(h func(error) Layer) Layer {
	return unmemoized(func(m *memoMap, s *scope.Scope) Effect[*scope.Env] {
		return l.build(m, s).Catch(func(err error) Effect[*scope.Env] { return h(err).build(m, s) })
	})
}

// OrDie turns a failure to build l into a defect.
func (l Layer) OrDie() Layer {
	return unmemoized(func(m *memoMap, s *scope.Scope) Effect[*scope.Env] { return l.build(m, s).OrDie() })
}

// BuildIn builds l in s and gives its services (TypeScript: buildWithScope).
func (l Layer) BuildIn(s *scope.Scope) Effect[*scope.Env] {
	return WithFiber(func(f *scope.Fiber) Effect[*scope.Env] {
		return l.buildWith(newMemoMap(memoKey.Value(f.Env())), s)
	})
}

// Build builds l in the scope at hand and gives its services.
func (l Layer) Build() Effect[*scope.Env] { return Scope().FlatMap(l.BuildIn) }

// Launch builds l and keeps it until it is interrupted.
func (l Layer) Launch() Effect[Nothing] { return Scoped(l.Build().AndThen(Never[Nothing]())) }

// Provide builds the layers in a scope of their own, runs e with their services,
// and closes the scope when e has ended. The layers are built side by side, as by
// LayerMergeAll: none gets the services of another, for which Layer.Provide and
// Layer.ProvideMerge are.
func (e Effect[A]) Provide[_ onUse](layers ...Layer) Effect[A] {
	build := together(layers)
	return ScopedWith(func(s *scope.Scope) Effect[A] {
		return Effect[A]{step: func(f *scope.Fiber) (A, *scope.Cause, Effect[A]) {
			env, c := build(f, s)
			if c != nil {
				return failed[A](c)
			}
			return then(e.ProvideEnv(env))
		}}
	})
}

// together gives what builds the layers, which share what they have in common.
//
//go:noinline
func together(layers []Layer) func(f *scope.Fiber, s *scope.Scope) (*scope.Env, *scope.Cause) {
	l := LayerMergeAll(layers...)
	if len(layers) == 1 {
		l = layers[0]
	}
	return func(f *scope.Fiber, s *scope.Scope) (*scope.Env, *scope.Cause) { return run(f, l.BuildIn(s)) }
}
