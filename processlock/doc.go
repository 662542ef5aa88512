// Package processlock lets one process at a time do something: run as the
// daemon of a directory, migrate a database, hold the fence of a lease.
//
//	lock, err := processlock.Acquire(ctx, platform.OS(), "/var/run/my-daemon/daemon.lock").Get()
//	if held, ok := errors.AsType[*processlock.Held](err); ok {
//		log.Fatalf("already running: %v", held)
//	}
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer lock.Release()
//
// [AcquireScoped] is the same as an effect, released with the scope at hand;
// [Begin] is for those who have another way of waiting.
//
// # Two mechanisms
//
// SQLite (the default): the path is a SQLite database, empty for ever, that is
// held with locking_mode=EXCLUSIVE inside BEGIN EXCLUSIVE. The kernel frees it
// the moment the process ends, however it ends; nothing is ever reclaimed, so
// nobody's death is ever guessed. PATH.holder names the holder, for reports only.
// The sqlite3 shell and the TypeScript package exclude each other with it.
//
// A lock file ([WithoutSQLite]): the path is a file with the holder's stamp,
// which appears in one step, by a hard link. A holder whose death is proven (rule H1: see
// platform.Judge) is reclaimed by the next attempt; one that cannot be judged, on
// another host or in another PID namespace, stays until the file is removed by
// hand. An empty file, or one with the beginning of a stamp, counts as held for 30 s
// after its mtime, or as this process sees it, then as dead: the TypeScript package
// creates the file first and stamps it second. Anything else is a *Failure and stays
// as it is.
//
// All who use one path must use the same mechanism.
//
// # States
//
//	          Begin                 the turn comes             Try
//	(nothing) ─────► in line ──────────────────► attempting ──────────► held ──► released
//	    │              │ Cancel, context ends       │  ▲  │ holder, without    Release, or
//	    │              ▼                            │  │  │ Wait: *Held        the process ends
//	    │            gone ◄─────────────────────────┘  │  ▼
//	    │                   Cancel, *Failure           │ pause
//	    └─ *Held, *Failure                             └──┘
//
// Inside one process those who want one lock stand in a line, first come, first
// served; its head alone meets other processes. A line is one per platform value,
// resolved directory and file name. Two hard links, or a file system that folds
// case, are two lines for one file: they exclude each other in SQLite, as two
// processes do, without an order.
//
// When processes start at the same moment their attempts collide without anybody
// holding. So a loser probes with a shared lock: refused too, it reports a holder;
// else it tries again, after a random pause, up to a second.
//
// # Failure rules
//
// What stops an acquisition is *[Held], *[Failure] or the context's cause, and
// nothing is held then. To hold is to have the one lock that excludes every other:
// a process that may only read the database (another user's, an immutable one, a
// read-only mount) gets a *Failure, whether or not somebody holds it. A bad path
// (no directory, a directory or FIFO or link at the path, no permission, a
// read-only or full disk, no descriptor left, a file that is no database) is a
// *Failure that says so, and what is there stays untouched. A holder file that
// cannot be written fails the acquisition, too.
//
// # What it does not promise
//
//   - A kernel lock of SQLite on unix is a POSIX record lock: it is dropped
//     when ANY descriptor of that file is closed in the holder's process. Never
//     open the lock's file yourself, not even to look at it or to back it up. This
//     package never does, and nothing short of another process can notice it
//     (Verify cannot). Hard links and bind mounts are the same file.
//   - Whoever removes or replaces the file lets another process take the lock by
//     the same path. The old holder finds out with [Lock.Verify], and its Release
//     leaves the successor's files alone.
//   - A process that is stopped (SIGSTOP) keeps what it holds. One that is stopped
//     inside an attempt or a check can make others see contention.
//   - No order among processes, and no fairness: a process that takes and gives
//     back in a loop may keep others waiting.
//   - Network file systems are refused; [AllowNetworkStorage] is at your own risk.
//   - A lock file's holder is judged by pid and start time; stamps of a machine
//     whose host name and boot id equal this one's are taken for this one's.
//   - A program that creates its lock file first and stamps it second, and is
//     stopped for 30 s in between, is taken for dead. It finds another's nonce when
//     it reads back; if it does not read back, the other finds out by Verify.
//   - A process killed in the middle of an attempt may leave ".tether-*.tmp" behind,
//     which may be removed at any time.
//   - On Windows there is no identity: a SQLite lock has no recorded holder, and a lock
//     file is a *Failure.
package processlock
