package generate

// contest is the adversarial heart: every fiber's name is bound first, so that the bodies can aim at each other whatever
// the order in which they start; then the fibers are forked with their bodies.
func (g *generator) contest() []any {
	var forks []any
	bound := g.percent(90)
	if bound {
		for _, f := range g.fibers {
			first := pick(g.random, op("never"), op("never"), op("never"), op("yield"), op("ensuring", op("never"), op("log", f+" old")))
			forks = append(forks, op("fork", f, first, map[string]any{"kind": "detach"}))
		}
	}
	depth := g.between(2, 4)
	// bodies has those that an ambush made.
	bodies := map[string]any{}
	for range g.below(3) {
		waiter, waker := pick(g.random, g.fibers...), pick(g.random, g.fibers...)
		bodies[waiter], bodies[waker] = g.ambush(waiter, waker, depth)
	}
	for _, f := range g.fibers {
		if body, made := bodies[f]; made {
			forks = append(forks, op("fork", f, body, g.forkOptions()))
			continue
		}
		at := place{depth: depth, self: f}
		body := g.expr(at)
		if g.percent(25) {
			body = g.seq(g.between(2, 3), at.in(1))
		}
		if g.percent(20) {
			body = op("onExit", body, g.log())
		}
		forks = append(forks, op("fork", f, body, g.forkOptions()))
		if g.percent(12) {
			forks = append(forks, pick(g.random, op("yield"), op("sleep", g.ms()), op("signal", pick(g.random, g.fibers...))))
		}
	}
	return forks
}
