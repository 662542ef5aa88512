package proptest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/proptest"
)

// A test of a program is one line, func TestTransfer(t *testing.T) {
// proptest.Check(t, transfer) }. Here the program is right.
func ExampleCheck() {
	transfer := func() effect.Effect[effect.Unit] {
		balance, lock := 100, effect.NewSemaphore(1)
		withdraw := lock.WithPermits(1, effect.GenUnit(func(do *effect.Do) {
			before := balance
			do.Await(effect.YieldNow())
			balance = before - 30
		}))
		return effect.AllDiscard([]effect.Effect[effect.Unit]{withdraw, withdraw}, effect.Unbounded).
			AndThen(effect.Suspend(func() effect.Effect[effect.Unit] {
				if balance != 40 {
					return effect.Fail[effect.Unit](fmt.Errorf("the balance is %d", balance))
				}
				return effect.Void()
			}))
	}
	t := &recorder{name: "TestTransfer"} // stands in for a *testing.T
	proptest.Check(t, transfer)
	fmt.Println("failed:", t.Failed())
	// Output: failed: false
}

// A repository of one's own is tested by giving the suite a way to open it.
func ExampleRepository() {
	_ = func(t *testing.T) { // TestMyRepository
		proptest.Repository(t, func(t proptest.TB) (open func() lease.Repository) {
			dir := directory(t)
			return func() lease.Repository { return lease.NewFileRepository(platform.OS(), dir) }
		})
	}
	t := &recorder{name: "TestMemory"}
	proptest.Repository(t, func(proptest.TB) func() lease.Repository {
		r := lease.NewMemoryRepository()
		return func() lease.Repository { return r }
	})
	fmt.Println("failed:", t.Failed())
	// Output: failed: false
}

// Two processes of one machine want one lease; the holder is killed.
func ExampleWorld() {
	w := proptest.SeededWorld(1)
	defer w.Close()
	store := proptest.NewStore(w)
	hold := func(p *proptest.Process) effect.Effect[effect.Unit] {
		return effect.Scoped(effect.GenUnit(func(do *effect.Do) {
			leases := do.Await(lease.MakeManager(lease.Config{TTL: time.Minute, Heartbeat: 15 * time.Second}))
			l := do.Await(leases.Acquire("task:42", lease.Wait()))
			fmt.Printf("%v: %v holds %v\n", w.Now(), p, l.Token())
			do.Await(effect.Sleep(time.Hour))
		})).ProvideService(lease.RepositoryService, store.For(p)).ProvideService(platform.Service, p.Platform())
	}
	first := w.Start("first", hold)
	w.Settle()
	w.Start("second", hold)
	w.Advance(5 * time.Minute)
	first.Kill()
	w.Advance(time.Minute)
	// Output:
	// 0s: first(1) holds task:42#1
	// 5m1s: second(2) holds task:42#2
}

// The trace of a World is the same for the same seed.
func TestWorldReplaysASeed(t *testing.T) {
	trace := func(seed uint64) string {
		w := proptest.SeededWorld(seed)
		defer w.Close()
		store := proptest.NewStore(w)
		store.SetWeather(proptest.Weather{Fail: 10, Lose: 10, Late: 20, Hang: 5})
		program := func(p *proptest.Process) effect.Effect[effect.Unit] {
			ids := 0
			return effect.Scoped(effect.GenUnit(func(do *effect.Do) {
				leases := do.Await(lease.MakeManager(lease.Config{
					TTL: time.Minute, Heartbeat: 15 * time.Second, Observer: func(e lease.Event) { w.Log("%v: %T%+v", p, e, e) },
				}))
				for {
					do.Await(effect.Scoped(leases.Acquire("key", lease.Wait()).AndThen(effect.Sleep(20 * time.Second))).Ignore())
				}
			})).ProvideService(lease.RepositoryService, store.For(p)).ProvideService(platform.Service, p.Platform()).
				ProvideService(lease.HolderIDs, func() string { ids++; return fmt.Sprintf("%v@%d/%d", p, p.Identity().StartTime, ids) })
		}
		for i := range 3 {
			w.Start(fmt.Sprint("p", i), program)
		}
		for range 20 {
			w.Advance(time.Duration(w.Choose(60)) * time.Second)
			if list := w.Processes(); len(list) > 0 {
				switch p := list[w.Choose(len(list))]; w.Choose(4) {
				case 0:
					p.Kill()
					w.Start("again", program)
				case 1:
					p.Stop()
				case 2:
					p.Resume()
				}
			}
		}
		return w.Trace()
	}
	different := 0
	for seed := range uint64(10) {
		first, second := trace(seed), trace(seed)
		if first != second {
			t.Fatalf("seed %d gives\n%s\nand\n%s", seed, first, second)
		}
		if !strings.Contains(first, "lease.Acquired") {
			t.Errorf("seed %d: nothing was acquired\n%s", seed, first)
		}
		if first != trace(seed+1) {
			different++
		}
	}
	if different == 0 {
		t.Error("all seeds are the same")
	}
}
