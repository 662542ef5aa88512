package generate

import (
	"fmt"
	"slices"
	"sync"
)

// group is a set of productions that a program has more or less of together.
type group int

const (
	plain group = iota
	logging
	failing
	blocking // may never go on by itself
	waiting
	waking
	interrupting
	handling
	finalizing
	scoping
	masking
	forking
	racing
	timing
	collecting
	permits
	latching
	queueing
	repeating
	scheduling
	caching
	fiberMaps
	fiberSets
	fiberHandles
	layering
	foreign
	context
	rebinding
	fighting // set pieces
	groupCount
)

type production struct {
	group  group
	weight int
	leaf   bool
	// build gives nil where it makes no sense, and another production is picked.
	build func(g *generator, at place) any
}

func leaf(group group, weight int, build func(*generator, place) any) production {
	return production{group: group, weight: weight, leaf: true, build: build}
}

func inner(group group, weight int, build func(*generator, place) any) production {
	return production{group: group, weight: weight, build: build}
}

// constant is a leaf that is always the same.
func constant(group group, weight int, name string, args ...any) production {
	return leaf(group, weight, func(g *generator, at place) any { return g.guard(at, op(name, args...)) })
}

// on is a leaf on one of a pool's names; args may make more arguments.
func on(group group, weight int, name string, pool func(*generator) []string, args ...func(*generator) any) production {
	return leaf(group, weight, func(g *generator, at place) any {
		names := pool(g)
		if len(names) == 0 {
			return nil
		}
		made := op(name, pick(g.random, names...))
		for _, arg := range args {
			made = append(made, arg(g))
		}
		return g.guard(at, made)
	})
}

// wrap is an operation around one expression.
func wrap(group group, weight int, name string) production {
	return inner(group, weight, func(g *generator, at place) any { return op(name, g.expr(at.in(1))) })
}

// pair is an operation on two expressions.
func pair(group group, weight int, name string) production {
	return inner(group, weight, func(g *generator, at place) any { return op(name, g.expr(at.in(1)), g.expr(at.in(1))) })
}

func fiberNames(g *generator) []string {
	if g.kind == Adversarial {
		if len(g.maps) > 0 && g.percent(4) {
			return []string{"m/k"}
		}
		return g.fibers
	}
	return g.bound
}

func deferredNames(g *generator) []string  { return g.deferreds }
func semaphoreNames(g *generator) []string { return g.semaphores }
func latchNames(g *generator) []string     { return g.latches }
func queueNames(g *generator) []string     { return g.queues }
func scopeNames(g *generator) []string     { return g.scopes }
func cacheNames(g *generator) []string     { return g.caches }
func mapNames(g *generator) []string       { return g.maps }
func setNames(g *generator) []string       { return g.sets }
func handleNames(g *generator) []string    { return g.handles }

func mapKey(g *generator) any      { return pick(g.random, "k", "k", "l") }
func permitCount(g *generator) any { return num(pick(g.random, 1, 1, 1, 2)) }
func anExit(g *generator) any      { return g.exit() }
func aNumber(g *generator) any     { return num(g.below(5)) }
func aTag(g *generator) any        { return g.tag() }

// productions are all rules of the grammar. They are made when first asked for, since they call what uses them.
var productions = sync.OnceValue(func() []production {
	return slices.Concat(simple(), failures(), finalization(), scopes(), regions(), fibers(), races(), coordination(),
		repetition(), fiberCollections(), services(), foreigners(), bindings(), skirmishes())
})

