package lease_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// The tests run this binary again as other processes. Everything between them goes
// through pipes; nothing sleeps to synchronize.
const workerEnv = "TETHER_LEASE_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) != "" {
		work()
		return
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		children.Wait() // each ends when its test does
		os.Exit(code)
	}))
}
