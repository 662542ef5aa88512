package effect_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// unobserved are programs in which a defect "lost" is observed by nobody, once.
func unobserved() map[string]effect.Effect[effect.Unit] {
	dies := effect.Die[effect.Unit]("lost")
	// In each run begun is awaited by who ends what dies, so that it ends nothing that
	// has not started.
	with := func(build func(begins, begun effect.Effect[effect.Unit]) effect.Effect[effect.Unit]) effect.Effect[effect.Unit] {
		return effect.Suspend(func() effect.Effect[effect.Unit] {
			d := effect.NewDeferred[effect.Unit]()
			return build(d.Succeed(effect.Unit{}).AsUnit(), d.Await())
		})
	}
	// stubborn ends with the defect when it is interrupted.
	stubborn := effect.Never[effect.Unit]().Ensuring(dies)
	started := func(e effect.Effect[effect.Unit]) effect.Effect[*effect.Fiber[effect.Unit]] {
		return effect.ForkDetach(e, effect.StartImmediately())
	}
	// in has a scope of its own for what forks an effect, which has begun when the scope
	// closes and then cannot be kept from dying.
	in := func(fork func(effect.Effect[effect.Unit]) effect.Effect[effect.Unit]) effect.Effect[effect.Unit] {
		return with(func(begins, begun effect.Effect[effect.Unit]) effect.Effect[effect.Unit] {
			return effect.Scoped(fork(begins.AndThen(dies).Uninterruptible()).AndThen(begun))
		})
	}
	return map[string]effect.Effect[effect.Unit]{
		"ForkDetach": in(func(e effect.Effect[effect.Unit]) effect.Effect[effect.Unit] { return effect.ForkDetach(e).AsUnit() }),
		"ForkScoped": in(func(e effect.Effect[effect.Unit]) effect.Effect[effect.Unit] { return effect.ForkScoped(e).AsUnit() }),
		"ForkScoped, at once": in(func(e effect.Effect[effect.Unit]) effect.Effect[effect.Unit] {
			return effect.ForkScoped(e, effect.StartImmediately()).AsUnit()
		}),
		"ForkScoped, as it closes":    effect.Scoped(effect.ForkScoped(stubborn, effect.StartImmediately()).AsUnit()),
		"a child, as its parent ends": effect.ForkChild(effect.ForkChild(stubborn, effect.StartImmediately())).FlatMap(func(f *effect.Fiber[*effect.Fiber[effect.Unit]]) effect.Effect[effect.Unit] { return f.Join().AsUnit() }),
		"Interrupt":                   started(stubborn).FlatMap(func(f *effect.Fiber[effect.Unit]) effect.Effect[effect.Unit] { return f.Interrupt() }),
		"InterruptAs":                 started(stubborn).FlatMap(func(f *effect.Fiber[effect.Unit]) effect.Effect[effect.Unit] { return f.InterruptAs(7) }),
		"InterruptAll":                started(stubborn).FlatMap(func(f *effect.Fiber[effect.Unit]) effect.Effect[effect.Unit] { return effect.InterruptAll(f) }),
		"AwaitAllChildren":            effect.ForkChild(effect.YieldNow().AndThen(dies)).AsUnit().AwaitAllChildren(),
		"the loser of RaceFirst": with(func(begins, begun effect.Effect[effect.Unit]) effect.Effect[effect.Unit] {
			return begun.RaceFirst(begins.AndThen(effect.Never[effect.Unit]()).Ensuring(dies))
		}),
		"a loser of Race": with(func(begins, begun effect.Effect[effect.Unit]) effect.Effect[effect.Unit] {
			return begun.Race(begins.AndThen(effect.Sleep(time.Millisecond)).AndThen(dies).Uninterruptible())
		}),
		"Race that is raced": with(func(begins, begun effect.Effect[effect.Unit]) effect.Effect[effect.Unit] {
			return begun.RaceFirst(begins.AndThen(effect.Never[effect.Unit]()).Ensuring(dies).Race(effect.Never[effect.Unit]()))
		}),
		"FiberSet": in(func(e effect.Effect[effect.Unit]) effect.Effect[effect.Unit] {
			return effect.MakeFiberSet[effect.Unit]().FlatMap(func(s *effect.FiberSet[effect.Unit]) effect.Effect[effect.Unit] { return s.Run(e).AsUnit() })
		}),
		"FiberMap, at once": effect.Scoped(effect.MakeFiberMap[string, effect.Unit]().FlatMap(func(m *effect.FiberMap[string, effect.Unit]) effect.Effect[effect.Unit] {
			return m.Run("k", dies).AsUnit()
		})),
		"FiberHandle, replaced": effect.Scoped(effect.MakeFiberHandle[effect.Unit]().FlatMap(func(h *effect.FiberHandle[effect.Unit]) effect.Effect[effect.Unit] {
			return h.Run(stubborn).AndThen(h.Run(effect.Never[effect.Unit]())).AsUnit()
		})),
		"Cached, given up": with(func(begins, begun effect.Effect[effect.Unit]) effect.Effect[effect.Unit] {
			return effect.Cached(begins.AndThen(effect.Never[effect.Unit]()).Ensuring(dies)).FlatMap(func(get effect.Effect[effect.Unit]) effect.Effect[effect.Unit] {
				return begun.RaceFirst(get)
			})
		}),
	}
}

