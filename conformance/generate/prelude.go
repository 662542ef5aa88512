package generate

import "fmt"

// prelude makes and names what the program's fibers share.
func (g *generator) prelude() []any {
	var made []any
	add := func(each node) { made = append(made, each) }

	g.deferreds = names("d", g.between(1, 3))
	for _, d := range g.deferreds {
		add(op("deferred", d))
	}
	g.semaphores = names("s", g.between(1, 2))
	for i, s := range g.semaphores {
		add(op("semaphore", s, num(pick(g.random, i+1, 2, 1))))
	}
	g.latches = names("l", 1)
	add(op("latch", "l0", g.percent(20)))
	g.queues = []string{"q"}
	add(g.queue("q"))
	g.scopes = names("c", 2)
	add(op("scopeMake", "c0", "sequential"))
	add(op("scopeMake", "c1", "parallel"))
	if g.percent(20) {
		add(op("scopeFork", pick(g.random, g.scopes...), "c2", pick(g.random, "sequential", "parallel")))
		g.scopes = append(g.scopes, "c2")
	}
	if g.factors[fiberMaps]+g.factors[fiberSets]+g.factors[fiberHandles] > 0 {
		g.maps, g.sets, g.handles = []string{"m"}, []string{"t"}, []string{"h"}
		add(op("scopeProvide", pick(g.random, g.scopes...), op("seq", op("fiberMap", "m"), op("fiberSet", "t"), op("fiberHandle", "h"))))
	}
	inside := place{depth: 2, layer: true}
	if g.factors[layering] > 0 {
		g.layers = []string{"la", "lb"}
		g.keys = map[string]string{"la": "A", "lb": "B", "lc": pick(g.random, "A", "B")}
		add(op("layer", "la", "A", g.service("la", nil, inside)))
		add(op("layer", "lb", "B", g.service("lb", op("service", "A"), inside)))
		if g.percent(40) {
			g.layers = append(g.layers, "lc")
			add(op("layer", "lc", g.keys["lc"], g.service("lc", nil, inside)))
		}
	}
	if g.factors[caching] > 0 {
		body := g.expr(place{depth: 3})
		g.caches = []string{"k"}
		add(op("cached", "k", body))
	}
	return made
}

func names(prefix string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return list
}

func (g *generator) queue(name string) node {
	switch g.below(6) {
	case 0:
		return op("queue", name, "unbounded")
	case 1:
		return op("queue", name, "dropping", num(g.between(1, 2)))
	case 2:
		return op("queue", name, "sliding", num(g.between(1, 2)))
	default:
		return op("queue", name, num(g.between(1, 2)))
	}
}

// service is what builds a service: it logs, needs another one perhaps, acquires and releases.
func (g *generator) service(name string, needs any, at place) any {
	parts := op("seq", op("log", "build "+name))
	if needs != nil && g.percent(80) {
		parts = append(parts, needs)
	}
	if g.percent(70) {
		parts = append(parts, op("acquireRelease", op("log", name+" up"), g.finalizer(at.in(1).scoped())))
	}
	if g.percent(60) {
		parts = append(parts, g.expr(at.scoped()))
	}
	return append(parts, op("succeed", num(g.between(1, 3))))
}
