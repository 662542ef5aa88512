//go:build linux

package platform

import "testing"

// H1: no namespace is one that the kernel does not have, and not one that could not
// be looked at. White-box: a process cannot be kept from its own.
func TestH1_NamespaceThatCannotBeSeen(t *testing.T) {
	if ns, err := namespace("/proc/self/ns/none"); ns != 0 || err != nil {
		t.Fatal(ns, err)
	}
	if ns, err := namespace("/proc/self/stat/pid"); ns != 0 || ReasonOf(err) != ReasonNotDirectory {
		t.Fatal(ns, err)
	}
	if ns, err := namespace("/proc/self/ns/pid"); ns == 0 || err != nil {
		t.Fatal(ns, err)
	}
}
