package docs_test

// A case is a failure that people met with another lock, lease, queue or effect
// library, and what trying it on this one brought to light.
type fieldCase struct{ what, found string }

const nothing = "nothing"

// fieldCases are F1 to F38.
var fieldCases = []fieldCase{
	{"eight processes at a barrier, the holder killed: one wins, no generation repeats", nothing},
	{"a contender is stopped between its judgement and its write; others come and go; then it resumes", "a load in the test met `busy`: SQLite's half second can pass on a loaded machine, so callers wait"},
	{"a release that is tried again after a successor came", nothing},
	{"the scope closes while a renewal is in flight", "the lease that renewed for others in one batch cost them a heartbeat when it closed: they are hastened now"},
	{"a renewal lands after the tombstone", nothing},
	{"work that ignores its interruption writes after a successor came", "work that never waits (a loop of steps or of yields) was not interrupted on the parallel runtime: a starter no longer waits for more than 2,048 steps"},
	{"every call of the repository hangs", "an acquisition whose own write hung could not be interrupted: it returns now, and what lands later is released"},
	{"one renewal fails; all fail for a TTL", nothing},
	{"a renewal takes nine tenths of a TTL", "a renewal that was confirmed after the trust had ended brought the lease back"},
	{"the heartbeat starves past the TTL", "the virtual clock fired overdue timers one by one, each at its own time, which no stopped process sees: it can jump now"},
	{"the wall clock jumps", nothing},
	{"a stamp dated in the future", nothing},
	{"a contender in another PID namespace", nothing},
	{"two managers of one process", nothing},
	{"the look at the holder is hindered", nothing},
	{"a zombie", nothing},
	{"numbers at their limits", nothing},
	{"records, stamps and databases that are none", "SQLite took a file shorter than a page for an empty database, and would have written over it; a key's very first record, read in two statements while it was written, was said to be invalid; a file at `PATH.holder` that is no stamp was replaced: it is refused"},
	{"a foreign close of the lock database", "a lock could be taken at the path of another lock's holder file, which is opened to be read: such names are refused"},
	{"twelve processes compare and swap one key", "under load `busy` can come after half a second: the time that was promised, and callers must expect it"},
	{"cancelled at every single step", "a value of `AcquireRelease` that ran twice kept the first run's interruptibility; the drained waiters of a semaphore were unlinked outside its lock"},
	{"the file is replaced while it is held", "fenced work began on a database that had been removed a moment before: the look under the fence looks at the file, too"},
	{"links, and directories that become links", "`link/..` was taken for the folder before the link; a relative path led elsewhere after a chdir, so that records and fences parted"},
	{"read-only, full, no permission, no descriptors, long paths", "SQLite reports the answer of its second try, for reading, when it cannot create a file; a lock file whose stamp could not be read back stayed; one that could not be removed for want of a descriptor stayed, and can be released again now"},
	{"a finalizer panics or calls Goexit", "a parallel finalizer's defect was logged as unheard, though the close's cause has it"},
	{"interrupted at every operation", nothing},
	{"acquire interrupts itself, or is interrupted before its release is registered", "see F21"},
	{"racers that end at the same moment", nothing},
	{"interrupted around a park", "an interruption that a child's end brings about, while its parent ends, was not noticed"},
	{"many waiters, some interrupted", "`Take(0)` of a semaphore in debt was not woken when the debt was paid"},
	{"an entry replaced while the old one ends", nothing},
	{"a panic on a fiber that nobody joins", nothing},
	{"nothing is left after ten thousand forks, races, timeouts and interrupts", nothing},
	{"producers, ends and a close at random", nothing},
	{"a wake while the activation is returning", nothing},
	{"10^6 keys", nothing},
	{"activations that panic, exit, block or are nil", "an observer or a logger that panicked could keep the slot"},
	{"OnExit wakes, cancels, waits for itself", "of two children that cancelled their own key the later could be refused, while a child of an uninterruptible child was not refused and hung"},
}
