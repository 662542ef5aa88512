package proptest

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// Repository is the conformance suite of lease.Repository: whatever passes it
// keeps leases as the ones of package lease do.
//
// store makes an empty place, fresh each time it is called, and gives the way to
// open it: each call of open is a repository on that place as another process
// would have it. (A repository in memory is one value, and open gives that.) What
// is an io.Closer is closed by the suite; anything else goes into t.Cleanup.
//
//	proptest.Repository(t, func(t proptest.TB) func() lease.Repository {
//		dir := newDirectory(t)
//		return func() lease.Repository { return Open(dir) }
//	})
//
// The parts are named after the rules of the contract: R1 is Load, Save and
// Fence, R2 the failures. Parts that look for schedules do so on the
// deterministic runtime; what blocks there must be an effect (Blocking,
// TryPromise), or the run stops. -rapid.checks sets how many cases are tried.
//
// The suite runs in one process. That a fence is freed when its process dies, and
// that a write survives a power cut, it cannot show; see World for simulated
// processes and disks.
func Repository(t TB, store func(t TB) (open func() lease.Repository)) {
	t.Helper()
	part := func(name string, body func(s *repositorySuite)) {
		section(t, name, func(t TB) { body(&repositorySuite{TB: t, store: store}) })
	}
	part("R1 calls one after another", (*repositorySuite).sequence)
	part("R1 every key is one's own", (*repositorySuite).keys)
	part("R1 what was saved is there after reopening", (*repositorySuite).reopening)
	part("R1 Save is atomic in every schedule", (*repositorySuite).schedules)
	part("R1 Save is atomic on goroutines", (*repositorySuite).goroutines)
	part("R1 interruption at every step", (*repositorySuite).interruption)
	part("R1 Fence excludes", (*repositorySuite).exclusion)
	part("R1 Fence is of one key", (*repositorySuite).otherKeys)
	part("R1 SaveAll is Save of each", (*repositorySuite).batches)
	part("R1 releases are told of", (*repositorySuite).news)
	part("L2 L3 managers", (*repositorySuite).managers)
}

// repositorySuite is one part's run.
type repositorySuite struct {
	TB
	store func(TB) func() lease.Repository
}

// place is a fresh empty place.
func (s *repositorySuite) place() (open func() lease.Repository) {
	return s.store(s.TB)
}

// closeRepository closes what can be closed.
func closeRepository(r lease.Repository) error {
	if c, ok := r.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// opened opens the place and closes the repository with the test.
func (s *repositorySuite) opened(open func() lease.Repository) lease.Repository {
	r := open()
	s.Cleanup(func() { _ = closeRepository(r) })
	return r
}

// perform runs body on the parallel runtime. An error is a violation.
func (s *repositorySuite) perform(body func(do *effect.Do)) {
	s.Helper()
	if err := perform(body); err != nil {
		s.Fatalf("%v", err)
	}
}

// callLimit bounds a run on the parallel runtime, in real time.
const callLimit = time.Minute

func perform(body func(do *effect.Do)) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), callLimit, errors.New("no answer within a minute"))
	defer cancel()
	_, err := effect.Run(ctx, effect.Scoped(effect.GenUnit(body)))
	return err
}

// simulate runs body on the deterministic runtime. The error says what went
// wrong, or who waits for ever.
func simulate(o effect.DeterministicConfig, body func(do *effect.Do)) error {
	if o.MaxSteps == 0 {
		o.MaxSteps = 1_000_000
	}
	out := effect.RunDeterministic(effect.Scoped(effect.GenUnit(body)), o)
	exit, ended := out.Exit.Get()
	switch {
	case !ended:
		return violated("it does not end\n%v", out.Report)
	case len(out.Unheard) > 0:
		return violated("a fiber died: %v", out.Unheard[0].Cause)
	}
	return exit.Err()
}

// simulate is the same for a part, in the effect order.
func (s *repositorySuite) simulate(body func(do *effect.Do)) {
	s.Helper()
	if err := simulate(effect.DeterministicConfig{}, body); err != nil {
		s.Fatalf("%v", err)
	}
}

// violation is what an effect fails with when it saw a rule broken. Its text is
// the report.
type violation string

func (v violation) Error() string { return string(v) }

func violated(format string, args ...any) error { return violation(fmt.Sprintf(format, args...)) }

// failureOf runs e and gives what it failed with, or nil.
func failureOf[A any](do *effect.Do, e effect.Effect[A]) error {
	return do.Await(effect.Exit(e)).Err()
}

