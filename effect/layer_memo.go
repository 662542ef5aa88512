package effect

import "github.com/rivus/tether/scope"

// MemoMap remembers the layers that were built with it, so that several builds
// share them. Provide, Build and BuildIn make one for themselves.
type MemoMap struct{ built *memoMap }

// MakeMemoMap makes a memo map (TypeScript: Layer.makeMemoMap).
func MakeMemoMap() Effect[MemoMap] { return Sync(NewMemoMap) }

// NewMemoMap makes a memo map outside any effect (TypeScript:
// Layer.makeMemoMapUnsafe).
func NewMemoMap() MemoMap { return MemoMap{newMemoMap(nil)} }

// Fork makes a memo map that shares what m has, and keeps to itself what is
// built with it (TypeScript: Layer.forkMemoMapUnsafe).
func (m MemoMap) Fork() MemoMap { return MemoMap{newMemoMap(m.built)} }

// BuildWith builds l in s and gives its services; layers that were built with m
// before, and whose scopes are open, are shared (TypeScript:
// Layer.buildWithMemoMap). The zero MemoMap is a defect.
func (l Layer) BuildWith(m MemoMap, s *scope.Scope) Effect[*scope.Env] {
	if m.built == nil {
		return Die[*scope.Env]("effect: BuildWith with the zero MemoMap")
	}
	return l.buildWith(m.built, s)
}

// buildWith builds l with m, which layers that l's own building provides find
// and fork.
func (l Layer) buildWith(m *memoMap, s *scope.Scope) Effect[*scope.Env] {
	return Suspend(func() Effect[*scope.Env] { return l.build(m, s) }).
		Map(func(env *scope.Env) *scope.Env { return memoKey.In(env, m) }).
		ProvideService(memoKey, m)
}