func simple() []production {
	return []production{
		leaf(plain, 4, func(g *generator, _ place) any { return op("succeed", g.value()) }),
		leaf(logging, 10, func(g *generator, _ place) any { return g.log() }),
		leaf(logging, 5, func(g *generator, _ place) any { return op("seq", g.log(), op("yield"), g.log()) }),
		leaf(logging, 4, func(g *generator, _ place) any { return op("seq", op("sleep", g.ms()), g.log()) }),
		leaf(plain, 3, func(g *generator, _ place) any { return op("sleep", g.ms()) }),
		constant(plain, 5, "yield"),
		constant(plain, 1, "now"),
		inner(plain, 10, func(g *generator, at place) any { return g.seq(g.between(2, 4), at.in(1)) }),
		wrap(logging, 2, "show"),
		wrap(plain, 1, "suspend"),
		inner(plain, 1, func(g *generator, at place) any {
			name := g.fresh("x", &g.lets)
			bound := g.expr(at.in(1))
			inside := at.in(1)
			inside.lets = append(slices.Clone(at.lets), name)
			return op("let", name, bound, op("seq", g.expr(inside), op("show", op("get", name))))
		}),
		leaf(plain, 2, func(g *generator, at place) any {
			if len(at.lets) == 0 {
				return nil
			}
			return op("get", pick(g.random, at.lets...))
		}),
	}
}

func failures() []production {
	return []production{
		leaf(failing, 4, func(g *generator, _ place) any { return op("fail", g.tag()) }),
		leaf(failing, 2, func(g *generator, _ place) any { return op("die", pick(g.random, "b0", "b1")) }),
		constant(failing, 1, "throw", "t"),
		leaf(failing, 2, func(g *generator, _ place) any { return op("seq", g.log(), op("fail", g.tag())) }),
		leaf(interrupting, 2, func(*generator, place) any { return op("interrupt") }),
		leaf(interrupting, 1, func(g *generator, _ place) any { return op("seq", g.log(), op("interrupt")) }),

		pair(handling, 3, "catch"),
		inner(handling, 2, func(g *generator, at place) any {
			return op("catchTag", g.expr(at.in(1)), pick(g.random, "E1", "E1", "E2", "TimeoutError"), g.expr(at.in(1)))
		}),
		pair(handling, 1, "catchDefect"),
		pair(handling, 3, "catchCause"),
		pair(handling, 3, "tapCause"),
		pair(handling, 1, "tapError"),
		wrap(handling, 4, "exit"),
		inner(handling, 3, func(g *generator, at place) any {
			return op("matchEffect", g.expr(at.in(1)), g.expr(at.in(1)), g.expr(at.in(1)))
		}),
		inner(handling, 3, func(g *generator, at place) any {
			return op("matchCause", g.expr(at.in(1)), g.expr(at.in(1)), g.expr(at.in(1)))
		}),
		// What flip makes of a success is a failure without a tag, which the format has no text for.
		inner(handling, 1, func(g *generator, at place) any {
			return op("flip", op("seq", g.expr(at.in(1)), op("fail", g.tag())))
		}),
		wrap(handling, 2, "ignore"),
		wrap(handling, 2, "orDie"),
		wrap(handling, 2, "option"),
		inner(handling, 2, func(g *generator, at place) any { return op("mapError", g.expr(at.in(1)), "E3") }),
		wrap(handling, 3, "sandboxed"),
	}
}

func finalization() []production {
	finalized := func(name string) func(*generator, place) any {
		return func(g *generator, at place) any { return op(name, g.expr(at.in(1)), g.finalizer(at.in(2))) }
	}
	return []production{
		inner(finalizing, 5, finalized("onExit")),
		inner(finalizing, 3, finalized("onError")),
		inner(finalizing, 4, finalized("ensuring")),
		inner(finalizing, 4, finalized("onInterrupt")),
		inner(finalizing, 4, func(g *generator, at place) any {
			return op("acquireUseRelease", g.acquire(at.in(1)), g.expr(at.in(1)), g.finalizer(at.in(2)))
		}),
	}
}

// acquire is the acquiring half of a bracket, which is masked.
func (g *generator) acquire(at place) any {
	if g.percent(35) {
		return g.log()
	}
	if g.percent(15) {
		return op("interruptible", g.expr(at))
	}
	return g.expr(at)
}

