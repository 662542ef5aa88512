package platform_test

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	beforeTests(m)
	goleak.VerifyTestMain(m)
}
