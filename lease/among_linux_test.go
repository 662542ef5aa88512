package lease_test

import (
	"testing"

	"github.com/rivus/tether/internal/child"
)

// again skips where a second run of the contract costs more than it finds.
func again(t *testing.T) {
	t.Helper()
	if testing.Short() || raced {
		t.Skip("it runs the whole contract again: not with -short, nor under the race detector")
	}
}

// The whole contract of leases, when the processes of the tests are root and two
// users by turns, in a folder of their group, and when all of them are one user
// without rights.
func TestContractAmongUsers(t *testing.T) {
	again(t)
	child.RunAs(t, child.Same, true, "^Test[LHRF][0-9]", "F39", 60)
}

func TestContractAsAnotherUser(t *testing.T) {
	again(t)
	child.RunAs(t, child.As(child.Ann, child.Ann), false, "^Test[LHRF][0-9]", "", 60)
}