func scopes() []production {
	acquireRelease := func(g *generator, at place) any {
		name := pick(g.random, "acquireRelease", "acquireRelease", "acquireReleaseInterruptible")
		return op(name, g.acquire(at.in(1)), g.finalizer(at.in(2)))
	}
	addFinalizer := func(g *generator, at place) any { return op("addFinalizer", g.finalizer(at.in(1))) }
	contents := func(g *generator, at place) any {
		parts := op("seq")
		for range g.between(1, 3) {
			if g.percent(45) {
				parts = append(parts, addFinalizer(g, at))
			} else {
				parts = append(parts, acquireRelease(g, at))
			}
		}
		return append(parts, g.expr(at))
	}
	onScope := func(name string, body func(*generator, place) any) func(*generator, place) any {
		return func(g *generator, at place) any { return op(name, pick(g.random, g.scopes...), body(g, at)) }
	}
	return []production{
		inner(scoping, 6, func(g *generator, at place) any { return op("scoped", contents(g, at.in(1).scoped())) }),
		inner(scoping, 1, func(g *generator, at place) any { return op("scoped", g.expr(at.in(1).scoped())) }),
		inner(scoping, 3, func(g *generator, at place) any {
			if !at.scope && !g.percent(5) {
				return nil
			}
			return pick(g.random, acquireRelease, addFinalizer)(g, at.in(1))
		}),
		inner(scoping, 3, onScope("scopeAdd", func(g *generator, at place) any { return g.finalizer(at.in(1)) })),
		inner(scoping, 2, onScope("scopeProvide", func(g *generator, at place) any { return contents(g, at.in(1).scoped()) })),
		inner(scoping, 3, onScope("scopeUse", func(g *generator, at place) any { return contents(g, at.in(1).scoped()) })),
		on(scoping, 3, "scopeClose", scopeNames, anExit),
		leaf(scoping, 1, func(g *generator, _ place) any {
			made := "n" + g.fresh("", &g.made)
			return op("seq", op("scopeFork", pick(g.random, g.scopes...), made, pick(g.random, "sequential", "parallel")),
				op("scopeAdd", made, g.log()), op("scopeAdd", made, op("seq", op("yield"), g.log())))
		}),
		leaf(scoping, 1, func(g *generator, _ place) any {
			return op("scopeFork", pick(g.random, g.scopes...), pick(g.random, g.scopes...))
		}),
	}
}

func regions() []production {
	masked := func(name string) func(*generator, place) any {
		return func(g *generator, at place) any {
			inside := at.in(1).masked()
			parts := op("seq")
			if g.percent(80) {
				parts = append(parts, g.expr(inside))
			}
			parts = append(parts, op("restore", g.expr(inside)))
			if g.percent(80) {
				parts = append(parts, g.expr(inside))
			}
			return op(name, parts)
		}
	}
	return []production{
		wrap(masking, 4, "uninterruptible"),
		wrap(masking, 3, "interruptible"),
		inner(masking, 4, masked("mask")),
		inner(masking, 3, masked("interruptibleMask")),
		inner(masking, 2, func(g *generator, at place) any {
			if !at.mask {
				return nil
			}
			return op("restore", g.expr(at.in(1)))
		}),
		// A failure on its way through the edges of regions, past a handler.
		inner(masking, 6, func(g *generator, at place) any {
			handler := pick(g.random, "catchCause", "catch", "onExit", "tapCause")
			return op("uninterruptible", op(handler, op("interruptible", g.expr(at.in(2))), g.expr(at.in(1))))
		}),
	}
}

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

