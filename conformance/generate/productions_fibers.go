package generate

import "fmt"

func fibers() []production {
	fork := func(g *generator, at place) any {
		options := g.forkOptions()
		switch {
		case g.percent(30):
			delete(options, "kind")
			options["in"] = pick(g.random, g.scopes...)
		case at.scope && g.percent(50):
			options["kind"] = "scoped"
		}
		if g.kind == Adversarial {
			name := pick(g.random, g.fibers...)
			return op("fork", name, g.expr(at.in(1).forked(name)), options)
		}
		// The name is bound after its body is made: in tame programs nobody aims at what does not exist.
		body := g.expr(at.in(1).forked(""))
		name := fmt.Sprintf("f%d", len(g.bound))
		g.bound = append(g.bound, name)
		return op("fork", name, body, options)
	}
	return []production{
		inner(forking, 6, fork),
		inner(forking, 3, func(g *generator, at place) any {
			made := fork(g, at).(node)
			return op("seq", made, g.expr(at.in(1)), pick(g.random, op("join", made[1]), op("await", made[1]), op("interruptFiber", made[1])))
		}),
		wrap(forking, 4, "awaitAllChildren"),
		// It waits for the children of its body only, not for older ones.
		inner(forking, 2, func(g *generator, at place) any {
			older := op("fork", g.fiber(at), pick[any](g.random, op("never"), op("sleep", g.ms()), g.expr(at.in(2).forked(""))), g.forkOptions())
			return op("seq", older, op("awaitAllChildren", op("seq", fork(g, at.in(1)), g.log())), g.log())
		}),
		on(waiting, 3, "join", fiberNames),
		on(waiting, 4, "await", fiberNames),
		on(forking, 1, "poll", fiberNames),
		on(interrupting, 4, "interruptFiber", fiberNames),
		on(interrupting, 5, "signal", fiberNames),
		leaf(interrupting, 2, func(g *generator, _ place) any {
			names := fiberNames(g)
			if len(names) == 0 {
				return nil
			}
			list := []any{}
			for range g.between(1, 3) {
				list = append(list, pick(g.random, names...))
			}
			return op("interruptAll", list)
		}),
		// Wakes and interrupts in one breath, so that they meet on one fiber before it runs.
		leaf(interrupting, 3, func(g *generator, _ place) any {
			names := fiberNames(g)
			if len(names) == 0 {
				return nil
			}
			signal := op("signal", pick(g.random, names...))
			wake := g.wake()
			if g.percent(50) {
				return op("seq", signal, wake, g.log())
			}
			return op("seq", wake, signal, g.log())
		}),
	}
}

func (g *generator) forkOptions() map[string]any {
	options := map[string]any{"kind": "child"}
	if g.kind == Adversarial {
		options["kind"] = pick(g.random, "detach", "detach", "child")
	} else if g.percent(15) {
		options["kind"] = "detach"
	}
	g.start(options)
	return options
}

// start adds the options that every fork has.
func (g *generator) start(options map[string]any) {
	if g.percent(35) {
		options["immediate"] = true
	}
	if g.percent(25) {
		options["uninterruptible"] = pick[any](g.random, true, "inherit")
	}
}

// wake lets somebody go on.
func (g *generator) wake() any {
	switch g.below(6) {
	case 0:
		return op("release", pick(g.random, g.semaphores...), num(1))
	case 1:
		return op(pick(g.random, "lOpen", "lRelease"), "l0")
	case 2:
		return op("qOffer", "q", num(g.below(5)))
	default:
		return op("dDone", pick(g.random, g.deferreds...), g.exit())
	}
}

func fiberCollections() []production {
	options := func(g *generator) map[string]any {
		made := map[string]any{}
		if g.percent(25) {
			made["onlyIfMissing"] = true
		}
		if g.percent(25) {
			made["propagateInterruption"] = true
		}
		if g.percent(25) {
			made["startImmediately"] = g.percent(75)
		}
		return made
	}
	return []production{
		inner(fiberMaps, 6, func(g *generator, at place) any {
			key := mapKey(g).(string)
			return op("fmRun", "m", key, g.expr(at.in(1).forked("m/"+key)), options(g))
		}),
		on(fiberMaps, 2, "fmRemove", mapNames, mapKey),
		leaf(fiberMaps, 1, func(*generator, place) any { return op("show", op("fmHas", "m", "k")) }),
		leaf(fiberMaps, 1, func(*generator, place) any { return op("show", op("fmSize", "m")) }),
		on(fiberMaps, 2, "fmClear", mapNames),
		on(fiberMaps, 1, "fmJoin", mapNames),
		on(fiberMaps, 1, "fmAwaitEmpty", mapNames),
		inner(fiberSets, 6, func(g *generator, at place) any {
			made := options(g)
			delete(made, "onlyIfMissing")
			return op("fsRun", "t", g.expr(at.in(1).forked("")), made)
		}),
		leaf(fiberSets, 1, func(*generator, place) any { return op("show", op("fsSize", "t")) }),
		on(fiberSets, 2, "fsClear", setNames),
		on(fiberSets, 1, "fsJoin", setNames),
		on(fiberSets, 1, "fsAwaitEmpty", setNames),
		inner(fiberHandles, 6, func(g *generator, at place) any {
			return op("fhRun", "h", g.expr(at.in(1).forked("")), options(g))
		}),
		on(fiberHandles, 2, "fhClear", handleNames),
		on(fiberHandles, 1, "fhJoin", handleNames),
		on(fiberHandles, 1, "fhAwaitEmpty", handleNames),
	}
}
