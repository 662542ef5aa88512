package generate

// group is a set of productions that a program has more or less of together.
type group int

const (
	plain group = iota
	logging
	failing
	blocking // may never go on by itself
	waiting
	waking
	interrupting
	handling
	finalizing
	scoping
	masking
	forking
	racing
	timing
	collecting
	permits
	latching
	queueing
	repeating
	scheduling
	caching
	fiberMaps
	fiberSets
	fiberHandles
	layering
	foreign
	context
	rebinding
	fighting // set pieces
	groupCount
)

type weighted struct {
	production
	weight int
}

// swarm sets the factors of this program and from them the weights of all productions.
func (g *generator) swarm() {
	g.factors = map[group]int{}
	for each := range groupCount {
		factor := pick(g.random, 0, 1, 2, 2, 3, 4, 8)
		if each == plain || each == logging {
			factor = pick(g.random, 2, 3, 4)
		}
		g.factors[each] = factor
	}
	if g.kind == Tame {
		g.factors[interrupting] = pick(g.random, 0, 0, 1, 1, 2)
		g.factors[rebinding] = 0
		g.factors[fighting] = 1
		g.factors[blocking] = min(g.factors[blocking], 2)
		g.factors[failing] = min(g.factors[failing], 2)
	} else {
		for _, each := range []group{interrupting, waking, masking, finalizing, waiting, fighting} {
			g.factors[each] = max(g.factors[each], 2)
		}
		g.factors[rebinding] = pick(g.random, 0, 0, 0, 1)
	}
	for _, each := range productions() {
		weight := each.weight * g.factors[each.group]
		if weight == 0 {
			continue
		}
		if each.leaf {
			g.leaves = append(g.leaves, weighted{each, weight})
			g.leafSum += weight
		} else {
			g.inners = append(g.inners, weighted{each, weight})
			g.innerSum += weight
		}
	}
}
