package proptest

import (
	"testing"

	"pgregory.net/rapid"
)

// TB is the part of testing.TB that this package uses. *testing.T, *testing.B,
// *testing.F and *rapid.T have it, and a stand-in can.
type TB interface {
	rapid.TB
	Cleanup(func())
}

// section runs one part of a suite: as a subtest where t can, so that -run picks
// it and one failure does not hide the next.
func section(t TB, name string, part func(t TB)) {
	t.Helper()
	if tt, ok := t.(*testing.T); ok {
		tt.Run(name, func(t *testing.T) { part(t) })
		return
	}
	part(named{t, name})
}

// named says in a stand-in's report which part failed.
type named struct {
	TB
	name string
}

func (n named) Name() string { return n.TB.Name() + "/" + n.name }

func (n named) Errorf(format string, args ...any) {
	n.Helper()
	n.TB.Errorf(n.name+": "+format, args...)
}

func (n named) Fatalf(format string, args ...any) {
	n.Helper()
	n.TB.Fatalf(n.name+": "+format, args...)
}
