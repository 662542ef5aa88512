package lease_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/samber/mo"
)

// opened is the store as this process sees it.
func opened(t *testing.T, store, dir string) lease.Repository {
	t.Helper()
	r := stores[store](dir)
	if c, ok := r.(*lease.SQLite); ok {
		t.Cleanup(func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return r
}

func load(t *testing.T, r lease.Repository) (stored lease.Record) {
	t.Helper()
	perform(t, func(do *effect.Do) { stored = do.Await(r.Load(key)).OrEmpty() })
	return stored
}

// L18, F1, F16: of eight that try when the holder was killed exactly one gets the
// lease, at the next generation and at once, and the others see who it is. The
// holder is a zombie meanwhile.
func TestL18_F1_F16_ExactlyOneTakesOver(t *testing.T) {
	onStores(t, func(t *testing.T, store, dir string) {
		s := quick(store, dir)
		s.TTL, s.Heartbeat = time.Hour, time.Minute
		var contenders []*peer
		for range 8 {
			contenders = append(contenders, spawn(t, s))
		}
		for round := range rounds(17, 2) {
			victim := spawn(t, s)
			before := victim.must(command{Do: "acquire", Wait: true}).Generation
			victim.Signal(syscall.SIGKILL)
			victim.AwaitZombie()
			for _, c := range contenders {
				c.Tell(command{Do: "acquire"})
			}
			var winner *peer
			var losers []reply
			for _, c := range contenders {
				switch r := c.reply(); {
				case r.OK && winner != nil:
					t.Fatal("two winners")
				case r.OK:
					winner = c
					if r.Generation != before+1 {
						t.Fatalf("generation %d after %d", r.Generation, before)
					}
				default:
					losers = append(losers, r)
				}
			}
			if winner == nil {
				t.Fatalf("round %d: nobody won: %+v", round, losers)
			}
			for _, r := range losers {
				if r.Tag != "LeaseHeld" || r.HolderPID != winner.PID() || r.Generation != before+1 {
					t.Fatalf("round %d: %+v; the winner is %d", round, r, winner.PID())
				}
			}
			winner.must(command{Do: "release"})
		}
	})
}

// L19: a stopped holder is taken over after the TTL and not before. When it resumes
// its fenced work is interrupted, and ends before the successor's begins.
func TestL19_StoppedHolder(t *testing.T) {
	onStores(t, func(t *testing.T, store, dir string) {
		s := quick(store, dir)
		s.TTL, s.Heartbeat, s.Log = 400*time.Millisecond, 100*time.Millisecond, filepath.Join(t.TempDir(), "log")
		s.Serial = 1
		holder := spawn(t, s)
		s.Serial, s.Phases = 2, true
		next := spawn(t, s)
		first := holder.must(command{Do: "acquire", Wait: true}).Generation
		holder.Tell(command{Do: "fenced"})
		holder.Hear() // began
		// Not under the guard of a renewal, where it would keep everybody busy.
		holder.Tell(command{Do: "stop", Phase: "renewed"})
		holder.AwaitStopped()
		stopped := monotonic()
		r := next.must(command{Do: "acquire", Wait: true})
		if r.Generation != first+1 {
			t.Fatalf("%+v", r)
		}
		// The last renewal came before the stop, and the count from when it was seen.
		if after := time.Duration(r.At - stopped); after < s.TTL-s.Heartbeat {
			t.Errorf("taken over after %v", after)
		}
		next.Tell(command{Do: "fenced"})
		next.until("fence") // it waits for it
		if log, err := os.ReadFile(s.Log); err != nil || strings.Contains(string(log), "begin 2") {
			t.Fatalf("both work: %s, %v", log, err)
		}
		holder.Resume()
		ended := holder.reply()
		if ended.Do != "ended" || ended.Tag != "LeaseLost" {
			t.Fatalf("%+v", ended)
		}
		if r := next.reply(); r.Do != "began" {
			t.Fatalf("%+v", r)
		}
		// Its release finds that it has nothing to release.
		holder.must(command{Do: "release"})
		if r := load(t, opened(t, store, dir)); r.Generation != first+1 || r.IsTombstone() {
			t.Fatalf("%+v", r)
		}
		next.Kill()
		checkLog(t, s.Log, map[int]bool{2: true})
	})
}

// F2: a contender that is stopped between its look and its write, for as long as two
// others hold the lease, loses its race and touches nothing.
func TestL7_F2_StoppedInMidAcquire(t *testing.T) {
	onStores(t, func(t *testing.T, store, dir string) {
		s := quick(store, dir)
		s.TTL, s.Heartbeat = time.Hour, time.Minute
		dead := spawn(t, s)
		first := dead.must(command{Do: "acquire", Wait: true}).Generation
		dead.Kill()
		s.StopAt = "acquire"
		slow := spawn(t, s)
		slow.Tell(command{Do: "acquire"})
		slow.AwaitStopped() // it has judged the holder dead
		s.StopAt = ""
		second, third := spawn(t, s), spawn(t, s)
		second.must(command{Do: "acquire", Wait: true})
		second.must(command{Do: "release"})
		if r := third.must(command{Do: "acquire", Wait: true}); r.Generation != first+2 {
			t.Fatalf("%+v", r)
		}
		r := opened(t, store, dir)
		before := load(t, r)
		slow.Resume()
		if a := slow.reply(); a.Tag != "LeaseHeld" || a.HolderPID != third.PID() {
			t.Fatalf("%+v", a)
		}
		expect(t, "record", load(t, r), before)
		third.must(command{Do: "release"})
	})
}

// H1: the holder's pid runs, but it is another process now: it started at another
// time.
func TestH1_PIDReuse(t *testing.T) {
	onStores(t, func(t *testing.T, store, dir string) {
		s := quick(store, dir)
		s.TTL, s.Heartbeat = time.Hour, time.Minute
		runs := spawn(t, s)
		runs.must(command{Do: "acquire", Wait: true})
		r := opened(t, store, dir)
		w := newWorld(r)
		real := load(t, r)
		perform(t, func(do *effect.Do) {
			m, err := lease.NewManager(platformOS(), w.repo, lease.Config{TTL: time.Hour, Heartbeat: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			as[*lease.Held](failure(do, m.Acquire(key)))
			for _, earlier := range []int64{1, 1000} {
				stored := do.Await(r.Load(key)).OrEmpty()
				h := real.Holder.MustGet()
				h.StartTime -= earlier
				stored.Holder, stored.HolderID = mo.Some(h), mo.Some("x")
				stored.Generation++
				stored.Revision++
				do.Await(put(r, stored))
				l := do.Await(in(m.Acquire(key)))
				expect(t, "generation", l.Token().Generation, stored.Generation+1)
			}
		})
	})
}

// F13: in another PID namespace of this host and boot the holder's pid looks gone.
// Nobody there takes over before the TTL.
func TestH1_F13_OtherPIDNamespace(t *testing.T) {
	unshare := []string{"unshare", "--pid", "--fork", "--mount-proc", "--kill-child"}
	if out, err := exec.Command(unshare[0], append(unshare[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("no PID namespaces here: %v: %s", err, out)
	}
	onStores(t, func(t *testing.T, store, dir string) {
		s := quick(store, dir)
		holder := spawn(t, s)
		first := holder.must(command{Do: "acquire", Wait: true}).Generation
		s.TTL, s.Heartbeat = time.Hour, time.Minute
		inside := spawn(t, s, unshare...)
		for range 3 {
			if r := inside.Do(command{Do: "acquire"}); r.Tag != "LeaseHeld" || r.HolderPID != holder.PID() {
				t.Fatalf("%+v", r)
			}
		}
		// And the other way round.
		holder.must(command{Do: "release"})
		inside.must(command{Do: "acquire", Wait: true})
		s.Phases = false
		outside := spawn(t, s)
		if r := outside.Do(command{Do: "acquire"}); r.Tag != "LeaseHeld" || r.Generation != first+1 {
			t.Fatalf("%+v", r)
		}
	})
}

// L19: while a process is stopped inside a transaction, or under a guard, everybody
// else is busy; when it resumes and ends, they go on.
func TestL19_StoppedInsideATransaction(t *testing.T) {
	onStores(t, func(t *testing.T, store, dir string) {
		s := quick(store, dir)
		other, stopped := spawn(t, s), spawn(t, s)
		other.must(command{Do: "acquire", Wait: true})
		other.must(command{Do: "release"})
		if store == "sqlite" {
			stopped.must(command{Do: "transaction", Path: filepath.Join(dir, "leases.db")})
		} else {
			stopped.must(command{Do: "guard", Path: filepath.Join(dir, "task%3A42.lease.guard")})
		}
		stopped.Stop()
		began := monotonic()
		r := other.Do(command{Do: "acquire"})
		if r.Tag != "LeaseRepositoryFailure" || r.Reason != "busy" {
			t.Fatalf("%+v", r)
		}
		t.Logf("busy after %v", time.Duration(r.At-began))
		stopped.Resume()
		stopped.Kill()
		other.must(command{Do: "acquire", Wait: true})
	})
}

// R1: the fence of a killed process is free at once, while its lease is not yet.
func TestR1_FenceOfAKilledProcess(t *testing.T) {
	onStores(t, func(t *testing.T, store, dir string) {
		s := quick(store, dir)
		s.Log, s.Serial = filepath.Join(t.TempDir(), "log"), 1
		holder := spawn(t, s)
		holder.must(command{Do: "acquire", Wait: true})
		holder.Tell(command{Do: "fenced"})
		holder.Hear()
		r := opened(t, store, dir)
		perform(t, func(do *effect.Do) {
			// Its first try is over when it waits for the next.
			waiter := do.Await(effect.ForkChild(in(r.Fence(key)), effect.StartImmediately()))
			expect(t, "waits", waiting(waiter), true)
			holder.Kill()
			do.Await(waiter.Join())
		})
	})
}

// R1, F20: twelve processes compare and swap one record; only success and conflict
// come out of it, and the revision counts the successes.
func TestR1_F20_TwelveProcessesSwap(t *testing.T) {
	onStores(t, func(t *testing.T, store, dir string) {
		processes, repeat := rounds(12, 4), rounds(15, 5)
		var swappers []*peer
		for range processes {
			swappers = append(swappers, spawn(t, quick(store, dir)))
		}
		for _, p := range swappers {
			p.Tell(command{Do: "swap", Repeat: repeat})
		}
		won := int64(0)
		for _, p := range swappers {
			r := p.reply()
			if !r.OK {
				t.Fatalf("%+v", r)
			}
			won += r.Generation
		}
		expect(t, "revision", load(t, opened(t, store, dir)).Revision, won)
	})
}
