package proptest_test

import (
	"testing"

	"github.com/rivus/tether/processlock"
	"github.com/rivus/tether/proptest"
)

func TestLock(t *testing.T) { proptest.Lock(t) }

func TestLockFile(t *testing.T) { proptest.Lock(t, processlock.WithoutSQLite()) }
