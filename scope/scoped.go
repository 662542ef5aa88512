package scope

// Scoped runs body with a new scope, which is at hand in it and closes when body has
// ended, however: by itself, by a panic, which is a defect, by an interruption or by a
// Goexit. The finalizers run masked, with body's exit, whose value is nil, and what they
// fail with joins the cause.
func (f *Fiber) Scoped(body func(s *Scope) *Cause) *Cause {
	s, env := new(Scope), f.env
	returned, mark := false, f.Mark()
	defer func() {
		if !returned && !f.rt.abandoning() {
			f.Unwound(mark)
			f.env = env
			s.CloseMasked(f, NewExit[any](nil, CauseDie(Exited{})))
		}
	}()
	f.env = env.WithScope(s)
	c := f.Guard(func() *Cause { return body(s) })
	f.env = env
	returned = true
	return f.inMask(c, func(c *Cause) *Cause {
		return CombineFinalizer(c, s.CloseMasked(f, NewExit[any](nil, c)))
	})
}