// observed are programs in which a defect is somebody's to look at.
func observed() map[string]effect.Effect[effect.Unit] {
	dies := effect.Die[effect.Unit]("seen")
	later := effect.YieldNow().AndThen(dies)
	return map[string]effect.Effect[effect.Unit]{
		"Join":   effect.ForkChild(later).FlatMap(func(f *effect.Fiber[effect.Unit]) effect.Effect[effect.Unit] { return f.Join() }),
		"Await":  effect.ForkChild(later).FlatMap(func(f *effect.Fiber[effect.Unit]) effect.Effect[effect.Unit] { return f.Await().AsUnit() }),
		"scoped": effect.Scoped(effect.ForkScoped(later).FlatMap(func(f *effect.Fiber[effect.Unit]) effect.Effect[effect.Unit] { return f.Join() })),
		"JoinAll": effect.ForkChild(later).FlatMap(func(f *effect.Fiber[effect.Unit]) effect.Effect[effect.Unit] {
			return effect.JoinAll(f).AsUnit()
		}),
		"AwaitExits": effect.ForkChild(later).FlatMap(func(f *effect.Fiber[effect.Unit]) effect.Effect[effect.Unit] {
			return effect.AwaitExits(f).AsUnit()
		}),
		"Cached":       effect.Cached(dies).FlatMap(func(get effect.Effect[effect.Unit]) effect.Effect[effect.Unit] { return get }),
		"Cached later": effect.Cached(later).FlatMap(func(get effect.Effect[effect.Unit]) effect.Effect[effect.Unit] { return get }),
		"RaceFirst":    dies.RaceFirst(effect.Never[effect.Unit]()),
		"Race":         dies.Race(later),
		"All":          effect.AllDiscard([]effect.Effect[effect.Unit]{later, effect.Never[effect.Unit]()}, effect.Unbounded),
		"Timeout":      later.Timeout(time.Second),
		"Join of a FiberSet": effect.Scoped(effect.MakeFiberSet[effect.Unit]().FlatMap(func(s *effect.FiberSet[effect.Unit]) effect.Effect[effect.Unit] {
			return effect.ForkChild(effect.Sleep(0).AndThen(s.Run(later))).AndThen(s.Join())
		})),
		"Join of a FiberMap, at once": effect.Scoped(effect.MakeFiberMap[string, effect.Unit]().FlatMap(func(m *effect.FiberMap[string, effect.Unit]) effect.Effect[effect.Unit] {
			return effect.ForkChild(effect.Sleep(0).AndThen(m.Run("k", dies))).AndThen(m.Join())
		})),
	}
}

// F66: what nobody observes is in the report once, and what somebody looks at is not.
func TestF66_UnobservedDefectsOnTheDeterministicRuntime(t *testing.T) {
	for want, programs := range [2]map[string]effect.Effect[effect.Unit]{observed(), unobserved()} {
		for name, program := range programs {
			t.Run(name, func(t *testing.T) {
				if out := effect.RunDeterministic(program, effect.DeterministicConfig{}); len(out.Unheard) != want {
					t.Errorf("unheard: %v; %v", out.Unheard, out.Exit)
				}
				// Under other schedules a fiber may be interrupted before it starts, or end
				// before it is joined.
				explored(t, 200, func() effect.Effect[effect.Unit] { return program }, func(exit scope.Exit[effect.Unit], out effect.RunReport[effect.Unit]) error {
					if len(out.Unheard) > 1 {
						return fmt.Errorf("unheard: %v; %v", out.Unheard, exit)
					}
					return nil
				})
			})
		}
	}
}

// F66: on the parallel runtime it is logged, once.
func TestF66_UnobservedDefectsAreLogged(t *testing.T) {
	logged := make(announced, 100)
	before := slog.Default()
	slog.SetDefault(slog.New(logged))
	t.Cleanup(func() { slog.SetDefault(before) })
	once := func(name string) {
		t.Helper()
		select {
		case <-logged:
		case <-time.After(20 * time.Second):
			t.Errorf("%s: nothing was logged", name)
		}
	}
	for name, program := range unobserved() {
		effect.RunExit(context.Background(), program)
		once(name)
	}
	effect.RunFork(context.Background(), effect.Die[int]("lost"))
	once("RunFork")
	// The others of observed may end before they are joined.
	for _, name := range []string{"Cached", "Cached later", "RaceFirst", "Race", "All", "Timeout"} {
		program := observed()[name]
		effect.RunExit(context.Background(), program)
		if len(logged) > 0 {
			t.Errorf("%s, or one before: logged %q", name, <-logged)
		}
	}
}

// announced is a handler that hands on each message of defects.
type announced chan string

func (announced) Enabled(context.Context, slog.Level) bool { return true }
func (a announced) WithAttrs([]slog.Attr) slog.Handler     { return a }
func (a announced) WithGroup(string) slog.Handler          { return a }

func (a announced) Handle(_ context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, "a fiber that nobody observes") {
		a <- r.Message
	}
	return nil
}
