package generate

import (
	"slices"
	"sync"
)

type production struct {
	group  group
	weight int
	leaf   bool
	// build gives nil where it makes no sense, and another production is picked.
	build func(g *generator, at place) any
}

// productions are all rules of the grammar. They are made when first asked for, since they call what uses them.
var productions = sync.OnceValue(func() []production {
	return slices.Concat(simple(), failures(), finalization(), scopes(), regions(), fibers(), races(), coordination(),
		repetition(), fiberCollections(), services(), foreigners(), bindings(), skirmishes())
})

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
