package vectors

import (
	"fmt"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

var _ = register(map[string]operation{
	"succeed":   func(a args) E { return effect.Succeed(a.at(0)) },
	"fail":      func(a args) E { return effect.Fail[any](failure{a.str(0)}) },
	"die":       func(a args) E { return effect.Die[any](a.at(0)) },
	"throw":     func(a args) E { return effect.Sync(func() any { panic(a.at(0)) }) },
	"interrupt": func(args) E { return effect.Interrupt[any]() },
	"never":     func(args) E { return effect.Never[any]() },
	"log": func(a args) E {
		x := a.at(0)
		return a.in.say(func() string { return itemText(x) })
	},
	"yield": func(a args) E { return void(a.in.pause) },
	"sleep": func(a args) E { return void(effect.Sleep(a.ms(0))) },
	"now": func(a args) E {
		return effect.Direct(func(f *scope.Fiber) (any, *scope.Cause) {
			now := float64(f.Clock().Monotonic().Milliseconds())
			a.in.log(f, "now:"+text(now))
			return now, nil
		})
	},

	"seq": func(a args) E {
		all := void(effect.Void())
		for i := range a.all {
			if e := a.of(i); i == 0 {
				all = e
			} else {
				all = all.AndThen(e)
			}
		}
		return all
	},
	"let": func(a args) E {
		name, e, body := a.str(0), a.of(1), a.of(2)
		return e.FlatMap(func(v any) E {
			a.in.bind(name, v)
			return body
		})
	},
	"get": func(a args) E {
		name := a.str(0)
		return with(a.in, name, func(v any) E { return effect.Succeed(v) })
	},
	"show": func(a args) E {
		return a.of(0).FlatMap(func(v any) E {
			return a.in.logged(func() string { return "show:" + text(v) }, effect.Succeed(v))
		})
	},
	"suspend": func(a args) E {
		e := a.of(0)
		return effect.Suspend(func() E { return e })
	},

	"catch": func(a args) E {
		e, h := a.of(0), a.of(1)
		return e.Catch(func(error) E { return h })
	},
	"catchTag": func(a args) E {
		e, tag, h := a.of(0), a.str(1), a.of(2)
		return e.CatchIf(func(err error) bool { return tagOf(err) == tag }, func(error) E { return h })
	},
	"catchDefect": func(a args) E {
		e, h := a.of(0), a.of(1)
		return e.CatchDefect(func(d any) E {
			return a.in.logged(func() string { return "defect:" + itemText(messageOf(d)) }, h)
		})
	},
	"catchCause": func(a args) E {
		e, h := a.of(0), a.of(1)
		return e.CatchCause(func(c *scope.Cause) E {
			return a.in.logged(func() string { return "cause:" + causeText(c) }, h)
		})
	},
	"tapCause": func(a args) E {
		e, h := a.of(0), a.of(1)
		return e.TapCause(func(c *scope.Cause) E {
			return a.in.logged(func() string { return "cause:" + causeText(c) }, h)
		})
	},
	"exit": func(a args) E {
		return effect.Exit(a.of(0)).FlatMap(func(e scope.Exit[any]) E {
			return a.in.say(func() string { return "exit:" + exitText(e) })
		})
	},
	"matchEffect": func(a args) E {
		e, bad, ok := a.of(0), a.of(1), a.of(2)
		return e.MatchEffect(func(error) E { return bad }, func(any) E { return ok })
	},
	"matchCause": func(a args) E {
		e, bad, ok := a.of(0), a.of(1), a.of(2)
		return e.MatchCauseEffect(func(c *scope.Cause) E {
			return a.in.logged(func() string { return "cause:" + causeText(c) }, bad)
		}, func(any) E { return ok })
	},
	"flip": func(a args) E {
		return a.of(0).MatchEffect(
			func(err error) E { return effect.Succeed(tagOf(err)) },
			func(v any) E { return effect.Fail[any](flipped{v}) })
	},
	"ignore": func(a args) E { return void(a.of(0).Ignore()) },
	"orDie":  func(a args) E { return a.of(0).OrDie() },
	"option": func(a args) E { return widen(effect.Option(a.of(0))) },
	"mapError": func(a args) E {
		tag := a.str(1)
		return a.of(0).MapError(func(error) error { return failure{tag} })
	},
	"tapError": func(a args) E {
		e, h := a.of(0), a.of(1)
		return e.TapError(func(error) E { return h })
	},
	"sandboxed": func(a args) E {
		return a.of(0).Sandbox().CatchTag(func(s *effect.Sandboxed) E {
			return a.in.say(func() string { return "cause:" + causeText(s.Cause) })
		})
	},

	"onExit": func(a args) E {
		e, fin := a.of(0), a.of(1)
		return e.OnExit(func(x scope.Exit[any]) E {
			return a.in.logged(func() string { return "onExit:" + exitText(x) }, fin)
		})
	},
	"onError": func(a args) E {
		e, fin := a.of(0), a.of(1)
		return e.OnError(func(c *scope.Cause) E {
			return a.in.logged(func() string { return "onError:" + causeText(c) }, fin)
		})
	},
	"ensuring": func(a args) E { return a.of(0).Ensuring(a.of(1)) },
	"onInterrupt": func(a args) E {
		e, fin := a.of(0), a.of(1)
		return e.OnInterrupt(func([]scope.FiberID) E { return fin })
	},
	"uninterruptible": func(a args) E { return a.of(0).Uninterruptible() },
	"interruptible":   func(a args) E { return a.of(0).Interruptible() },
	"mask": func(a args) E {
		body := a.at(0)
		return effect.UninterruptibleMask(func(r effect.Restore) E { return a.in.compile(body, &r) })
	},
	"interruptibleMask": func(a args) E {
		body := a.at(0)
		return effect.InterruptibleMask(func(r effect.Restore) E { return a.in.compile(body, &r) })
	},
	"restore": func(a args) E {
		if a.restore == nil {
			return a.of(0)
		}
		return a.restore.Run(a.of(0))
	},
	"forever": func(a args) E { return void(a.of(0).Forever()) },
	"failUntil": func(a args) E {
		e, tag, n, counter := a.of(0), a.str(1), a.int(2), fmt.Sprint(a.at(3))
		return effect.Suspend(func() E {
			a.in.mu.Lock()
			runs := a.in.counters[counter]
			a.in.counters[counter] = runs + 1
			a.in.mu.Unlock()
			if runs < n {
				return effect.Fail[any](failure{tag})
			}
			return e
		})
	},
})

// flipped is the failure that a flipped success makes: plain data, not a tag.
type flipped struct{ v any }

func (f flipped) Error() string { return text(f.v) }