func races() []production {
	list := func(name string) func(*generator, place) any {
		return func(g *generator, at place) any { return op(name, g.exprs(g.between(2, 3), at.in(1))) }
	}
	options := func(g *generator, made node) node {
		if !g.percent(20) {
			return made
		}
		if g.percent(50) {
			return append(made, map[string]any{"discard": true})
		}
		// Without discard, the mode's results have no text in the format.
		return append(made, map[string]any{"discard": true, "mode": "result"})
	}
	return []production{
		pair(racing, 4, "race"),
		pair(racing, 5, "raceFirst"),
		inner(racing, 3, list("raceAll")),
		inner(racing, 3, list("raceAllFirst")),
		inner(timing, 3, func(g *generator, at place) any { return op("timeout", g.ms(), g.expr(at.in(1))) }),
		inner(timing, 4, func(g *generator, at place) any { return op("timeoutOption", g.ms(), g.expr(at.in(1))) }),
		inner(timing, 1, func(g *generator, at place) any {
			return op("timeoutOrElse", g.ms(), g.expr(at.in(1)), g.expr(at.in(1)))
		}),
		inner(collecting, 5, func(g *generator, at place) any {
			return options(g, op("all", g.exprs(g.between(2, 4), at.in(1)), g.concurrency()))
		}),
		inner(collecting, 4, func(g *generator, at place) any {
			values := []any{num(1), num(2), num(3)}[:g.between(2, 3)]
			return options(g, op("forEach", values, g.expr(at.in(1)), g.concurrency()))
		}),
		inner(collecting, 3, func(g *generator, at place) any {
			return op("zip", g.expr(at.in(1)), g.expr(at.in(1)), g.percent(80))
		}),
	}
}

func coordination() []production {
	onSemaphore := func(name string) func(*generator, place) any {
		return func(g *generator, at place) any {
			return op(name, pick(g.random, g.semaphores...), permitCount(g), g.expr(at.in(1)))
		}
	}
	onDeferred := func(name string) func(*generator, place) any {
		return func(g *generator, at place) any { return op(name, pick(g.random, g.deferreds...), g.expr(at.in(1))) }
	}
	return []production{
		on(waiting, 6, "dAwait", deferredNames),
		constant(blocking, 2, "never"),
		on(waking, 6, "dDone", deferredNames, anExit),
		on(waking, 1, "dPoll", deferredNames),
		inner(waking, 3, onDeferred("dComplete")),
		inner(waking, 3, onDeferred("dInto")),

		inner(permits, 5, onSemaphore("withPermits")),
		inner(permits, 3, onSemaphore("ifAvailable")),
		on(permits, 2, "take", semaphoreNames, permitCount),
		on(permits, 3, "release", semaphoreNames, permitCount),

		on(latching, 3, "lOpen", latchNames),
		on(latching, 3, "lClose", latchNames),
		on(latching, 3, "lRelease", latchNames),
		on(latching, 4, "lAwait", latchNames),
		inner(latching, 3, func(g *generator, at place) any {
			return op("whenOpen", pick(g.random, g.latches...), g.expr(at.in(1)))
		}),

		on(queueing, 6, "qOffer", queueNames, aNumber),
		on(queueing, 4, "qTake", queueNames),
		leaf(queueing, 2, func(g *generator, at place) any { return op("show", g.guard(at, op("qTake", "q"))) }),
		leaf(queueing, 1, func(g *generator, at place) any { return op("show", g.guard(at, op("qTakeAll", "q"))) }),
		leaf(queueing, 1, func(*generator, place) any { return op("show", op("qSize", "q")) }),
		on(queueing, 1, "qShutdown", queueNames),
		on(queueing, 1, "qFail", queueNames, aTag),
		on(queueing, 1, "qEnd", queueNames),
	}
}

