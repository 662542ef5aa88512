package lease_test

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/samber/mo"
)

// stepping is both kinds of interruption at every step: of the main fiber, and of
// whichever fiber it is that steps.
var stepping = map[string]effect.EverywhereConfig{
	"main":     {DeterministicConfig: effect.DeterministicConfig{MaxSteps: 100_000}},
	"stepping": {DeterministicConfig: effect.DeterministicConfig{MaxSteps: 100_000}, Stepping: true},
}

// ended is the error of an outcome that must not be: no end, or a failure other than
// the interruption.
func ended(out effect.RunReport[unit], may ...func(error) bool) error {
	exit, ok := out.Exit.Get()
	if !ok || out.StepLimit {
		return fmt.Errorf("it does not end: %v", out.Report)
	}
	c := exit.Cause()
	if c.HasDies() {
		return c.Err()
	}
	if c.HasFails() {
		for _, ok := range may {
			if ok(c.Err()) {
				return nil
			}
		}
		return c.Err()
	}
	return nil
}

func isLost(err error) bool {
	_, ok := errors.AsType[*lease.Lost](err)
	return ok
}

// L9, L10, L13, L14, F26: a life with an acquisition, renewals alone and together,
// fenced work and releases is interrupted at every step. After each run the leases can
// be had: at once when the program was interrupted, and after the TTL even when it was
// one of the package's own fibers; and the fences are free.
func TestL9_L10_L13_InterruptEverywhere(t *testing.T) {
	for name, o := range stepping {
		for _, wait := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", waiting: ", wait), func(t *testing.T) {
				var options []lease.AcquireOption
				if wait {
					options = append(options, lease.Wait())
				}
				var store lease.Repository
				runs := 0
				program := func() effect.Effect[unit] {
					runs++
					r := newBatching()
					yields := func(int) plan { return plan{before: effect.YieldNow(), after: effect.YieldNow()} }
					r.onLoad, r.onSave, r.onFence, r.onBatch = yields, yields, yields, yields
					store = r.Repository
					w := newWorld(r)
					w.config.Observer = func(lease.Event) {}
					m := w.manager()
					one := in(m.Acquire(key, options...).FlatMap(func(l *lease.Lease) effect.Effect[unit] {
						return m.Acquire(key + "/2").AndThen(effect.Sleep(2 * heartbeat)).AndThen(
							l.RunFenced(func(lease.FencingToken) effect.Effect[unit] {
								return effect.YieldNow().AndThen(effect.Sleep(time.Second)).Ensuring(effect.YieldNow())
							}))
					}))
					if wait { // somebody is before it
						one = effect.ForkDetach(in(w.manager().Acquire(key).AndThen(effect.Sleep(heartbeat)))).
							AndThen(effect.YieldNow()).AndThen(effect.Sleep(time.Millisecond)).AndThen(one)
					}
					return one
				}
				err := effect.InterruptEverywhere(program, o, func(step int, out effect.RunReport[unit]) error {
					if err := ended(out, isLost); err != nil {
						return err
					}
					var err error
					simulate(t, func(do *effect.Do) {
						other := newProcess(2)
						other.runs(newProcess(1).self)
						b := &world{repo: store, process: other, config: config}
						b.config.Retry = time.Second
						for _, k := range []string{key, key + "/2"} {
							do.Await(in(b.manager().Acquire(k, lease.Wait())))
							do.Await(in(store.Fence(k)))
						}
						if at := now(do); !o.Stepping && at > 0 {
							err = fmt.Errorf("the next one waited for %v", at)
						}
					})
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%d runs", runs)
				if runs < 60 {
					t.Errorf("only %d runs", runs)
				}
			})
		}
	}
}

// R1, F21: each call of a repository is interrupted at every step. The next call on
// the same value works, what was saved is whole, no transaction stays open and the
// fence is free; no descriptor is left.
func TestR1_F21_InterruptEverywhere(t *testing.T) {
	onEach(t, func(t *testing.T, open func() lease.Repository) {
		r, another := open(), open()
		before := descriptors()
		runs := 0
		var k string
		program := func() effect.Effect[unit] {
			runs++
			k = fmt.Sprint(key, runs)
			save := func(revision int64) effect.Effect[unit] {
				next := record(1, revision, holderOf(9), "x")
				next.Key = k
				expected := mo.None[int64]()
				if revision > 1 {
					expected = mo.Some(revision - 1)
				}
				return r.Save(k, next, expected)
			}
			life := r.Load(k).AndThen(save(1)).AndThen(save(2)).
				AndThen(in(r.Fence(k).AndThen(effect.Sleep(time.Second)))).
				AndThen(save(1).CatchTag(func(*lease.RevisionConflict) effect.Effect[unit] { return effect.Void() }))
			if w, ok := r.(lease.ReleaseWatcher); ok {
				life = in(w.WatchReleases(k, func() {}).AndThen(life))
			}
			if b, ok := r.(lease.BatchSaver); ok {
				next := record(1, 3, holderOf(9), "x")
				next.Key = k
				life = life.AndThen(b.SaveAll([]lease.Write{{Next: next, Expected: mo.Some(int64(2))}})).AsUnit()
			}
			return life
		}
		err := effect.InterruptEverywhere(program, effect.EverywhereConfig{}, func(_ int, out effect.RunReport[unit]) error {
			if err := ended(out); err != nil {
				return err
			}
			var err error
			perform(t, func(do *effect.Do) {
				stored, ok := do.Await(r.Load(k)).Get()
				expected, next := mo.None[int64](), record(1, 1, holderOf(9), "y")
				next.Key = k
				if ok {
					expected, next.Generation, next.Revision = mo.Some(stored.Revision), 2, stored.Revision+1
				}
				// Somebody else can write, and this one knows of it.
				do.Await(another.Save(k, next, expected))
				if seen := do.Await(r.Load(k)).OrEmpty(); seen != next {
					err = fmt.Errorf("%+v is stored, and it sees %+v", next, seen)
				}
				do.Await(in(another.Fence(k)))
				do.Await(in(r.Fence(k)))
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d runs", runs)
		// Pools of connections and Go's poller keep a few.
		if after := descriptors(); after > before+12 {
			t.Errorf("%d descriptors, before %d", after, before)
		}
	})
}

// descriptors is how many files this process has open, or 0 where it cannot tell.
func descriptors() int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}

// L12: whoever waits for a loss can be interrupted at every step, and the lease knows
// nothing of it.
func TestL12_InterruptEverywhere(t *testing.T) {
	var l *lease.Lease
	program := func() effect.Effect[unit] {
		m := newWorld(lease.NewMemoryRepository()).manager()
		return in(m.Acquire(key).Tap(func(got *lease.Lease) effect.Effect[unit] {
			return effect.SyncUnit(func() { l = got })
		}).FlatMap(func(l *lease.Lease) effect.Effect[unit] { return effect.Sleep(heartbeat).StopOn(l.Lost()) }))
	}
	err := effect.InterruptEverywhere(program, effect.EverywhereConfig{}, func(step int, out effect.RunReport[unit]) error {
		if l != nil {
			err := effect.RunDeterministic(l.Lost(), effect.DeterministicConfig{}).Exit.MustGet().Err()
			if lost, ok := errors.AsType[*lease.Lost](err); !ok || lost.Reason != lease.LostReleased {
				return err
			}
		}
		l = nil
		return ended(out)
	})
	if err != nil {
		t.Fatal(err)
	}
}
