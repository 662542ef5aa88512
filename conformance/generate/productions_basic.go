package generate

import "slices"

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