// mustEnd fails with a violation when e fails.
func mustEnd[A any](do *effect.Do, what string, e effect.Effect[A]) A {
	v, err := do.Await(effect.Exit(e)).Get()
	if err != nil {
		do.Fail(violated("%s failed: %v", what, err))
	}
	return v
}

// testHolder is who holds the records of the suite.
var testHolder = lease.Holder{
	Identity: platform.Identity{Host: "proptest", BootID: "boot", PID: 7, StartTime: 1 << 52},
	TTL:      time.Minute,
}

// heldRecord is a record that somebody holds.
func heldRecord(key string, generation, revision int64, id string) lease.Record {
	return lease.Record{
		Key: key, Generation: generation, Revision: revision,
		Holder: mo.Some(testHolder), HolderID: mo.Some(id), RenewedAt: 1_700_000_000_000,
	}
}

// tombstone is what a release leaves of r.
func tombstone(r lease.Record) lease.Record {
	r.Revision++
	r.Holder, r.HolderID = mo.None[lease.Holder](), mo.None[string]()
	return r
}

func revisionOf(stored mo.Option[lease.Record]) mo.Option[int64] {
	if r, ok := stored.Get(); ok {
		return mo.Some(r.Revision)
	}
	return mo.None[int64]()
}

// show is a record for people.
func show(stored mo.Option[lease.Record]) string {
	r, ok := stored.Get()
	if !ok {
		return "no record"
	}
	who := "a tombstone"
	if id, held := r.HolderID.Get(); held {
		who = "held as " + id
	}
	return fmt.Sprintf("generation %d, revision %d, %s", r.Generation, r.Revision, who)
}

func showRevision(r mo.Option[int64]) string {
	if v, ok := r.Get(); ok {
		return fmt.Sprint(v)
	}
	return "none"
}

// checkFailure holds a failure of a call against R2.
func checkFailure(key string, err error) error {
	var named string
	switch e := err.(type) {
	case *lease.RepositoryFailure:
		switch e.Reason {
		case lease.RepositoryBusy, lease.RepositoryIO, lease.RepositoryInvalidRecord,
			lease.RepositoryUnsupportedSchema, lease.RepositoryUnavailable:
		default:
			return violated("R2: a RepositoryFailure has the reason %q, which no manager knows", e.Reason)
		}
		named = e.Key
	case *lease.RevisionConflict:
		named = e.Key
	default:
		return violated("R2: a call failed with %T (%v); a Repository fails with *lease.RepositoryFailure or *lease.RevisionConflict", err, err)
	}
	if named != key {
		return violated("R2: a failure about %q names %q", key, named)
	}
	return nil
}

// checkSaved holds what a Save said against what was stored.
func checkSaved(key string, stored mo.Option[lease.Record], expected mo.Option[int64], err error) error {
	at := revisionOf(stored)
	if err == nil {
		if at != expected {
			return violated("R1: a Save over revision %s succeeded, and revision %s was stored", showRevision(expected), showRevision(at))
		}
		return nil
	}
	if bad := checkFailure(key, err); bad != nil {
		return bad
	}
	conflict, ok := errors.AsType[*lease.RevisionConflict](err)
	switch {
	case ok && conflict.StoredRevision.IsAbsent() && stored.OrEmpty().IsTombstone() && stored.IsPresent():
		return violated("R1, L2: a tombstone was saved, and Save finds no record: the next generation would start over")
	case !ok:
		return violated("R1: a Save that nobody was in the way of failed: %v", err)
	case at == expected:
		return violated("R1: a Save over revision %s, which was stored, failed: %v", showRevision(expected), err)
	case conflict.ExpectedRevision != expected || conflict.StoredRevision != at:
		return violated("R1: a conflict says that %s was expected and %s is stored; it was %s and %s",
			showRevision(conflict.ExpectedRevision), showRevision(conflict.StoredRevision), showRevision(expected), showRevision(at))
	}
	return nil
}

// checkLoaded holds what a Load gave against what is stored.
func checkLoaded(stored, got mo.Option[lease.Record]) error {
	if stored == got {
		return nil
	}
	if r, ok := stored.Get(); ok && r.IsTombstone() && got.IsAbsent() {
		return violated("R1, L2: a tombstone (%s) was saved, and Load finds no record: the next generation would start over", show(stored))
	}
	return violated("R1: Load gives %s; stored is %s", show(got), show(stored))
}

// deterministicSchedules are the options for a schedule that rapid draws.
func deterministicSchedules(choose scope.Chooser) effect.DeterministicConfig {
	return effect.DeterministicConfig{Order: scope.ExploreOrder, Choose: choose, Preempt: true}
}
