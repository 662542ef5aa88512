package lease_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/scope"
)

// onStores runs a test on each kind of place that processes share.
func onStores(t *testing.T, test func(t *testing.T, store, dir string)) {
	for store := range stores {
		t.Run(store, func(t *testing.T) { test(t, store, t.TempDir()) })
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// L8: a waiter in another process hears of a release long before its next poll.
func TestL8_PromptAcrossProcesses(t *testing.T) {
	onStores(t, func(t *testing.T, store, dir string) {
		s := quick(store, dir)
		s.TTL, s.Heartbeat, s.Retry = time.Minute, 2*time.Second, 2*time.Second
		holder := spawn(t, s)
		s.Phases = true
		waiter := spawn(t, s)
		var took []time.Duration
		for range 15 {
			generation := holder.must(command{Do: "acquire", Wait: true}).Generation
			waiter.Tell(command{Do: "acquire", Wait: true})
			waiter.until("watching")
			released := monotonic()
			holder.must(command{Do: "release"})
			r := waiter.reply()
			if !r.OK || r.Generation != generation+1 {
				t.Fatalf("%+v after generation %d", r, generation)
			}
			took = append(took, time.Duration(r.At-released))
			waiter.must(command{Do: "release"})
		}
		most := took[0]
		for _, d := range took {
			most = max(most, d)
		}
		m := median(took)
		t.Logf("from the call of release to the waiter's acquisition: median %v, worst %v; Retry is %v", m, most, s.Retry)
		if m > s.Retry/10 {
			t.Errorf("the median is above a tenth of Retry")
		}
		if names := entries(t, dir); strings.Contains(names, ".wake") {
			t.Error("left:", names)
		}
	})
}

// L8: the same in one process, through two repositories that share only the place.
func TestL8_PromptAcrossRepositories(t *testing.T) {
	onEach(t, func(t *testing.T, open func() lease.Repository) {
		w := newWorld(open())
		w.config.Retry = 2 * time.Second
		holder := w.manager()
		watching := make(chan struct{}, 1)
		other := &world{repo: watchedRepository{open(), watching}, process: w.process, config: w.config}
		waiter := other.manager()
		var took []time.Duration
		for range 15 {
			s := scope.New(scope.Sequential)
			perform(t, func(do *effect.Do) {
				do.Await(holder.Acquire(key).ProvideScope(s))
				next := do.Await(effect.ForkChild(in(waiter.Acquire(key, lease.Wait()).FlatMap(func(*lease.Lease) effect.Effect[time.Duration] {
					return effect.Monotonic()
				}))))
				do.Await(effect.Blocking(func(context.Context) (unit, error) { <-watching; return unit{}, nil }))
				before := now(do)
				do.Await(effect.CloseScope(s, scope.ExitSucceed(0)))
				took = append(took, do.Await(next.Join())-before)
			})
		}
		m := median(took)
		t.Logf("from the call of release to the waiter's acquisition: median %v, worst %v; Retry is %v", m, took[len(took)-1], w.config.Retry)
		if m > w.config.Retry/10 {
			t.Errorf("the median is above a tenth of Retry")
		}
	})
}

// watchedRepository tells when a watch is set.
type watchedRepository struct {
	lease.Repository
	watching chan<- struct{}
}

func (r watchedRepository) WatchReleases(key string, changed func()) effect.Effect[unit] {
	return r.Repository.(lease.ReleaseWatcher).WatchReleases(key, changed).
		AndThen(effect.SyncUnit(func() { r.watching <- struct{}{} }))
}

// L8: Retry works on its own, for a release of somebody who tells nobody.
func TestL8_RetryIsTheFallback(t *testing.T) {
	path := filepath.Join(t.TempDir(), "leases.db")
	w := newWorld(lease.NewSQLiteRepository(platformOS(), path))
	defer w.repo.(*lease.SQLite).Close()
	w.process.runs(holderOf(9).Identity)
	w.config.Retry = 20 * time.Millisecond
	watching := make(chan struct{}, 1)
	w.repo = watchedRepository{w.repo, watching}
	perform(t, func(do *effect.Do) {
		do.Await(put(w.repo, record(1, 1, holderOf(9), "x")))
		next := do.Await(effect.ForkChild(in(w.manager().Acquire(key, lease.Wait()))))
		do.Await(effect.Blocking(func(context.Context) (unit, error) { <-watching; return unit{}, nil }))
		execute(t, path, "UPDATE lease_record SET holder = NULL, holder_id = NULL, revision = 2")
		expect(t, "generation", do.Await(next.Join()).Token().Generation, int64(2))
	})
}

// A waiter that is interrupted leaves no watch: the next release finds nobody, and
// takes the wake file away.
func TestL8_InterruptedWaiterLeavesNothing(t *testing.T) {
	onStores(t, func(t *testing.T, store, dir string) {
		w := newWorld(stores[store](dir))
		if c, ok := w.repo.(*lease.SQLite); ok {
			defer c.Close()
		}
		watching := make(chan struct{}, 1)
		w.repo = watchedRepository{w.repo, watching}
		perform(t, func(do *effect.Do) {
			s := scope.New(scope.Sequential)
			do.Await(w.manager().Acquire(key).ProvideScope(s))
			waiter := do.Await(effect.ForkChild(in(w.manager().Acquire(key, lease.Wait()))))
			do.Await(effect.Blocking(func(context.Context) (unit, error) { <-watching; return unit{}, nil }))
			do.Await(waiter.Interrupt())
			do.Await(effect.CloseScope(s, scope.ExitSucceed(0)))
		})
		if names := entries(t, dir); strings.Contains(names, ".wake") {
			t.Error("left:", names)
		}
	})
}

func entries(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}
