package scope

// FindInterrupt is the first interruption.
func (c *Cause) FindInterrupt() (Interrupt, bool) {
	for _, r := range c.Reasons() {
		if i, ok := r.(Interrupt); ok {
			return i, true
		}
	}
	return Interrupt{}, false
}

// Errors are the failures as they are and a *Defect for each defect, in order;
// or one *Interruption when there are interruptions only (TypeScript:
// prettyErrors). A nil cause has none.
func (c *Cause) Errors() []error {
	var out []error
	for _, r := range c.Reasons() {
		switch r := r.(type) {
		case Fail:
			out = append(out, r.Err)
		case Die:
			out = append(out, &Defect{Value: r.Defect, Panic: r.Panic})
		}
	}
	if c != nil && len(out) == 0 {
		out = append(out, c.Err())
	}
	return out
}
