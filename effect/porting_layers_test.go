package effect_test

import (
	"fmt"
	"testing"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

var (
	portS = effect.NewService[string]("S")
	portT = effect.NewService[string]("T")
)

// portServices shows which of S, T and a scope are at hand.
func portServices() effect.Effect[string] {
	at := func(key effect.Service[string]) effect.Effect[string] {
		return effect.Exit(key.Get()).Map(func(x scope.Exit[string]) string {
			return x.Match(func(*scope.Cause) string { return "None" }, func(v string) string { return "Some(" + v + ")" })
		})
	}
	return effect.Gen(func(do *effect.Do) string {
		out := do.Await(at(portS)) + do.Await(at(portT))
		if do.Await(effect.Env()).Scope() != nil {
			out += "scope"
		}
		return out
	})
}

// portIn is the service in env.
func portIn(env *scope.Env, key effect.Service[string]) string {
	exit := effect.RunDeterministic(key.Get().ProvideEnv(env), effect.DeterministicConfig{}).Exit
	v, _ := exit.MustGet().Value()
	return v
}

func TestPortingServices(t *testing.T) {
	runPortingCases(t, []portingCase{
		{"setContext", "=NoneSome(t) Some(s2)Nonescope NoneNone Some(s)Nonescope", func(*portLog) effect.Effect[string] {
			return effect.Scoped(portJoined(
				portServices().SetEnv(portT.In(nil, "t")),
				portServices().UpdateEnv(func(env *scope.Env) *scope.Env { return portS.In(env, "s2") }),
				portServices().UpdateEnv(func(*scope.Env) *scope.Env { return nil }),
				portServices(),
			)).ProvideService(portS, "s")
		}},
		{"updateService", "=Some(s!)None Some(s)None", func(*portLog) effect.Effect[string] {
			return portJoined(portServices().UpdateService(portS, portShout), portServices()).ProvideService(portS, "s")
		}},
		{"updateServiceFails", "=!Fail(A) Some(s)None", func(*portLog) effect.Effect[string] {
			return portJoined(
				portExited(portServices().AndThen(effect.Fail[string](portA{})).UpdateService(portS, portShout)),
				portServices(),
			).ProvideService(portS, "s")
		}},
		{"updateServiceMissing", "=!Die(service S is missing; provide it with a layer, ProvideService or ProvideScope around the effect that needs it)", func(*portLog) effect.Effect[string] {
			return portExited(portServices().UpdateService(portS, portShout))
		}},
		{"provideServiceEffect", "+acq; -acq=acq; =Some(acq)None !Fail(A)", func(l *portLog) effect.Effect[string] {
			return portJoined(
				portServices().ProvideServiceEffect(portS, portNamed(l, "acq", 1)),
				portExited(portServices().ProvideServiceEffect(portS, effect.Fail[string](portA{}))))
		}},
	})
}

func portShout(s string) string { return s + "!" }

// building is a layer that logs when it is built and released.
func portBuilding(l *portLog, key effect.Service[string], name string, result effect.Effect[string]) effect.Layer {
	return key.From(effect.AcquireRelease(l.note("build "+name).AndThen(result),
		func(string, scope.Exit[any]) effect.Effect[effect.Unit] { return l.note("free " + name) }))
}

func portBuilt(l *portLog, key effect.Service[string], name string) effect.Layer {
	return portBuilding(l, key, name, effect.Succeed(name))
}

func portUsing(l *portLog, layer effect.Layer) effect.Effect[string] {
	return portServices().FlatMap(func(s string) effect.Effect[effect.Unit] { return l.note("use " + s) }).As("1").Provide(layer)
}

func portTwice(layer effect.Layer) effect.Layer { return effect.LayerMergeAll(layer, layer) }

func TestPortingLayers(t *testing.T) {
	failA, failB, beside := effect.Fail[string](portA{}), effect.Fail[string](portB{}), portDefect[string]()
	service := func(env *scope.Env) string { return portIn(env, portS) }
	freeing := func(l *portLog) effect.Effect[effect.Unit] {
		return effect.AddFinalizer(func(x scope.Exit[any]) effect.Effect[effect.Unit] { return l.note("tap free" + portExit(x)) })
	}
	runPortingCases(t, []portingCase{
		{"flatMapTwice", "build s; fn s; build t; fn s; build t; use NoneSome(t); free t; free t; free s; =1", func(l *portLog) effect.Effect[string] {
			return portUsing(l, portTwice(portBuilt(l, portS, "s").FlatMap(func(env *scope.Env) effect.Layer {
				l.add("fn " + service(env))
				return portBuilt(l, portT, "t")
			})))
		}},
		{"catchTwice", "build bad; handle A; build good; build bad; handle A; build good; use Some(good)None; free good; free good; =1", func(l *portLog) effect.Effect[string] {
			return portUsing(l, portTwice(portBuilding(l, portS, "bad", failA).Catch(func(err error) effect.Layer {
				l.add("handle " + portText(err))
				return portBuilt(l, portS, "good")
			})))
		}},
		{"catchCauseTwice", "build bad; handle Die(d); build good; build bad; handle Die(d); build good; use Some(good)None; free good; free good; =1", func(l *portLog) effect.Effect[string] {
			return portUsing(l, portTwice(portBuilding(l, portS, "bad", effect.Die[string]("d")).CatchCause(func(c *scope.Cause) effect.Layer {
				l.add("handle " + portReasons(c))
				return portBuilt(l, portS, "good")
			})))
		}},
		{"catchTag", "build bad; handle A; build good; build t; use Some(good)Some(t); free t; free good; =1", func(l *portLog) effect.Effect[string] {
			return portUsing(l, effect.LayerMergeAll(portBuilding(l, portS, "bad", failA).CatchTag(func(err portA) effect.Layer {
				l.add("handle " + portText(err))
				return portBuilt(l, portS, "good")
			}), portBuilt(l, portT, "t")))
		}},
		{"catchTagMiss", "build bad; !Fail(B)", func(l *portLog) effect.Effect[string] {
			return portUsing(l, portBuilding(l, portS, "bad", failB).CatchTag(func(portA) effect.Layer { return portBuilt(l, portS, "good") }))
		}},
		{"tapTwice", "build s; tap s; tap s; use Some(s)None; tap free={}; tap free={}; free s; =1", func(l *portLog) effect.Effect[string] {
			return portUsing(l, portTwice(portBuilt(l, portS, "s").Tap(func(env *scope.Env) effect.Effect[effect.Unit] {
				return l.note("tap " + service(env)).AndThen(effect.AddFinalizer(func(scope.Exit[any]) effect.Effect[effect.Unit] { return l.note("tap free={}") }))
			})))
		}},
		{"tapFails", "build s; tap free!Fail(A); free s; !Fail(A)", func(l *portLog) effect.Effect[string] {
			return portUsing(l, portBuilt(l, portS, "s").Tap(func(*scope.Env) effect.Effect[string] { return freeing(l).AndThen(failA) }))
		}},
		{"tapError", "build s; tap A; tap free!Fail(A); build good; use Some(good)None; free good; =1", func(l *portLog) effect.Effect[string] {
			return portUsing(l, portBuilding(l, portS, "s", failA).
				TapError(func(err error) effect.Effect[effect.Unit] { return l.note("tap " + portText(err)).AndThen(freeing(l)) }).
				Catch(func(error) effect.Layer { return portBuilt(l, portS, "good") }))
		}},
		{"tapErrorDie", "build s; !Die(d),Die(A)", func(l *portLog) effect.Effect[string] {
			return portUsing(l, portBuilding(l, portS, "s", beside).TapError(func(err error) effect.Effect[effect.Unit] { return l.note("tap " + portText(err)) }))
		}},
		{"tapCause", "build s; tap Die(d),Fail(A); !Die(d),Fail(A)", func(l *portLog) effect.Effect[string] {
			return portUsing(l, portBuilding(l, portS, "s", beside).TapCause(func(c *scope.Cause) effect.Effect[effect.Unit] { return l.note("tap " + portReasons(c)) }))
		}},
		{"unwrapTwice", "make; build s; use Some(s)None; free s; make free; =1", func(l *portLog) effect.Effect[string] {
			inner := portBuilt(l, portS, "s")
			return portUsing(l, portTwice(effect.LayerUnwrap(l.note("make").
				AndThen(effect.AddFinalizer(func(scope.Exit[any]) effect.Effect[effect.Unit] { return l.note("make free") })).
				As(inner))))
		}},
		{"updateService", "use Some(s)Some(t+s!); =1", func(l *portLog) effect.Effect[string] {
			t := portT.From(portS.Get().Map(func(s string) string { return "t+" + s }))
			return portUsing(l, t.UpdateService(portS, portShout)).ProvideService(portS, "s")
		}},
		{"orDie", "build t; build s; free t; !Die(A)", func(l *portLog) effect.Effect[string] {
			return portUsing(l, effect.LayerMergeAll(portBuilt(l, portT, "t"), portBuilding(l, portS, "s", failA).OrDie()))
		}},
		{"freshTwice", "build s; build s; use Some(s)Some(t+s); free s; free s; =1", func(l *portLog) effect.Effect[string] {
			s := portBuilt(l, portS, "s")
			t := portT.From(portS.Get().Map(func(s string) string { return "t+" + s })).ProvideMerge(s)
			return portUsing(l, effect.LayerMergeAll(t, t.Fresh(), s))
		}},
		{"memoMap", "build s; close a; close b; close c; free s; build s; end; free s; ={}", func(l *portLog) effect.Effect[string] {
			return effect.Scoped(effect.Gen(func(do *effect.Do) string {
				m, s := do.Await(effect.MakeMemoMap()), portBuilt(l, portS, "s")
				at := do.Await(effect.Scope())
				a, b, c := at.Fork(scope.Sequential), at.Fork(scope.Sequential), do.Await(effect.ForkScope(at, scope.Sequential))
				do.Await(s.BuildWith(m, a))
				do.Await(s.BuildWith(m, b))
				do.Await(s.BuildWith(m.Fork(), c))
				for i, closing := range []*scope.Scope{a, b, c} {
					do.Await(l.note(fmt.Sprintf("close %c", 'a'+i)))
					do.Await(effect.CloseScope(closing, scope.Exit[effect.Unit]{}))
				}
				do.Await(s.BuildWith(m, at))
				do.Await(l.note("end"))
				return "{}"
			}))
		}},
		{"memoNested", "build s; t+s; free s; ={}", func(l *portLog) effect.Effect[string] {
			return effect.Scoped(effect.Gen(func(do *effect.Do) string {
				m, s := do.Await(effect.MakeMemoMap()), portBuilt(l, portS, "s")
				at := do.Await(effect.Scope())
				inner := portT.From(effect.Scoped(s.Build()).Map(func(env *scope.Env) string { return "t+" + service(env) }))
				do.Await(s.BuildWith(m, at))
				env := do.Await(inner.BuildWith(m, at))
				do.Await(l.note(portIn(env, portT)))
				return "{}"
			}))
		}},
	})
}
