package platform

import (
	"sync"

	"github.com/rivus/tether/scope"
)

var operatingSystem = sync.OnceValue(func() *Platform {
	return &Platform{
		FS:      osFS{},
		Process: &osProcess{},
		SQLite:  newSQLite(),
		Clock:   scope.NewLiveClock(),
	}
})

// OS is this machine: the one platform value of the process. Every call gives
// the same, made at the first one. On Windows files and SQLite work, and the
// process's identity is a failure with ReasonUnsupported.
func OS() *Platform { return operatingSystem() }
