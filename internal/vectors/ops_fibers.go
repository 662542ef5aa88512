package vectors

import "github.com/rivus/tether/effect"

type (
	fiberMap    = effect.FiberMap[string, any]
	fiberSet    = effect.FiberSet[any]
	fiberHandle = effect.FiberHandle[any]
)

func onMap(a args, use func(m *fiberMap) E) E       { return with(a.in, a.str(0), use) }
func onSet(a args, use func(s *fiberSet) E) E       { return with(a.in, a.str(0), use) }
func onHandle(a args, use func(h *fiberHandle) E) E { return with(a.in, a.str(0), use) }

func runOptions(o map[string]any) (opts []effect.RunOption) {
	if o["onlyIfMissing"] == true {
		opts = append(opts, effect.OnlyIfMissing())
	}
	if o["propagateInterruption"] == true {
		opts = append(opts, effect.PropagateInterruption())
	}
	if o["startImmediately"] == false {
		opts = append(opts, effect.StartLater())
	}
	return opts
}

var _ = register(map[string]operation{
	"fiberMap": func(a args) E { return bindTo(a.in, a.str(0), effect.MakeFiberMap[string, any]()) },
	"fmRun": func(a args) E {
		name, key, e, opts := a.str(0), a.str(1), a.of(2), runOptions(a.object(3))
		return onMap(a, func(m *fiberMap) E { return bindTo(a.in, name+"/"+key, m.Run(key, e, opts...)) })
	},
	"fmRemove": func(a args) E {
		key := a.str(1)
		return onMap(a, func(m *fiberMap) E { return void(m.Remove(key)) })
	},
	"fmHas": func(a args) E {
		key := a.str(1)
		return onMap(a, func(m *fiberMap) E { return widen(m.Has(key)) })
	},
	"fmSize":       func(a args) E { return onMap(a, func(m *fiberMap) E { return widen(m.Size()) }) },
	"fmClear":      func(a args) E { return onMap(a, func(m *fiberMap) E { return void(m.Clear()) }) },
	"fmJoin":       func(a args) E { return onMap(a, func(m *fiberMap) E { return void(m.Join()) }) },
	"fmAwaitEmpty": func(a args) E { return onMap(a, func(m *fiberMap) E { return void(m.AwaitEmpty()) }) },

	"fiberSet": func(a args) E { return bindTo(a.in, a.str(0), effect.MakeFiberSet[any]()) },
	"fsRun": func(a args) E {
		e, opts := a.of(1), runOptions(a.object(2))
		return onSet(a, func(s *fiberSet) E { return void(s.Run(e, opts...)) })
	},
	"fsSize":       func(a args) E { return onSet(a, func(s *fiberSet) E { return widen(s.Size()) }) },
	"fsClear":      func(a args) E { return onSet(a, func(s *fiberSet) E { return void(s.Clear()) }) },
	"fsJoin":       func(a args) E { return onSet(a, func(s *fiberSet) E { return void(s.Join()) }) },
	"fsAwaitEmpty": func(a args) E { return onSet(a, func(s *fiberSet) E { return void(s.AwaitEmpty()) }) },

	"fiberHandle": func(a args) E { return bindTo(a.in, a.str(0), effect.MakeFiberHandle[any]()) },
	"fhRun": func(a args) E {
		e, opts := a.of(1), runOptions(a.object(2))
		return onHandle(a, func(h *fiberHandle) E { return void(h.Run(e, opts...)) })
	},
	"fhClear":      func(a args) E { return onHandle(a, func(h *fiberHandle) E { return void(h.Clear()) }) },
	"fhJoin":       func(a args) E { return onHandle(a, func(h *fiberHandle) E { return void(h.Join()) }) },
	"fhAwaitEmpty": func(a args) E { return onHandle(a, func(h *fiberHandle) E { return void(h.AwaitEmpty()) }) },
})
