// Package docs_test compiles and runs what the texts beside it show.
package docs_test

import (
	"testing"

	"github.com/rivus/tether/internal/leftovers"
)

func TestMain(m *testing.M) { leftovers.Verify(m) }
