package generate

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
