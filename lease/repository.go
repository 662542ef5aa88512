package lease

import (
	"github.com/rivus/tether/effect"
	"github.com/samber/mo"
)

// Repository is where records are kept, and where the fences are. One value is
// used by any number of managers and fibers at the same time. Its effects fail
// with *RepositoryFailure, and Save also with *RevisionConflict; they may be
// interrupted at any point, after which the repository goes on working.
//
// Implement it for other stores; the conformance suite in proptest tells whether
// an implementation keeps the rules.
type Repository interface {
	// Load gives the key's record, or none. It changes nothing.
	Load(key string) effect.Effect[mo.Option[Record]]

	// Save replaces the record of revision expected (none: there is no record) by
	// next, in one step that is atomic across every process that uses the same
	// place, and survives a power cut when it raises the generation, or writes again
	// what a Save that failed has raised. Another revision is *RevisionConflict, and
	// nothing is written. After any other failure, and after an interruption, it may
	// have been written, and be read by all and yet not be durable.
	//
	// A next with a holder and the generation of the record that it replaces is of the
	// same acquisition. A repository whose store may be set back, so that revisions
	// come again, does well to refuse others as *RevisionConflict.
	Save(key string, next Record, expected mo.Option[int64]) effect.Effect[effect.Unit]

	// Fence waits for the key's fence and holds it until the scope at hand
	// closes. It has one holder at a time across processes; the wait can be
	// interrupted; when its holder's process dies it is free. Other keys are not
	// affected.
	Fence(key string) effect.Effect[effect.Unit]
}

// Write is one Save of a batch.
type Write struct {
	Next     Record
	Expected mo.Option[int64] // none: there is no record
}

// BatchSaver is an optional port of a Repository, which makes it cheap to hold many
// leases: a manager renews those that are due together in one call.
type BatchSaver interface {
	// SaveAll is Save of each of the writes, whose keys differ, in as few steps as
	// the store can. It gives one error for each: nil when it was written, or what
	// its Save would have failed with. When it fails as a whole, or is interrupted,
	// any of them may have been written.
	SaveAll(writes []Write) effect.Effect[[]error]
}

// ReleaseWatcher is an optional port of a Repository: news of releases, so that
// waiters need not wait for their next poll. It is a hint: news may be missing or
// too many.
type ReleaseWatcher interface {
	// WatchReleases calls changed each time a tombstone may have been written
	// over key's record, until the scope at hand closes. changed is quick, may be
	// called wherever fibers may be woken, and holds no lock.
	WatchReleases(key string, changed func()) effect.Effect[effect.Unit]
}

// RepositoryService is the key under which a manager finds its repository.
var RepositoryService = effect.NewService[Repository]("lease.Repository").
	ProvidedBy("lease.SQLiteRepository(path), lease.FileRepository(dir) or lease.MemoryRepository()")
