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
