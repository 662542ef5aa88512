package proptest_test

import (
	"testing"

	"github.com/rivus/tether/proptest"
)

func TestLanes(t *testing.T) { proptest.Lanes(t) }
