package vectors

import (
	"sync"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

var reference = effect.NewReference("conformance/Ref", func() any { return "default" })

var keys sync.Map

func serviceKey(name string) effect.Service[any] {
	key, ok := keys.Load(name)
	if !ok {
		key, _ = keys.LoadOrStore(name, effect.NewService[any](name))
	}
	return key.(effect.Service[any])
}

func (in *interp) layer(x any) effect.Layer {
	list, _ := x.([]any)
	if len(list) < 2 {
		bad("%v is no layer", x)
	}
	switch list[0] {
	case "l":
		name, _ := list[1].(string)
		return as[effect.Layer](in, name)
	case "merge":
		return in.layer(list[1]).Merge(in.layer(list[2]))
	case "provide":
		return in.layer(list[1]).Provide(in.layer(list[2]))
	case "provideMerge":
		return in.layer(list[1]).ProvideMerge(in.layer(list[2]))
	case "fresh":
		return in.layer(list[1]).Fresh()
	case "catch":
		return in.layer(list[1]).Catch(func(error) effect.Layer { return in.layer(list[2]) })
	case "orDie":
		return in.layer(list[1]).OrDie()
	}
	bad("unknown layer %v", list[0])
	return effect.Layer{}
}

var _ = register(map[string]operation{
	"layer": func(a args) E {
		name, key, e := a.str(0), a.str(1), a.of(2)
		return effect.Sync(func() any {
			a.in.bind(name, serviceKey(key).From(e))
			return nil
		})
	},
	"provideLayer": func(a args) E {
		e := a.of(1)
		return effect.Suspend(func() E { return e.Provide(a.in.layer(a.at(0))) })
	},
	"buildLayer": func(a args) E {
		return with(a.in, a.str(1), func(s *scope.Scope) E { return void(a.in.layer(a.at(0)).BuildIn(s)) })
	},
	"service": func(a args) E {
		key := a.str(0)
		return serviceKey(key).Get().FlatMap(func(v any) E {
			return a.in.logged(func() string { return "service:" + key + ":" + itemText(v) }, effect.Succeed(v))
		})
	},
	"provideService": func(a args) E { return a.of(2).ProvideService(serviceKey(a.str(0)), a.at(1)) },
	"withRef":        func(a args) E { return a.of(1).ProvideService(reference, a.at(0)) },
	"readRef": func(a args) E {
		return reference.Get().FlatMap(func(v any) E {
			return a.in.logged(func() string { return "ref:" + itemText(v) }, effect.Succeed(v))
		})
	},
})
