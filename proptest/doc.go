// Package proptest tests programs of this module, and implementations of its
// ports, by properties: rapid makes the cases, shrinks those that fail, and
// reports what is left.
//
//	func TestProgram(t *testing.T)    { proptest.Check(t, program) }
//	func TestRepository(t *testing.T) { proptest.Repository(t, openMine) }
//
// # The model
//
//	Check, Explore     one program, many schedules
//	Repository         a conformance suite for any lease.Repository
//	World              a simulated machine: disk, pids, locks, clocks, processes
//	Store              a lease repository in a World, with weather
//	Fencing, Lock      leases and process locks in a World
//	Scope, Lanes       against reference models, in explored schedules
//
// A schedule is the list of a chooser's choices: who goes on, before each step.
// Rapid draws it choice by choice, 0 being the oldest of what is ready, so a
// failing one shrinks to a few switches. What happened is printed step by step or
// event by event, and the schedule alone runs it again (TETHER_SCHEDULE).
//
// A World runs its processes one at a time, each on a deterministic runtime, or as
// plain code that stops before every operation of a port:
//
//	            ┌──────────── World: time, choices ───────────┐
//	#0: runtime, clock   #1: runtime, clock   #2: code, clock │
//	  └── Platform ─┴── Platform ─┴── Platform ───────────────┤
//	                    disk, locks, pids                     │
//	            └─────────────────────────────────────────────┘
//
// # Settings
//
// -rapid.checks (100) is how many cases each property tries, -rapid.seed picks
// them, -rapid.failfile runs one again; rapid prints the last two with a failure,
// and go test -run picks the part of a suite.
//
// # Failure rules
//
// A property fails by t.Fatalf with a text that does not depend on the case, so
// that rapid goes on shrinking; the case is in the log before it. A panic in the
// code of a simulated process goes on in the test. Everything that a property
// starts has ended when it returns.
//
// # What stands in, and what is not shown
//
//   - SQLite cannot be simulated: a World has its lock on a file and no
//     databases. The conformance suite runs on real ones.
//   - Goroutines of Blocking and TryPromise are real: their order, where several
//     are in flight, is the machine's. So are the random pauses of package
//     processlock; a World whose processes wait for its locks may differ in such
//     details from run to run of one seed.
//   - A process of fibers is stopped and killed between steps, not inside an
//     operation of a port; plain code (StartCode) is, too.
//   - A simulated disk keeps or loses each unsynced file and entry as a whole; it
//     tears none.
//   - The suites need no second process and no root, and prove nothing about the
//     real kernel; the packages' own tests kill real processes.
package proptest
