// Package docs_test compiles and runs what the texts beside it show.
package docs_test

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
