// Package generate makes random programs from a seed.
//
// A program is a pure function of its kind, seed and index: no other state, no package of random numbers whose sequence may
// change. So a report needs to name only these three.
//
// What finds differences is not size but meeting: fibers that share few names, wake and interrupt each other while they are
// masked, half started or closing. Hence small pools of names, times from a short list with many ties, and weights that
// change from program to program: each multiplies every group of operations by a random factor, often 0 (swarm testing), so
// that some programs are all scopes and interruption and others all queues and races.
package generate

import (
	"fmt"
)

// Kind is a style of programs.
type Kind string

const (
	// Tame programs are what a port of real code looks like: mostly one fiber, some forks, clean finalizers.
	Tame Kind = "tame"
	// Adversarial programs have six or more fibers over few names, which wake, interrupt and outlive each other inside
	// masks, races, finalizers and closing scopes.
	Adversarial Kind = "adversarial"
)

// Kinds are all kinds.
func Kinds() []Kind { return []Kind{Tame, Adversarial} }

// Program makes one program: data as encoding/json decodes it.
func Program(kind Kind, seed, index uint64) any {
	var salt uint64
	for _, b := range []byte(kind) {
		salt = salt*31 + uint64(b)
	}
	g := &generator{random: newRandom(salt, seed, index), kind: kind}
	return g.program()
}

// node is an expression under construction.
type node = []any

func op(name string, args ...any) node { return append(node{name}, args...) }

func num(n int) float64 { return float64(n) }

// place is where an expression will stand.
type place struct {
	depth int
	// mask: the text around it has a mask, so that restore has a meaning.
	mask bool
	// scope: a scope is likely at hand.
	scope bool
	// main: it runs on the main fiber, which had better end.
	main bool
	// layer: it builds a layer. A layer that uses layers could use itself, without end.
	layer bool
	// self is the name of the fiber that it runs on, where one is known.
	self string
	// lets are the names of the lets around it.
	lets []string
}

func (p place) in(steps int) place {
	p.depth -= steps
	return p
}

func (p place) masked() place {
	p.mask = true
	return p
}

func (p place) scoped() place {
	p.scope = true
	return p
}

// forked is the place inside another fiber.
func (p place) forked(name string) place {
	p.main, p.self = false, name
	return p
}

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

type weighted struct {
	production
	weight int
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

func names(prefix string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return list
}

func (g *generator) program() any {
	g.swarm()
	if g.kind == Adversarial {
		g.budget = g.between(40, 170)
	} else {
		g.budget = g.between(15, 90)
	}
	if g.kind == Adversarial {
		g.fibers = names("f", g.between(4, 7))
	}
	program := op("seq")
	program = append(program, g.prelude()...)
	if g.kind == Adversarial {
		program = append(program, g.contest()...)
	} else if g.percent(40) {
		program = append(program, g.crew()...)
	}
	depth := g.between(2, 4)
	for range g.between(1, 4) {
		program = append(program, g.statement(place{depth: depth, main: true}))
	}
	return program
}

// statement is one of main's own. It is often guarded, since a main fiber that fails or hangs at once ends everything.
func (g *generator) statement(at place) any {
	statement := g.expr(at)
	switch g.below(9) {
	case 0, 1, 2:
		return op("exit", statement)
	case 4:
		return op("onExit", statement, g.log())
	case 5:
		return op("timeoutOption", g.ms(), statement)
	case 6:
		return op("exit", op("timeout", num(g.between(1, 6)*5), statement))
	default:
		return statement
	}
}

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

func (g *generator) forkOptions() map[string]any {
	options := map[string]any{"kind": "child"}
	if g.kind == Adversarial {
		options["kind"] = pick(g.random, "detach", "detach", "child")
	} else if g.percent(15) {
		options["kind"] = "detach"
	}
	g.start(options)
	return options
}

// start adds the options that every fork has.
func (g *generator) start(options map[string]any) {
	if g.percent(35) {
		options["immediate"] = true
	}
	if g.percent(25) {
		options["uninterruptible"] = pick[any](g.random, true, "inherit")
	}
}

// finalizer is an effect for an exit: mostly it takes its time or tells that it ran, at times it fails or can be interrupted.
func (g *generator) finalizer(at place) any {
	if g.kind == Tame {
		switch g.below(8) {
		case 0, 1, 2:
			return g.log()
		case 3, 4:
			return op("seq", g.log(), op("sleep", g.ms()), g.log())
		case 5:
			return op("die", pick(g.random, "fin0", "fin1"))
		case 6:
			return op("interruptible", op("seq", op("yield"), g.log()))
		default:
			return g.expr(at)
		}
	}
	switch g.below(9) {
	case 0:
		return g.log()
	case 1:
		return op("seq", g.log(), op("yield"), g.log())
	case 2, 3:
		return op("interruptible", g.expr(at))
	case 4:
		return op("seq", g.log(), g.expr(at), g.log())
	case 5:
		return op("seq", g.log(), pick(g.random, op("die", "fin"), op("interrupt"), op("throw", "t")))
	default:
		return g.expr(at)
	}
}
