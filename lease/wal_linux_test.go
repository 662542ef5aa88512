package lease_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/samber/mo"
)

func removeLog(t *testing.T, dir string, suffixes ...string) {
	t.Helper()
	for _, suffix := range suffixes {
		if err := os.Remove(filepath.Join(dir, "leases.db"+suffix)); err != nil {
			t.Fatal(err)
		}
	}
}

// lostAtNextRenewal hears the loss of the holder's lease, which the first renewal that
// begins after that time must bring.
func lostAtNextRenewal(t *testing.T, holder *peer, after int64) (reason lease.LostReason) {
	t.Helper()
	for renewals := 0; ; {
		r := holder.Hear()
		if r.Do == "lost" {
			return lease.LostReason(r.Reason)
		}
		if r.Phase == "renew" && r.At > after {
			renewals++
		}
		if renewals > 1 {
			t.Fatal("it renews on")
		}
	}
}

// F44: the write-ahead log and its index are removed during a hold. A second process
// then sees nothing of what is in them, and gets the same token; the first one's next
// renewal finds out.
func TestF44_LogRemovedDuringAHold(t *testing.T) {
	dir := t.TempDir()
	s := quick("sqlite", dir)
	s.TTL, s.Heartbeat = time.Hour, 300*time.Millisecond
	second := spawn(t, s)
	s.Phases = true
	first := spawn(t, s)
	token := first.must(command{Do: "acquire"}).Generation
	first.Tell(command{Do: "lost"})
	second.Do(command{Do: "acquire"})
	removeLog(t, dir, "-wal", "-shm")
	again := second.must(command{Do: "acquire"})
	if again.Generation != token {
		t.Errorf("generations %d and %d: this is not the case that it is to be", token, again.Generation)
	}
	expect(t, "reason", lostAtNextRenewal(t, first, again.At), lease.LostTakenOver)
	// The first closes what it has open, and undoes nothing by that.
	first.must(command{Do: "release"})
	if r := load(t, opened(t, "sqlite", dir)); r.Holder.OrEmpty().PID != second.PID() {
		t.Errorf("the record of pid %d is now %+v", second.PID(), r)
	}
}

// F44: with the log alone removed, others cannot read the database until the holder,
// whose next renewal finds out, has closed it.
func TestF44_LogWithoutItsIndexRemovedDuringAHold(t *testing.T) {
	dir := t.TempDir()
	s := quick("sqlite", dir)
	s.TTL, s.Heartbeat, s.Phases = time.Hour, 300*time.Millisecond, true
	first := spawn(t, s)
	first.must(command{Do: "acquire"})
	first.Tell(command{Do: "lost"})
	removeLog(t, dir, "-wal")
	expect(t, "reason", lostAtNextRenewal(t, first, monotonic()), lease.LostMissing)
	s.Phases = false
	spawn(t, s).must(command{Do: "acquire"})
}

// F44: without its index alone the log is read anew by others, and nothing is lost: the
// first goes on as their peer.
func TestF44_IndexOfTheLogRemovedDuringAHold(t *testing.T) {
	dir := t.TempDir()
	s := quick("sqlite", dir)
	s.TTL, s.Heartbeat, s.Phases = time.Hour, 100*time.Millisecond, true
	first := spawn(t, s)
	s.Phases = false
	second := spawn(t, s)
	token := first.must(command{Do: "acquire"}).Generation
	removeLog(t, dir, "-shm")
	if r := second.Do(command{Do: "acquire"}); r.Tag != "LeaseHeld" || r.HolderPID != first.PID() {
		t.Fatalf("%+v", r)
	}
	before := load(t, opened(t, "sqlite", dir)).Revision
	first.until("renewed")
	first.until("renewed")
	if r := load(t, opened(t, "sqlite", dir)); r.Revision <= before || r.Generation != token {
		t.Errorf("revision %d, then %+v", before, r)
	}
	first.must(command{Do: "release"})
	if r := second.must(command{Do: "acquire"}); r.Generation != token+1 {
		t.Errorf("%+v", r)
	}
}

// F44: who has a log open that was removed must not write what is in it into the
// database when it closes: others went on from what was there.
func TestF44_RemovedLogIsNotWrittenBack(t *testing.T) {
	dir := t.TempDir()
	s := quick("sqlite", dir)
	s.TTL, s.Heartbeat = time.Hour, 30*time.Minute
	first := spawn(t, s)
	first.must(command{Do: "acquire"})
	removeLog(t, dir, "-wal", "-shm")
	others := stores["sqlite"](dir).(*lease.SQLite)
	perform(t, func(do *effect.Do) {
		do.Await(others.Save(key, record(1, 1, holderOf(9), "x"), mo.None[int64]()))
		for generation := int64(2); generation <= 5; generation++ {
			do.Await(others.Save(key, record(generation, generation, holderOf(9), "x"), mo.Some(generation-1)))
		}
	})
	if err := others.Close(); err != nil {
		t.Fatal(err)
	}
	first.must(command{Do: "release"})
	if r := load(t, opened(t, "sqlite", dir)); r.Generation != 5 {
		t.Errorf("it is %+v now", r)
	}
}
