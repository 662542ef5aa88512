// Package platform is all that Tether sees of the machine: four ports, and their
// implementation on the operating system.
//
//	Platform ─┬─ FS       files that appear whole, links, directories' identity
//	          ├─ Process  who this process is, and who another one is
//	          ├─ SQLite   connections, statements, a lock on a whole file
//	          └─ Clock    scope.Clock
//
// A Platform value stands for one machine as one process sees it. [OS] is the
// real one; tests make others from parts. Its address is its identity, and two
// values share nothing.
//
// # Who is that process?
//
// An [Identity] is host, boot, pid and start time, and on Linux the PID and time
// namespaces in which the last two mean something. [Judge] compares a recorded
// holder with it:
//
//	                    ┌ other host ───────────────────────────► unknown
//	recorded holder ────┼ same host, other boot ────────────────► dead
//	                    └ same boot ─┬ other namespace ──────────► unknown
//	                                 ├ look failed ──────────────► unknown
//	                                 ├ no such pid ──────────────► dead
//	                                 ├ another start time ───────► dead
//	                                 └ the same ─────────────────► alive
//
// "No such pid" needs proof: the kernel answers ESRCH, or shows a zombie without
// another thread. A permission denied, a hidden /proc, a malformed line are
// failures of the look, never a death.
//
// # Failures
//
// Every port fails with *[Failure] and nothing else; its Reason is from a closed
// set, its message names the path or pid, the reason and the way out. Nothing
// panics, but for a nil port of a hand-made Platform. Nothing waits: a lock that
// is held is a failure with [ReasonBusy] at once.
//
// # What it does not promise
//
//   - An identity is as good as the host name and boot id: two machines that
//     share both (clones resumed from one memory image) look like one, and two
//     containers of one host name that are each shown a boot id of their own
//     (systemd-nspawn does that) take each other's processes for dead. Give such
//     containers host names of their own, as they have unless told otherwise.
//   - A file system that is asked about is the one under the directory now; a
//     mount that comes later is not noticed.
//   - WriteAtomic is as durable as the disk's answer to a sync.
//   - On Windows directories are not synced, files have no identity to compare,
//     and processes have none at all.
//   - A process that is killed between writing a temporary file and renaming it
//     leaves ".tether-*.tmp" behind; it may be removed at any time.
package platform
