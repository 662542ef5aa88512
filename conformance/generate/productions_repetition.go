package generate

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
