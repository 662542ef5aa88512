package proptest_test

import (
	"testing"

	"github.com/rivus/tether/proptest"
)

func TestScope(t *testing.T) { proptest.Scope(t) }
