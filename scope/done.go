package scope

// Done is the failure that says that a source has no more to give (TypeScript:
// Cause.Done). It is a signal, not an error: ElectDefects leaves it alone.
type Done struct {
	// Value is what the source leaves behind, or nil.
	Value any
}

func (*Done) Error() string { return "done" }

// Tag implements errors.Tagged.
func (*Done) Tag() string { return "Done" }

// IsDone tells whether err is a *Done. One that is wrapped is an error like any
// other.
func IsDone(err error) bool {
	_, ok := err.(*Done)
	return ok
}
