package generate

import "fmt"

// node is an expression under construction.
type node = []any

func op(name string, args ...any) node { return append(node{name}, args...) }

func num(n int) float64 { return float64(n) }

type generator struct {
	*random
	kind    Kind
	factors map[group]int
	budget  int

	fibers, bound                               []string
	deferreds, semaphores, latches, queues      []string
	scopes, caches, maps, sets, handles, layers []string
	// keys has the service that each layer provides.
	keys map[string]string

	logs, foreigns, callbacks, counters, lets, made int

	leaves, inners []weighted
	leafSum        int
	innerSum       int
}

func (g *generator) log() node {
	g.logs++
	return op("log", fmt.Sprintf("L%d", g.logs-1))
}

func (g *generator) fresh(prefix string, counter *int) string {
	*counter++
	return fmt.Sprintf("%s%d", prefix, *counter-1)
}

// ms is a delay. Few different ones, so that timers tie.
func (g *generator) ms() float64 {
	if g.kind == Adversarial {
		return num(pick(g.random, 0, 0, 5, 5, 10, 15))
	}
	return num(pick(g.random, 5, 10, 10, 20, 20, 30, 50))
}

func (g *generator) tag() string { return pick(g.random, "E1", "E1", "E2") }

func (g *generator) value() any {
	switch g.below(12) {
	case 0:
		return nil
	case 1:
		return pick[any](g.random, true, false)
	case 2:
		return pick[any](g.random, "a", "b")
	case 3:
		return []any{num(1), "x"}
	default:
		return num(g.below(9))
	}
}

func (g *generator) exit() node {
	return pick(g.random,
		op("succeed", num(g.between(1, 4))), op("succeed", num(1)), op("fail", "E1"), op("fail", g.tag()),
		op("die", "x"), op("interrupt"))
}

func (g *generator) concurrency() any {
	return pick[any](g.random, num(1), num(2), num(2), "unbounded", "unbounded", num(3))
}

// choose picks by weight; leaf only where the depth or the budget is used up.
func (g *generator) expr(at place) any {
	g.budget--
	leaf := at.depth <= 0 || g.budget <= 0 || g.percent(18)
	from, sum := g.inners, g.innerSum
	if leaf {
		from, sum = g.leaves, g.leafSum
	}
	for range 20 {
		n := g.below(sum)
		for _, each := range from {
			if n -= each.weight; n >= 0 {
				continue
			}
			if made := each.build(g, at); made != nil {
				return made
			}
			break
		}
	}
	return g.log()
}

func (g *generator) exprs(n int, at place) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = g.expr(at)
	}
	return list
}

// seq is a sequence; a log between its parts shows the order in which fibers get to them.
func (g *generator) seq(n int, at place) any {
	parts := op("seq")
	for range n {
		if g.percent(25) {
			parts = append(parts, g.log())
		}
		parts = append(parts, g.expr(at))
	}
	if len(parts) == 2 {
		return parts[1]
	}
	return parts
}

// waits are the operations that may never go on.
var waits = map[string]bool{
	"dAwait": true, "qTake": true, "qTakeAll": true, "qOffer": true, "lAwait": true, "take": true, "join": true, "await": true,
	"cachedGet": true, "fmJoin": true, "fmAwaitEmpty": true, "fsJoin": true, "fsAwaitEmpty": true, "fhJoin": true,
	"fhAwaitEmpty": true, "never": true,
}

// guard gives a wait on the main fiber an end, more often than not: a program that hangs early shows little.
func (g *generator) guard(at place, wait node) any {
	if at.main && waits[wait[0].(string)] && g.percent(75) {
		return op("timeoutOption", g.ms(), wait)
	}
	return wait
}
