package vectors

import (
	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

type fiber = effect.Fiber[any]

func forkOptions(o map[string]any) (opts []effect.ForkOption) {
	if o["immediate"] == true {
		opts = append(opts, effect.StartImmediately())
	}
	switch o["uninterruptible"] {
	case true:
		opts = append(opts, effect.StartUninterruptible())
	case "inherit":
		opts = append(opts, effect.StartInherited())
	}
	return opts
}

var _ = register(map[string]operation{
	"fork": func(a args) E {
		name, e, o := a.str(0), a.of(1), a.object(2)
		opts := forkOptions(o)
		if in, ok := o["in"].(string); ok {
			return with(a.in, in, func(s *scope.Scope) E { return bindTo(a.in, name, effect.ForkIn(e, s, opts...)) })
		}
		switch o["kind"] {
		case "detach":
			return bindTo(a.in, name, effect.ForkDetach(e, opts...))
		case "scoped":
			return bindTo(a.in, name, effect.ForkScoped(e, opts...))
		default:
			return bindTo(a.in, name, effect.ForkChild(e, opts...))
		}
	},
	"join": func(a args) E { return with(a.in, a.str(0), func(f *fiber) E { return f.Join() }) },
	"await": func(a args) E {
		name := a.str(0)
		return with(a.in, name, func(f *fiber) E {
			return f.Await().FlatMap(func(x scope.Exit[any]) E {
				return a.in.say(func() string { return "await:" + name + ":" + exitText(x) })
			})
		})
	},
	"interruptFiber": func(a args) E { return with(a.in, a.str(0), func(f *fiber) E { return void(f.Interrupt()) }) },
	"interruptAll": func(a args) E {
		names := a.list(0)
		return effect.Suspend(func() E {
			fibers := make([]effect.AnyFiber, len(names))
			for i, n := range names {
				name, _ := n.(string)
				fibers[i] = as[*fiber](a.in, name)
			}
			return void(effect.InterruptAll(fibers...))
		})
	},
	"signal": func(a args) E {
		name := a.str(0)
		return effect.Sync(func() any {
			as[*fiber](a.in, name).InterruptNow(0)
			return nil
		})
	},
	"poll": func(a args) E {
		name := a.str(0)
		return effect.Direct(func(f *scope.Fiber) (any, *scope.Cause) {
			state := "pending"
			if x, ok := as[*fiber](a.in, name).Exited(); ok {
				state = exitText(x)
			}
			a.in.log(f, "poll:"+name+":"+state)
			return nil, nil
		})
	},
	"awaitAllChildren": func(a args) E { return a.of(0).AwaitAllChildren() },

	"race":          func(a args) E { return a.of(0).Race(a.of(1)) },
	"raceFirst":     func(a args) E { return a.of(0).RaceFirst(a.of(1)) },
	"raceAll":       func(a args) E { return effect.RaceAll(a.each(0)...) },
	"raceAllFirst":  func(a args) E { return effect.RaceAllFirst(a.each(0)...) },
	"timeout":       func(a args) E { return a.of(1).Timeout(a.ms(0)) },
	"timeoutOption": func(a args) E { return widen(effect.TimeoutOption(a.of(1), a.ms(0))) },
	"timeoutOrElse": func(a args) E {
		h := a.of(2)
		return a.of(1).TimeoutOrElse(a.ms(0), func() E { return h })
	},
	"all": func(a args) E {
		list, at, o := a.each(0), a.concurrency(1), a.object(2)
		discard, result := o["discard"] == true, o["mode"] == "result"
		switch {
		case discard && result:
			return void(effect.AllResultDiscard(list, at))
		case discard:
			return void(effect.AllDiscard(list, at))
		case result:
			return effect.AllResult(list, at).Map(func(rs []mo.Result[any]) any { return make([]any, len(rs)) })
		default:
			return effect.All(list, at).Map(func(vs []any) any { return vs })
		}
	},
	"forEach": func(a args) E {
		items, e, at := a.list(0), a.of(1), a.concurrency(2)
		each := func(item any, _ int) E {
			return a.in.logged(func() string { return "item:" + itemText(item) }, e)
		}
		if a.object(3)["discard"] == true {
			return void(effect.ForEachDiscard(items, each, at))
		}
		return effect.ForEach(items, each, at).Map(func(vs []any) any { return vs })
	},
	"zip": func(a args) E {
		if a.at(2) == true {
			return widen(effect.ZipConcurrent(a.of(0), a.of(1)))
		}
		return widen(effect.Zip(a.of(0), a.of(1)))
	},
})
