// Package scope is the kernel: fibers that can be interrupted safely, scopes
// that release what they hold, the causes and exits that things end with, and
// two runtimes that run it all. Package effect builds typed programs on it; it
// is usable on its own, in direct style.
//
// # The model
//
// A Fiber is a line of execution with a stack of its own. It runs Go functions
// of the form func(*Fiber) *Cause: nil is success, a Cause says why not. A cause
// is a flat list of reasons (Fail, Die, Interrupt); an Exit is a value or a
// cause.
//
//	unstarted --start--> running --Arm,Block--> blocked
//	    |                 |   ^                   |  |
//	 Interrupt            |   '------ Wake -------'  |
//	    |                 |   '------ Interrupt -----' (if it may be interrupted)
//	    v                 v
//	  ended <-- children interrupted and awaited, exit published, observers called
//
// Interrupt adds a reason to the fiber's interruption. A masked fiber notes it
// and goes on until the mask ends. An unmasked one unwinds: at once when it is
// parked, before its next step or after its current value when it runs, unrun
// when it was not started. On the way out handlers are passed over and
// finalizers run.
//
// A Scope is open, with finalizers in order, or closed with an exit. Close flips
// the state first and then runs every finalizer, last to first (Sequential) or
// all at once (Parallelly), whatever the others do: a panic and a
// runtime.Goexit in one do not keep the next from running. A finalizer added to
// a closed scope runs at once.
//
// # The runtimes
//
// Parallel runs each fiber on a goroutine, with the live clock. Deterministic
// runs them as coroutines, one at a time, with a virtual clock that moves when
// nothing is ready. In EffectOrder it reproduces the order of effect@4.1.0: who
// wakes a fiber runs it at once, forks and yields wait in one batch for each
// fiber that lets go. In ExploreOrder a chooser picks what runs next, and with
// Preempt it may also stop a fiber before any step.
//
// # Failure rules
//
// A panic in a body or a finalizer becomes a Die with its stack. A Goexit cannot
// be stopped, but everything that must run on the way out does, and the fiber
// ends with Exited. A fiber that ends with a defect which nobody looks at is
// logged (parallel) or listed in the Report (deterministic), once. Whoever only
// waits for an end (a scope, a parent, a race, an interrupter) does not look. Evaluations nested
// deeper than two million levels end with TooDeep instead of exhausting the
// stack.
//
// # What it does not promise
//
// Fairness between fibers on the parallel runtime is the Go scheduler's. A
// masked fiber that waits for ever can only be ended by what it waits for.
// Deterministic runs see other goroutines' work only as completions; code that
// waits for another goroutine in any other way stops the whole run.
package scope
