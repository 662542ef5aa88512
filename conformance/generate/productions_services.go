package generate

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
