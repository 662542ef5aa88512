//go:build !linux && !darwin

package platform

import (
	"fmt"
	"runtime"

	"github.com/rivus/tether/errors"
)

func readSelf() (Identity, error) { return Identity{}, noIdentity() }

func startTimeOf(int64) (start int64, runs bool, err error) { return 0, false, noIdentity() }

func noIdentity() error {
	return &Failure{
		Op: "read identity", Reason: ReasonUnsupported,
		Cause: fmt.Errorf("%s has no process identity here: use the SQLite lock and in-memory leases: %w", runtime.GOOS, errors.ErrUnsupported),
	}
}
