package scope_test

import (
	"testing"

	"github.com/rivus/tether/internal/leftovers"
)

func TestMain(m *testing.M) { leftovers.Verify(m) }
