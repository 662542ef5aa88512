package scope

// Close closes the scope with exit and runs its finalizers on f, masked. The
// cause lists what the finalizers failed with, in the order they were run. A
// second close returns nil at once, even while the first still runs.
//
// Like any step, Close does not run in a fiber that has been interrupted: it
// returns the interruption, and the scope stays open. Fiber.Scoped closes a scope
// however its work has ended.
func (s *Scope) Close(f *Fiber, exit Exit[any]) *Cause {
	entered, c := f.Mask()
	if c != nil {
		return c
	}
	c = f.Guard(func() *Cause { return s.CloseMasked(f, exit) })
	if entered {
		c = f.Unmask(c)
	}
	return c
}

// CloseMasked is Close for a fiber that is masked already.
func (s *Scope) CloseMasked(f *Fiber, exit Exit[any]) *Cause {
	entries, ok := s.begin(exit)
	switch {
	case !ok || len(entries) == 0:
		return nil
	case len(entries) == 1:
		run := entries[0].run
		entries[0] = entry{} // it lies in the scope, which may live on
		return f.Guard(func() *Cause { return run(f, exit) })
	case s.strategy == Parallelly:
		return closeParallel(f, entries, exit)
	default:
		r := closing{f: f, entries: entries, exit: exit}
		r.run()
		return CauseFromReasons(r.reasons...)
	}
}

// closing is a sequential close under way.
type closing struct {
	f       *Fiber
	entries []entry
	exit    Exit[any]
	reasons []Reason
}

func (r *closing) run() {
	for len(r.entries) > 0 {
		r.next()
	}
}

func (r *closing) next() {
	last := len(r.entries) - 1
	e := r.entries[last]
	r.entries[last] = entry{}
	r.entries = r.entries[:last]
	returned, mark := false, r.f.Mark()
	// A Goexit in a finalizer unwinds this goroutine for good; the finalizers
	// that are left run from this defer on the way.
	defer func() {
		if !returned && !r.f.rt.abandoning() {
			r.f.Unwound(mark)
			r.reasons = append(r.reasons, Die{Defect: Exited{}})
			r.run()
		}
	}()
	c := r.f.Guard(func() *Cause { return e.run(r.f, r.exit) })
	returned = true
	r.reasons = append(r.reasons, c.Reasons()...)
}

func closeParallel(f *Fiber, entries []entry, exit Exit[any]) *Cause {
	fibers := make([]*Fiber, 0, len(entries))
	for i := len(entries) - 1; i >= 0; i-- {
		e := entries[i]
		// The closing fiber's own entry would wait for itself in another fiber.
		if e.owner == f {
			continue
		}
		o := ForkConfig{Immediate: true, Daemon: true, bound: true, Mode: StartInherited}
		child := new(Fiber)
		f.Prepare(child, Func(func(f *Fiber) *Cause { return e.run(f, exit) }), o)
		// Its defect is the close's: one that ends before it is awaited must not
		// count as unheard.
		child.watched = true
		f.Start(child, o)
		fibers = append(fibers, child)
	}
	if c := f.AwaitAll(fibers); c != nil {
		return c
	}
	var reasons []Reason
	for _, fiber := range fibers {
		c, _ := fiber.Exited()
		reasons = append(reasons, c.Reasons()...)
	}
	return CauseFromReasons(reasons...)
}
