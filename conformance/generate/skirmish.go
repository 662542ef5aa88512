package generate

// skirmishes are small set pieces, each built around one rule that free generation seldom meets: an oracle with that rule
// changed told hardly any of three thousand programs apart before they were added.
func skirmishes() []production {
	inCombat := func(weight int, build func(*generator, place) any) production {
		return inner(fighting, weight, func(g *generator, at place) any {
			if g.kind == Tame && !g.percent(15) {
				return nil
			}
			return build(g, at)
		})
	}
	return []production{
		// A fiber interrupts itself behind a mask; what it ends with then meets the interruption on its way out.
		inCombat(4, func(g *generator, at place) any {
			if at.self == "" {
				return nil
			}
			end := pick[any](g.random, op("fail", "E1"), op("fail", "E2"), op("die", "b0"), op("succeed", num(1)), op("yield"), g.expr(at.in(2)))
			hit := op("seq", op("signal", at.self), end)
			region := op(pick(g.random, "uninterruptible", "mask", "ensuring"), hit)
			if region[0] == "ensuring" {
				region = op("ensuring", pick[any](g.random, g.log(), op("fail", "E1")), hit)
			}
			return op("onExit", g.handled(region, at), g.log())
		}),
		// The parts of a collection or a race wake each other while it still starts them.
		inCombat(6, func(g *generator, at place) any {
			wait, wake := g.meeting("", "")
			prepare := op("seq")
			if g.percent(60) {
				// A deferred of their own, which nobody has completed before.
				d := "d" + g.fresh("x", &g.made)
				prepare = append(prepare, op("deferred", d))
				wait, wake = op("dAwait", d), op("dDone", d, pick(g.random, op("succeed", num(1)), g.exit()))
			}
			end := func() any {
				return pick[any](g.random, op("fail", "E1"), op("fail", "E2"), op("die", "b1"), op("succeed", num(g.below(4))), op("interrupt"), g.log())
			}
			parts := []any{op("seq", wait, end()), op("seq", wake, end())}
			if g.percent(40) {
				parts = append(parts, g.expr(at.in(2)))
			}
			if g.percent(30) {
				parts = append([]any{g.expr(at.in(2))}, parts...)
			}
			var together node
			switch g.below(7) {
			case 0:
				together = op("race", parts[0], parts[1])
			case 1:
				together = op("raceFirst", parts[0], parts[1])
			case 2:
				together = op(pick(g.random, "raceAll", "raceAllFirst"), parts)
			case 3:
				together = op("zip", parts[0], parts[1], true)
			default:
				together = op("all", parts, pick[any](g.random, "unbounded", "unbounded", num(2), num(3)))
			}
			if len(prepare) == 1 {
				return together
			}
			return append(prepare, together)
		}),
		// A fiber that belongs to a scope closes it.
		inCombat(2, func(g *generator, at place) any {
			scope, f := pick(g.random, g.scopes...), g.fiber(at)
			closing := op("seq", op("scopeClose", scope, g.exit()), g.log())
			if g.percent(70) {
				closing = op("seq", op("yield"), closing)
			}
			made := op("fork", f, g.wrapped(closing, g.below(2), at), map[string]any{"in": scope})
			return op("seq", op("scopeAdd", scope, g.finalizer(at.in(1))), made, op("scopeAdd", scope, g.log()), op("yield"))
		}),
		// What becomes of a fiber that is forked into a closed scope.
		inCombat(2, func(g *generator, at place) any {
			scope, f := pick(g.random, g.scopes...), g.fiber(at)
			options := map[string]any{"in": scope}
			g.start(options)
			return op("seq", op("scopeClose", scope, g.exit()), op("fork", f, op("onExit", g.expr(at.in(2).forked(f)), g.log()), options),
				op("await", f))
		}),
		// Finalizers of a scope that runs them side by side, in forks that inherit.
		inCombat(2, func(g *generator, at place) any {
			scope := "c1"
			body := op("seq")
			for range g.between(2, 3) {
				f := g.fiber(at)
				child := op("fork", f, op("onExit", op("seq", op("yield"), g.log()), g.log()), map[string]any{
					"kind": "detach", "uninterruptible": pick[any](g.random, "inherit", "inherit", true), "immediate": true,
				})
				body = append(body, op("scopeAdd", scope, op("seq", child, op("signal", f), g.finalizer(at.in(2)))))
			}
			closing := op("scopeClose", scope, g.exit())
			return append(body, pick(g.random, closing, op("uninterruptible", closing), op("exit", closing)))
		}),
		// A wait for permits is interrupted just when it is woken, with others behind it.
		inCombat(3, func(g *generator, at place) any {
			s := pick(g.random, g.semaphores...)
			first, second := g.fiber(at), g.fiber(at)
			immediately := map[string]any{"kind": pick(g.random, "child", "detach"), "immediate": true}
			body := op("seq", op("take", s, num(1)),
				op("fork", first, g.wrapped(op("withPermits", s, num(g.between(1, 2)), g.log()), g.below(2), at), immediately),
				op("fork", second, op("withPermits", s, num(1), op("seq", g.log(), g.expr(at.in(2)))), immediately))
			hits := []any{op("release", s, num(1)), op("signal", first)}
			if g.percent(50) {
				hits[0], hits[1] = hits[1], hits[0]
			}
			return append(append(body, hits...), g.log(), op("release", s, num(1)), op("yield"), g.log())
		}),
		// A fiber that has ended but for its children is interrupted while it awaits them.
		inCombat(2, func(g *generator, at place) any {
			parent, child := g.fiber(at), g.fiber(at)
			slow := pick[any](g.random,
				op("uninterruptible", op("sleep", g.ms())),
				op("onInterrupt", op("never"), op("seq", op("sleep", g.ms()), g.log())),
				op("onExit", op("never"), pick(g.random, op("yield"), op("sleep", g.ms()))))
			end := pick[any](g.random, op("succeed", num(1)), op("succeed", num(2)), g.log(), op("fail", "E1"))
			body := op("seq", op("fork", child, slow, map[string]any{"immediate": true}), end)
			made := op("fork", parent, body, map[string]any{"kind": pick(g.random, "child", "detach"), "immediate": g.percent(70)})
			return op("seq", made, pick(g.random, op("yield"), op("sleep", num(0)), g.log()), op("signal", parent),
				pick(g.random, op("await", parent), op("await", parent), op("exit", op("join", parent))))
		}),
		// Finalizers of a scope that ends well fail in different ways, and what handles failures stands around it.
		inCombat(2, func(g *generator, at place) any {
			fails := func() any {
				return pick[any](g.random, op("fail", "E1"), op("fail", "E2"), op("die", "b2"), op("die", "b3"), op("interrupt"), g.log())
			}
			body := op("seq")
			for range g.between(2, 3) {
				body = append(body, op("addFinalizer", fails()))
			}
			return op("onExit", g.handled(op("scoped", append(body, g.log())), at), g.log())
		}),
		// Callers of a cached effect come and go while it runs.
		inCombat(2, func(g *generator, at place) any {
			if len(g.caches) == 0 {
				return nil
			}
			k, f := pick(g.random, g.caches...), g.fiber(at)
			call := op("fork", f, op("onExit", op("cachedGet", k), g.log()), map[string]any{"kind": "detach", "immediate": true})
			return op("seq", call, pick(g.random, op("yield"), op("sleep", g.ms()), g.log()), op("signal", f),
				pick(g.random, op("cachedGet", k), op("timeoutOption", g.ms(), op("cachedGet", k)), op("exit", op("cachedGet", k))), g.log())
		}),
	}
}

// handled puts a handler around an expression.
func (g *generator) handled(inside any, at place) any {
	handler := func() any {
		if g.percent(50) {
			return g.log()
		}
		return g.expr(at.in(2))
	}
	switch g.below(8) {
	case 0:
		return op("exit", inside)
	case 1:
		return op("option", inside)
	case 2:
		return op("matchCause", inside, handler(), handler())
	case 3:
		return op("sandboxed", inside)
	case 4:
		return op("tapCause", inside, handler())
	case 5:
		return op("matchEffect", inside, handler(), handler())
	default:
		return op(pick(g.random, "catch", "catchCause"), inside, handler())
	}
}

// fiber is a name for a new fiber: one of the program's, or in a tame program one of its own.
func (g *generator) fiber(place) string {
	if g.kind == Adversarial {
		return pick(g.random, g.fibers...)
	}
	name := g.fresh("g", &g.made)
	g.bound = append(g.bound, name)
	return name
}
