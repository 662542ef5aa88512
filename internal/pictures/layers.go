package main

// layers are the packages: each stands on what it imports.
func layers() string {
	const (
		width, row, gap = 760, 52, 8
		left, half      = 8, (width - 16 - gap) / 2
	)
	c := newCanvas(width, 7*(row+gap)+gap, "The packages. Each stands on those that it imports: proptest on lease and lanes; "+
		"lease on processlock, that on platform; platform and lanes on effect; effect on scope; scope on errors.")
	top := func(n int) int { return gap + n*(row+gap) }
	box := func(class string, x, n, rows, wide int, name, what string) {
		y, tall := top(n), rows*(row+gap)-gap
		c.rect(class, x, y, wide, tall)
		c.text("name", x+14, y+tall/2-3, name)
		c.text("small", x+14, y+tall/2+15, what)
	}
	right := left + half + gap
	box("box", left, 0, 1, width-16, "proptest", "the invariants as state machines for your CI; simulated machines; schedules that shrink")
	box("main", left, 1, 1, half, "lease", "one owner a key, a fencing token, takeover")
	box("main", right, 1, 3, half, "lanes", "work by key under a cap; no wake is lost")
	box("main", left, 2, 1, half, "processlock", "one holder a path, across processes")
	box("box", left, 3, 1, half, "platform", "files, processes, SQLite, clock: ports and the OS")
	box("main", left, 4, 1, width-16, "effect", "typed, lazy programs: Gen, races, timeouts, scopes, layers, queues, schedules")
	box("box", left, 5, 1, width-16, "scope", "the kernel: fibers, interruption, finalizers; a parallel and a deterministic runtime")
	box("box", left, 6, 1, width-16, "errors", "tagged errors")
	return c.svg()
}
