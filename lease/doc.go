// Package lease gives one holder at a time the right to a key, across processes
// that share a SQLite file, a directory or a memory, and fences what it does.
//
// In plain Go, with contexts and errors:
//
//	repository := lease.NewSQLiteRepository(platform.OS(), "leases.db")
//	leases, err := lease.NewManager(platform.OS(), repository, lease.Config{TTL: time.Minute, Heartbeat: 15 * time.Second})
//	...
//	err = leases.Hold(ctx, "task:42", func(ctx context.Context, token lease.FencingToken) error {
//		return save(ctx, token) // ctx ends, with *lease.Lost as its cause, when the lease is lost
//	})
//
// [Manager.Take] is for work that is no one function, [Manager.Lookup] only looks. As
// effects, which compose and can be interrupted:
//
//	leases := do.Await(lease.MakeManager(lease.Config{TTL: time.Minute, Heartbeat: 15 * time.Second}))
//	l := do.Await(leases.Acquire("task:42"))
//	do.Await(l.RunFenced(save)) // func(lease.FencingToken) effect.Effect[effect.Unit]
//	do.Await(work.StopOn(l.Lost()))
//
// # The record
//
// A key has one record, for ever. Every acquisition raises its generation, every
// write its revision, and a write replaces exactly the revision that its writer
// read.
//
//	          acquire: generation+1                  release
//	(none) ──────────────────────────► held ──────────────────────► tombstone
//	                                  │    ▲ ▲                          │
//	                                  └────┘ └──────────────────────────┘
//	              renew, or a takeover: generation+1      acquire: generation+1
//
// A holder is taken over at once when its process is proved dead, and else when
// the record did not change for a TTL by the observer's own monotonic clock. No
// two clocks are compared, and wall time decides nothing.
//
// # The handle
//
//	acquired ──► trusted ──► lost(expired | taken-over | released | missing)
//	               │ ▲              │
//	               └─┘ renewed      └── closing the scope still frees what is ours
//
// The holder trusts its lease for a TTL from the start of the last attempt that
// was confirmed, and a timer of its own ends that trust even while the
// repository hangs. Work in [Lease.RunFenced] holds the key's fence until it has
// ended, finalizers included: a successor's work starts after that, however slow
// the old one is to stop.
//
// # Failures
//
// The failures are [Held], [Lost], [ConfigInvalid], [RepositoryFailure],
// [RevisionConflict] and [FenceRejected]; see [Failure]. A write whose outcome is
// unknown is never taken for one that failed: it is read back. Nor is it taken for
// one that is durable: an acquisition that arrived so writes once more.
//
// The plain methods keep every rule of the effects that they are shells of. They fail
// with the same failures, in a context's end with an error of it, and refuse with an
// error what would wait for itself.
//
// # What it does not promise
//
//   - A process that is stopped inside a transaction keeps everybody else busy
//     until it resumes.
//   - A resource that does not check the token ([CheckFence]) can still be
//     written by work that left its fence behind: a goroutine of TryPromise, an
//     untracked child process. Use Blocking under a fence.
//   - The fence of a database that was deleted and made anew starts over.
package lease