func repetition() []production {
	// spaced repeats with a pause.
	spaced := func(name string) func(*generator, place) any {
		return func(g *generator, at place) any {
			return op(name, g.repeated(at.in(1)), num(g.between(1, 3)), g.ms())
		}
	}
	return []production{
		inner(repeating, 3, func(g *generator, at place) any { return op("retry", g.repeated(at.in(1)), num(g.between(1, 2))) }),
		inner(repeating, 3, func(g *generator, at place) any { return op("repeat", g.repeated(at.in(1)), num(g.between(1, 2))) }),
		inner(repeating, 1, spaced("retrySpaced")),
		inner(repeating, 1, spaced("repeatSpaced")),
		inner(repeating, 1, spaced("retryExponential")),
		inner(repeating, 1, spaced("repeatFixed")),
		// Endless of its own, but its counter fails it.
		inner(repeating, 1, func(g *generator, at place) any {
			end := op("matchEffect",
				op("failUntil", op("succeed", num(1)), "E1", num(g.between(1, 3)), g.fresh("n", &g.counters)),
				op("succeed", num(1)), op("fail", "E2"))
			return op("forever", op("seq", g.expr(at.in(1)), end))
		}),
		inner(repeating, 1, func(g *generator, at place) any {
			if at.mask {
				return nil
			}
			return op("timeoutOption", num(g.between(2, 6)*5), op("forever", op("seq", op("sleep", num(g.between(1, 2)*5)), g.expr(at.in(2)))))
		}),
		inner(scheduling, 3, func(g *generator, at place) any {
			return op("retrySchedule", g.repeated(at.in(1)), g.bounded(2))
		}),
		inner(scheduling, 3, func(g *generator, at place) any {
			return op("repeatSchedule", g.repeated(at.in(1)), g.bounded(2))
		}),
		inner(caching, 3, func(g *generator, at place) any {
			name := g.fresh("k", &g.made)
			body := g.expr(at.in(1))
			g.caches = append(g.caches, name)
			return op("seq", op("cached", name, body), g.expr(at.in(1)), op("cachedGet", name))
		}),
		on(caching, 6, "cachedGet", cacheNames),
	}
}

// repeated is a body for retry and repeat: one that fails at first is the point of them.
func (g *generator) repeated(at place) any {
	body := g.expr(at)
	if g.percent(35) {
		return op("seq", g.log(), op("failUntil", body, g.tag(), num(g.between(1, 2)), g.fresh("n", &g.counters)))
	}
	return body
}

// bounded is a schedule that ends.
func (g *generator) bounded(depth int) node {
	switch g.below(8) {
	case 0, 1:
		return op("recurs", num(g.between(0, 3)))
	case 2:
		return op("once")
	case 3:
		return op("duration", g.ms())
	case 4:
		if depth > 0 {
			return op("concat", g.bounded(depth-1), g.bounded(depth-1))
		}
		return op("recurs", num(1))
	case 5:
		if depth > 0 {
			return op("min", []any{g.bounded(depth - 1), g.bounded(depth - 1)})
		}
		return op("once")
	default:
		return op("max", []any{g.schedule(depth - 1), op("recurs", num(g.between(1, 4)))})
	}
}

