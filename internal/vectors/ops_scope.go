package vectors

import (
	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

func strategy(a args, i int) scope.Strategy {
	if a.at(i) == "parallel" {
		return scope.Parallelly
	}
	return scope.Sequential
}

type finalizer = func(scope.Exit[any]) E

// addFinalizer adds fin to the scope at hand. When that is closed, fin runs at
// once, and TypeScript, whose types say void, gives fin's result.
func addFinalizer(fin finalizer) E {
	return effect.Suspend(func() E {
		var result any
		return effect.AddFinalizer(func(x scope.Exit[any]) E {
			return fin(x).Tap(func(v any) E {
				result = v
				return effect.Succeed(v)
			})
		}).Map(func(effect.Unit) any { return result })
	})
}

func (in *interp) finalizer(e E) finalizer {
	return func(x scope.Exit[any]) E {
		return in.logged(func() string { return "finalizer:" + exitText(x) }, e)
	}
}

func (in *interp) release(e E) func(any, scope.Exit[any]) E {
	return func(_ any, x scope.Exit[any]) E {
		return in.logged(func() string { return "release:" + exitText(x) }, e)
	}
}

var _ = register(map[string]operation{
	"acquireRelease": func(a args) E { return effect.AcquireRelease(a.of(0), a.in.release(a.of(1))) },
	"acquireReleaseInterruptible": func(a args) E {
		return effect.AcquireReleaseInterruptible(a.of(0), a.in.release(a.of(1)))
	},
	"acquireUseRelease": func(a args) E {
		use, release := a.of(1), a.of(2)
		return effect.AcquireUseRelease(a.of(0), func(any) E { return use }, a.in.release(release))
	},
	"addFinalizer": func(a args) E { return addFinalizer(a.in.finalizer(a.of(0))) },
	"scoped":       func(a args) E { return effect.Scoped(a.of(0)) },
	"scopeMake":    func(a args) E { return bindTo(a.in, a.str(0), effect.MakeScope(strategy(a, 1))) },
	"scopeFork": func(a args) E {
		name, how := a.str(1), strategy(a, 2)
		return with(a.in, a.str(0), func(s *scope.Scope) E {
			return bindTo(a.in, name, effect.Sync(func() *scope.Scope { return s.Fork(how) }))
		})
	},
	"scopeAdd": func(a args) E {
		fin := a.in.finalizer(a.of(1))
		return with(a.in, a.str(0), func(s *scope.Scope) E { return void(effect.AddFinalizerTo(s, fin)) })
	},
	"scopeClose": func(a args) E {
		exit := exitOf(a.at(1))
		return with(a.in, a.str(0), func(s *scope.Scope) E { return void(effect.CloseScope(s, exit)) })
	},
	"scopeProvide": func(a args) E {
		e := a.of(1)
		return with(a.in, a.str(0), func(s *scope.Scope) E { return e.ProvideScope(s) })
	},
	"scopeUse": func(a args) E {
		e := a.of(1)
		return with(a.in, a.str(0), func(s *scope.Scope) E { return e.UseScope(s) })
	},
})
