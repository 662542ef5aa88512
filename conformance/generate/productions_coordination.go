package generate

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
