// Package lanes runs work by key: at most one activation of a key at a time, at
// most so many in all, and no wake is ever lost. A chat room, a document, a user
// or a device is a key; its activation looks at whatever has come in for it.
//
// # Model
//
// A key's lane is idle, queued or running. Wake says that there is something to
// do, not what: however many wakes come while a lane waits, its one activation
// serves them, and however many come after it got its slot, one more follows.
//
//	        Wake, a slot is free
//	  .----------------------------------.
//	  |                                  v
//	idle --Wake--> queued --a slot--> running --Wake--> running, pending
//	  ^              | ^                 |                     |
//	  |    Cancel,   | |                 | end                 | end
//	  +--- Close ----' '-----------------|---------------------'
//	  '----------------------------------'
//
// [Make] makes lanes of effects, [NewRunner] the same for plain Go: a [Runner]'s
// activations are functions with a context, and its methods return errors. All that is
// said of lanes here is true of both.
//
// A freed slot goes to the lane that waited longest. A lane that is pending when
// it ends joins the end of the queue, behind all that waited meanwhile, so no
// busy key starves another: between two starts of a key every key that was
// queued at the first has started, or was cancelled.
//
// # An activation
//
// It is a fiber that starts when its Wake, or the activation before it, lets go.
// It has a scope of its own and the services that Make ran with. It keeps its slot
// until the effect has ended, its scope has closed, its child fibers have ended
// and OnExit has returned. Cancel, Close and TurnTimeout interrupt it, which ends
// the interruptible parts of its scope's closing too, but never OnExit. What the
// first of them found decides the report, an ActivationExit:
//
//	ended with                        stopped before that   OnExit hears
//	success, its scope closed well    -                     ActivationSucceeded
//	failure, defect, own interrupt    -                     ActivationFailed
//	anything, its scope failed        -                     ActivationFailed
//	the stop's interruption           cancel, close,        ActivationInterrupted
//	  (beside it: expected failures)  timeout
//	the same, and a defect            cancel, close, ...    ActivationFailed
//	(it had not started)              cancel, close, ...    ActivationInterrupted
//
// # Failure
//
// A panic or Goexit in Activate, and the zero Effect as its result, are defects
// of that activation alone. A failing OnExit or Observe, the failing scope of a
// stopped activation, and a failed activation when there is no OnExit to hear of it,
// are logged as warnings. Activate that never returns holds its slot, and nothing else. Interrupting a caller loses no accepted wake and no
// slot.
//
// # Shutting down
//
// Drain takes no new wakes and lets everything that is owed run to its end; at its limit
// it interrupts what is left, waits for that, and names it in its failure. Close does not
// let anything run to its end. Both wait until nothing runs.
//
// # Cost
//
// An idle key costs nothing. A queued one costs about 127 bytes beside its key's
// characters, and no goroutine. Wake and Cancel are O(1) apart from the waiting,
// Status and Close O(lanes that are not idle). A coalesced Wake allocates nothing.
// The turn's timer is gone when the activation ends.
//
// # Not promised
//
// Nothing is persisted: wakes that a process owes die with it. Between two keys
// there is no order but that of the queue. Activations that wait for each other's
// ends (Cancel) from uninterruptible parts wait for ever.
package lanes
