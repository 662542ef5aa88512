package lease_test

import (
	"context"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/scope"
)

// setClock is a clock whose time a test sets. Nothing waits on it.
type setClock struct {
	scope.Clock
	at time.Duration
}

func (c *setClock) Monotonic() time.Duration { return c.at }

// L5: a manager that is used under two clocks never counts from a reading of one to
// a reading of the other.
func TestL5_ClocksAreNotCompared(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	w.process.runs(holderOf(9).Identity)
	m := w.manager()
	try := func(c scope.Clock) error {
		return effect.RunExitOn(context.Background(), scope.NewParallel(scope.OnClock(c)), in(m.Acquire(key))).Err()
	}
	if _, err := effect.Run(context.Background(), put(w.repo, record(1, 1, holderOf(9), "x"))); err != nil {
		t.Fatal(err)
	}
	young, old := &setClock{Clock: scope.NewLiveClock(), at: time.Second}, &setClock{Clock: scope.NewLiveClock(), at: time.Hour}
	as[*lease.Held](try(young))
	as[*lease.Held](try(old))
	as[*lease.Held](try(young))
	old.at += 2 * ttl
	as[*lease.Held](try(old)) // the other clock's reading came between
	old.at += ttl
	if err := try(old); err != nil {
		t.Fatal(err)
	}
}

// L5: runs of one program, one after the other, are one observer.
func TestL5_RunsShareAClock(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	w.config = lease.Config{TTL: 2 * time.Millisecond, Heartbeat: time.Millisecond}
	w.process.runs(holderOf(9).Identity)
	m := w.manager()
	if _, err := effect.Run(context.Background(), put(w.repo, record(1, 1, holderOf(9), "x"))); err != nil {
		t.Fatal(err)
	}
	for tries := 0; ; tries++ {
		_, err := effect.Run(context.Background(), in(m.Acquire(key)))
		if err == nil {
			expect(t, "refused before", tries > 0, true)
			return
		}
		as[*lease.Held](err)
	}
}
