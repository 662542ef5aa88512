package platform

import "github.com/rivus/tether/scope"

// Platform is what programs of this module see of the machine. Its address is
// its identity: locks take turns in memory, and the own identity is read once,
// per Platform, so that simulated machines in one test share nothing.
//
// Build one from parts to simulate a machine or to replace one port:
//
//	simulated := &platform.Platform{FS: disk, Process: process, SQLite: sqlite, Clock: clock}
//
// It must not change while anything uses it.
type Platform struct {
	FS      FS
	Process Process
	SQLite  SQLite
	Clock   scope.Clock
}
