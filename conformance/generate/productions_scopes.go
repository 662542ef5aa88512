package generate

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

// finalizer is an effect for an exit: mostly it takes its time or tells that it ran, at times it fails or can be interrupted.
func (g *generator) finalizer(at place) any {
	if g.kind == Tame {
		switch g.below(8) {
		case 0, 1, 2:
			return g.log()
		case 3, 4:
			return op("seq", g.log(), op("sleep", g.ms()), g.log())
		case 5:
			return op("die", pick(g.random, "fin0", "fin1"))
		case 6:
			return op("interruptible", op("seq", op("yield"), g.log()))
		default:
			return g.expr(at)
		}
	}
	switch g.below(9) {
	case 0:
		return g.log()
	case 1:
		return op("seq", g.log(), op("yield"), g.log())
	case 2, 3:
		return op("interruptible", g.expr(at))
	case 4:
		return op("seq", g.log(), g.expr(at), g.log())
	case 5:
		return op("seq", g.log(), pick(g.random, op("die", "fin"), op("interrupt"), op("throw", "t")))
	default:
		return g.expr(at)
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
