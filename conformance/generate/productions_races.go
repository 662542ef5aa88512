package generate

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
