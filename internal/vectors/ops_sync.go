package vectors

import (
	"fmt"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

type deferred = effect.Deferred[any]

var _ = register(map[string]operation{
	"deferred": func(a args) E { return bindTo(a.in, a.str(0), effect.MakeDeferred[any]()) },
	"dAwait":   func(a args) E { return with(a.in, a.str(0), func(d *deferred) E { return d.Await() }) },
	"dPoll": func(a args) E {
		name := a.str(0)
		return with(a.in, name, func(d *deferred) E {
			return d.IsDone().FlatMap(func(done bool) E {
				return a.in.logged(func() string { return fmt.Sprintf("isDone:%s:%t", name, done) }, effect.Succeed[any](done))
			})
		})
	},
	"dDone": func(a args) E {
		name, exit := a.str(0), exitOf(a.at(1))
		return with(a.in, name, func(d *deferred) E {
			return d.Done(exit).FlatMap(func(done bool) E {
				return a.in.logged(func() string { return fmt.Sprintf("done:%s:%t", name, done) }, effect.Succeed[any](done))
			})
		})
	},
	"dComplete": func(a args) E {
		e := a.of(1)
		return with(a.in, a.str(0), func(d *deferred) E { return widen(d.Complete(e)) })
	},
	"dInto": func(a args) E {
		e := a.of(1)
		return with(a.in, a.str(0), func(d *deferred) E { return widen(d.Into(e)) })
	},

	"semaphore": func(a args) E { return bindTo(a.in, a.str(0), effect.MakeSemaphore(a.int(1))) },
	"withPermits": func(a args) E {
		n, e := a.int(1), a.of(2)
		return with(a.in, a.str(0), func(s *effect.Semaphore) E { return s.WithPermits(n, e) })
	},
	"ifAvailable": func(a args) E {
		n, e := a.int(1), a.of(2)
		return with(a.in, a.str(0), func(s *effect.Semaphore) E { return widen(s.WithPermitsIfAvailable(n, e)) })
	},
	"take": func(a args) E {
		n := a.int(1)
		return with(a.in, a.str(0), func(s *effect.Semaphore) E { return widen(s.Take(n)) })
	},
	"release": func(a args) E {
		n := a.int(1)
		return with(a.in, a.str(0), func(s *effect.Semaphore) E { return widen(s.Release(n)) })
	},

	"latch": func(a args) E {
		open := a.at(1) == true
		return bindTo(a.in, a.str(0), effect.MakeLatch(open))
	},
	"lOpen":    func(a args) E { return with(a.in, a.str(0), func(l *effect.Latch) E { return widen(l.Open()) }) },
	"lClose":   func(a args) E { return with(a.in, a.str(0), func(l *effect.Latch) E { return widen(l.Close()) }) },
	"lRelease": func(a args) E { return with(a.in, a.str(0), func(l *effect.Latch) E { return widen(l.Release()) }) },
	"lAwait":   func(a args) E { return with(a.in, a.str(0), func(l *effect.Latch) E { return void(l.Await()) }) },
	"whenOpen": func(a args) E {
		e := a.of(1)
		return with(a.in, a.str(0), func(l *effect.Latch) E { return l.WhenOpen(e) })
	},

	"tryPromise": func(a args) E { return a.in.promise(a.object(0)) },
	"callback":   func(a args) E { return a.in.callback(a.object(0), a) },
})

// promise is foreign work whose settling the program's clock decides. It is
// written on the kernel, since TryPromise starts a real goroutine.
func (in *interp) promise(o map[string]any) E {
	name, _ := o["name"].(string)
	ms, _ := o["ms"].(float64)
	exit := exitOf(o["result"])
	signal, abortable := o["signal"] == true, o["abortable"] == true
	return effect.Direct(func(f *scope.Fiber) (any, *scope.Cause) {
		in.log(f, "started:"+name)
		t := f.Arm()
		timer := f.Clock().AfterFunc(millis(ms), func() {
			in.log(nil, "settled:"+name)
			scope.Settled(f.Runtime(), func() { t.Wake() })
		})
		p := f.Block(t, &scope.Waiting{What: "promise " + name})
		c := p.Cause
		v, _ := exit.Value()
		if c == nil {
			c = exit.Cause()
		}
		if signal {
			c = f.Settle(c, func() *scope.Cause {
				in.log(nil, "abort:"+name)
				if abortable {
					timer.Stop()
				}
				return nil
			})
		}
		if c != nil {
			v = nil
		}
		return v, c
	})
}

func (in *interp) callback(o map[string]any, a args) E {
	name, _ := o["name"].(string)
	cleanup := void(effect.Void())
	if c, ok := o["cancel"]; ok && c != nil {
		cleanup = in.compile(c, a.restore)
	}
	var exit scope.Exit[any]
	ms, timed := o["ms"].(float64)
	if timed {
		exit = exitOf(o["result"])
	}
	return effect.WithFiber(func(f *scope.Fiber) E {
		return effect.Callback(func(resume func(E)) effect.Effect[effect.Unit] {
			in.log(f, "register:"+name)
			forget := func() bool { return true }
			if timed {
				forget = f.Clock().AfterFunc(millis(ms), func() { resume(effect.FromExit(exit)) }).Stop
			}
			return in.logged(func() string { return "cancel:" + name }, cleanup).
				AndThen(effect.SyncUnit(func() { forget() }))
		})
	})
}
