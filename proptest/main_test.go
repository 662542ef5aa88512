package proptest_test

import (
	"flag"
	"os"
	"testing"

	"github.com/rivus/tether/internal/leftovers"
)

func TestMain(m *testing.M) {
	if os.Getenv("TETHER_MUTANT") != "" {
		// A fault is to be found, and nobody reads how it shrinks.
		for name, value := range map[string]string{"rapid.checks": "2000", "rapid.shrinktime": "0s", "rapid.nofailfile": "true"} {
			if err := flag.Set(name, value); err != nil {
				panic(err)
			}
		}
	}
	leftovers.Verify(m)
}