// schedule is one that need not end.
func (g *generator) schedule(depth int) node {
	// A delay of 0 on a grid has a grid of width 0.
	step := num(g.between(1, 4) * 5)
	switch g.below(9) {
	case 0:
		return op("spaced", g.ms())
	case 1:
		return op("fixed", step)
	case 2:
		return op("windowed", step)
	case 3:
		if g.percent(50) {
			return op("exponential", step, num(g.between(1, 3)))
		}
		return op("exponential", step)
	case 4:
		return op("fibonacci", step)
	case 5:
		return op("during", num(g.between(1, 6)*5))
	case 6, 7:
		if depth > 0 {
			return op(pick(g.random, "max", "min"), []any{g.schedule(depth - 1), g.schedule(depth - 1)})
		}
		return op("spaced", step)
	default:
		return g.bounded(depth - 1)
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

func services() []production {
	return []production{
		inner(layering, 6, func(g *generator, at place) any {
			if at.layer {
				return nil
			}
			layer := g.layer(2)
			key := pick(g.random, "A", "B")
			if keys := g.provides(layer); g.percent(90) {
				key = pick(g.random, keys...)
			}
			return op("provideLayer", layer, op("seq", op("service", key), g.expr(at.in(1))))
		}),
		leaf(layering, 1, func(g *generator, at place) any {
			if at.layer {
				return nil
			}
			return op("buildLayer", g.layer(1), pick(g.random, g.scopes...))
		}),
		inner(layering, 2, func(g *generator, at place) any {
			return op("provideService", pick(g.random, "A", "B"), num(g.below(9)), g.expr(at.in(1)))
		}),
		constant(layering, 2, "service", "A"),
		inner(context, 3, func(g *generator, at place) any {
			return op("withRef", pick(g.random, "v0", "v1", "v2"), g.expr(at.in(1)))
		}),
		constant(context, 3, "readRef"),
	}
}

func (g *generator) layer(depth int) node {
	if depth <= 0 || g.percent(30) {
		name := op("l", pick(g.random, g.layers...))
		if name[1] == "lb" && g.percent(80) {
			// It needs another service.
			return op(pick(g.random, "provide", "provideMerge"), name, op("l", "la"))
		}
		return name
	}
	switch g.below(7) {
	case 0:
		return op("merge", g.layer(depth-1), g.layer(depth-1))
	case 1:
		return op("provide", op("l", "lb"), g.layer(depth-1))
	case 2, 3:
		return op("provideMerge", op("l", "lb"), g.layer(depth-1))
	case 4:
		return op("fresh", g.layer(depth-1))
	case 5:
		return op("catch", g.layer(depth-1), g.layer(depth-1))
	default:
		return op("orDie", g.layer(depth-1))
	}
}

// provides gives the keys of a layer's services, if it builds.
func (g *generator) provides(layer node) []string {
	switch layer[0] {
	case "l":
		return []string{g.keys[layer[1].(string)]}
	case "merge", "provideMerge":
		return append(g.provides(layer[1].(node)), g.provides(layer[2].(node))...)
	default:
		return g.provides(layer[1].(node))
	}
}

func foreigners() []production {
	return []production{
		leaf(foreign, 5, func(g *generator, _ place) any {
			return op("tryPromise", map[string]any{
				"name": g.fresh("p", &g.foreigns), "ms": g.ms(),
				"result": pick(g.random, op("succeed", num(1)), op("fail", "E1")),
				"signal": g.percent(60), "abortable": g.percent(50),
			})
		}),
		leaf(foreign, 5, func(g *generator, at place) any {
			made := map[string]any{"name": g.fresh("c", &g.callbacks)}
			if g.percent(60) {
				made["ms"] = g.ms()
				made["result"] = g.exit()
			}
			if g.percent(65) {
				if g.percent(30) {
					made["cancel"] = g.expr(place{depth: 1, layer: at.layer})
				} else {
					made["cancel"] = g.finalizer(place{layer: at.layer})
				}
			}
			return op("callback", made)
		}),
	}
}

// bindings make things again under a name that is in use.
func bindings() []production {
	return []production{
		on(rebinding, 2, "deferred", deferredNames),
		on(rebinding, 1, "semaphore", semaphoreNames, permitCount),
		on(rebinding, 1, "latch", latchNames, func(g *generator) any { return g.percent(50) }),
		leaf(rebinding, 1, func(g *generator, _ place) any { return g.queue("q") }),
		leaf(rebinding, 2, func(g *generator, _ place) any {
			return op("scopeMake", pick(g.random, g.scopes...), pick(g.random, "sequential", "parallel"))
		}),
		leaf(rebinding, 1, func(g *generator, at place) any {
			if !at.scope {
				return nil
			}
			return op(pick(g.random, "fiberMap", "fiberMap"), "m")
		}),
		leaf(rebinding, 1, func(g *generator, at place) any {
			if !at.scope {
				return nil
			}
			return pick(g.random, op("fiberSet", "t"), op("fiberHandle", "h"))
		}),
		constant(rebinding, 1, "join", "nobody"),
	}
}
