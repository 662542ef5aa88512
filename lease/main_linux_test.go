package lease_test

import (
	"os"
	"testing"

	"github.com/rivus/tether/internal/child"
	"github.com/rivus/tether/internal/leftovers"
)

// The tests run this binary again as other processes. Everything between them goes
// through pipes; nothing sleeps to synchronize.
const workerEnv = "TETHER_LEASE_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) != "" {
		work()
		return
	}
	leftovers.Verify(m, child.Wait) // each child ends when its test does
}
