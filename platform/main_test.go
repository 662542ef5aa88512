package platform_test

import (
	"testing"

	"github.com/rivus/tether/internal/leftovers"
)

func TestMain(m *testing.M) {
	beforeTests(m)
	leftovers.Verify(m)
}
