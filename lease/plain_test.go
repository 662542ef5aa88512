package lease_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/samber/mo"
)

// The plain methods run on the parallel runtime's live clock. Inside a synctest bubble
// that is virtual, and a test waits for what it waits for.

type plainWork = func(context.Context, lease.FencingToken) error

func nothing(context.Context, lease.FencingToken) error { return nil }

// recordOf is what is stored of the key.
func lookedUp(t *testing.T, m *lease.Manager) lease.Record {
	t.Helper()
	r, _, err := m.Lookup(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// perform runs e on the side, as another program would.
func aside[A any](t *testing.T, e effect.Effect[A]) A {
	t.Helper()
	v, err := effect.Run(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// director says how the calls of a scripted repository go from now on.
type director struct{ plan atomic.Pointer[plan] }

func (d *director) set(p plan) { d.plan.Store(&p) }

func (d *director) next(int) plan {
	if p := d.plan.Load(); p != nil {
		return *p
	}
	return pass
}

// directed is a repository whose saves, and loads, can be told how to go while they do.
func directed() (r *scripted, saves, loads *director) {
	r, saves, loads = newScripted(), new(director), new(director)
	r.onSave, r.onLoad = saves.next, loads.next
	return r, saves, loads
}

func take(t *testing.T, m *lease.Manager, options ...lease.AcquireOption) *lease.Holding {
	t.Helper()
	h, err := m.Take(context.Background(), key, options...)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestL3_L13_PlainHold(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	m := w.manager()
	type ours struct{}
	ctx := context.WithValue(context.Background(), ours{}, "value")
	failure := errors.New("the work's own")
	var after context.Context
	err := m.Hold(ctx, key, func(ctx context.Context, token lease.FencingToken) error {
		after = ctx
		r := lookedUp(t, m)
		expect(t, "token", token, r.Token())
		expect(t, "pid", r.Holder.OrEmpty().PID, int64(1))
		expect(t, "value", ctx.Value(ours{}), any("value"))
		expect(t, "over", ctx.Err(), nil)
		return failure
	})
	if err != failure {
		t.Errorf("got %v, want the work's error as it is", err)
	}
	r := lookedUp(t, m)
	expect(t, "tombstone", r.IsTombstone(), true)
	expect(t, "generation", r.Generation, int64(1))
	expect(t, "context after the work", after.Err(), context.Canceled)
	if err := m.Hold(ctx, key, nothing); err != nil {
		t.Error(err)
	}
	expect(t, "generation", lookedUp(t, m).Generation, int64(2))
}

func TestL5_PlainHeldFailsAtOnce(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	h := take(t, w.manager())
	defer h.Close()
	other := w.manager()
	for name, attempt := range map[string]func() error{
		"Hold": func() error {
			return other.Hold(context.Background(), key, func(context.Context, lease.FencingToken) error {
				t.Error("the work ran")
				return nil
			})
		},
		"Take": func() error { _, err := other.Take(context.Background(), key); return err },
	} {
		held := as[*lease.Held](attempt())
		expect(t, name+": pid", held.Holder.PID, int64(1))
		expect(t, name+": generation", held.Generation, int64(1))
	}
}

// L5, L11, L18: a dead holder is taken over at once, a silent one after its TTL.
func TestL5_L18_PlainTakeover(t *testing.T) {
	for name, c := range map[string]struct {
		alive bool
		after time.Duration
	}{"dead": {false, 0}, "silent": {true, ttl}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(lease.NewMemoryRepository())
				if c.alive {
					w.process.runs(holderOf(9).Identity)
				} else {
					w.process.running[9] = mo.Ok(mo.None[platform.Identity]())
				}
				aside(t, put(w.repo, record(3, 9, holderOf(9), "x")))
				began := time.Now()
				err := w.manager().Hold(context.Background(), key, func(_ context.Context, token lease.FencingToken) error {
					expect(t, "generation", token.Generation, int64(4))
					return nil
				}, lease.Wait())
				if err != nil {
					t.Error(err)
				}
				if took := time.Since(began); took < c.after || took > c.after+heartbeat {
					t.Errorf("after %v, want %v", took, c.after)
				}
			})
		})
	}
}

func TestL6_PlainEmptyKey(t *testing.T) {
	m := newWorld(lease.NewMemoryRepository()).manager()
	_, err := m.Take(t.Context(), "")
	_, _, found := m.Lookup(t.Context(), "")
	for _, err := range []error{m.Hold(t.Context(), "", nothing), err, found} {
		if err == nil || !strings.Contains(err.Error(), "the key is empty") {
			t.Errorf("got %v", err)
		}
		if _, failure := errors.AsType[lease.Failure](err); failure {
			t.Errorf("%v is a failure of the lease", err)
		}
	}
}

// L8: waiters get the lease in the order in which they came, and the end of a waiter's
// context ends its wait alone.
func TestL8_PlainWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newWorld(lease.NewMemoryRepository()).manager()
		h := take(t, m)
		order := make(chan int, 4)
		var all sync.WaitGroup
		why := errors.New("shutting down")
		cancelled, cancel := context.WithCancelCause(t.Context())
		late, stop := context.WithTimeout(t.Context(), 40*time.Second)
		defer stop()
		for i, ctx := range []context.Context{t.Context(), cancelled, late, t.Context()} {
			all.Go(func() {
				err := m.Hold(ctx, key, func(context.Context, lease.FencingToken) error { order <- i; return nil }, lease.Wait())
				switch {
				case i == 1 && (!errors.Is(err, why) || !errors.Is(err, context.Canceled)):
					t.Errorf("cancelled: %v", err)
				case i == 2 && (!errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), key)):
					t.Errorf("late: %v", err)
				case i == 0 || i == 3:
					if err != nil {
						t.Error(err)
					}
				}
			})
			synctest.Wait()
		}
		cancel(why)
		time.Sleep(time.Minute)
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		all.Wait()
		expect(t, "order", []int{<-order, <-order, len(order)}, []int{0, 3, 0})
	})
}

// A context that has ended takes nothing.
func TestPlainContextThatHasEnded(t *testing.T) {
	r := newScripted()
	m := newWorld(r).manager()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range []error{m.Hold(ctx, key, nothing), second(m.Take(ctx, key)), third(m.Lookup(ctx, key))} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	expect(t, "loads, saves", []int{r.loads, r.saves}, []int{0, 0})
}

func second[A any](_ A, err error) error        { return err }
func third[A, B any](_ A, _ B, err error) error { return err }

// L9: whichever call to the repository the context ends in, no lease is left, and no
// fence.
func TestL9_PlainCancelEverywhere(t *testing.T) {
	for calls := 1; ; calls++ {
		ran := false
		synctest.Test(t, func(t *testing.T) {
			r := newScripted()
			m := newWorld(r).manager()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			n := 0
			on := func(int) plan {
				if n++; n == calls {
					ran = true
					return plan{before: effect.SyncUnit(cancel).AndThen(effect.YieldNow())}
				}
				return pass
			}
			r.onLoad, r.onSave, r.onFence = on, on, on
			err := m.Hold(ctx, key, func(ctx context.Context, _ lease.FencingToken) error { return ctx.Err() })
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("at call %d: %v", calls, err)
			}
			r.onLoad, r.onSave, r.onFence = nil, nil, nil
			if rec, found, _ := m.Lookup(context.Background(), key); found && !rec.IsTombstone() {
				t.Errorf("at call %d: %+v is left", calls, rec)
			}
			aside(t, in(r.Fence(key)))
		})
		if !ran {
			if calls < 6 {
				t.Errorf("only %d calls", calls)
			}
			return
		}
	}
}

// L9: the context ends when the lease is taken already, and nobody has it yet.
func TestL9_PlainCancelWhenTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(lease.NewMemoryRepository())
		ctx, cancel := context.WithCancel(t.Context())
		c := config
		c.Observer = func(e lease.Event) {
			if _, ok := e.(lease.Acquired); ok {
				cancel()
				time.Sleep(time.Nanosecond) // until all have heard of it
			}
		}
		m, err := lease.NewManager(&platform.Platform{Process: w.process}, w.repo, c)
		if err != nil {
			t.Fatal(err)
		}
		if h, err := m.Take(ctx, key); h != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, %v", h, err)
		}
		expect(t, "tombstone", lookedUp(t, m).IsTombstone(), true)
	})
}

// L10, L14: the lease is renewed while it is held, under its fence too.
func TestL10_PlainIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newWorld(lease.NewMemoryRepository()).manager()
		err := m.Hold(t.Context(), key, func(context.Context, lease.FencingToken) error {
			time.Sleep(10 * ttl)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if r := lookedUp(t, m); r.Revision < 40 || !r.IsTombstone() {
			t.Errorf("%+v", r)
		}
	})
}

// L10: a release ends the fenced work of the holding, and waits for it; then the lease
// is free. A repository that hangs keeps it for a heartbeat at most.
func TestL10_PlainReleaseAwaitsTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newWorld(lease.NewMemoryRepository()).manager()
		h := take(t, m)
		var ended atomic.Bool
		var all sync.WaitGroup
		all.Go(func() {
			err := h.RunFenced(t.Context(), func(ctx context.Context, _ lease.FencingToken) error {
				<-ctx.Done()
				time.Sleep(3 * ttl)
				expect(t, "released under the work", lookedUp(t, m).IsTombstone(), false)
				ended.Store(true)
				return ctx.Err()
			})
			lost := as[*lease.Lost](err)
			expect(t, "loss", lost.Reason, lease.LostReleased)
		})
		synctest.Wait()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := h.Release(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Release with a short context: %v", err)
		}
		if err := h.Close(); err != nil || !ended.Load() {
			t.Errorf("Close: %v, ended: %v", err, ended.Load())
		}
		all.Wait()
		expect(t, "tombstone", lookedUp(t, m).IsTombstone(), true)
	})
}

func TestL10_PlainReleaseGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _, loads := directed()
		h := take(t, newWorld(r).manager())
		loads.set(hang)
		began := time.Now()
		_ = h.Close()
		expect(t, "after", time.Since(began), heartbeat)
	})
}

// L11, L12: a lease that cannot be renewed ends at its TTL, and every context hears the
// same loss.
func TestL11_L12_PlainLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, saves, _ := directed()
		m := newWorld(r).manager()
		h := take(t, m)
		began := time.Now()
		saves.set(hang)
		var inWork error
		err := h.RunFenced(t.Context(), func(ctx context.Context, _ lease.FencingToken) error {
			<-ctx.Done()
			inWork = context.Cause(ctx)
			return ctx.Err()
		})
		expect(t, "after", time.Since(began), ttl)
		lost := as[*lease.Lost](err)
		expect(t, "reason", lost.Reason, lease.LostExpired)
		if inWork != error(lost) || context.Cause(h.Context()) != error(lost) || err != error(lost) {
			t.Errorf("three losses: %v, %v, %v", err, inWork, context.Cause(h.Context()))
		}
		expect(t, "context", h.Context().Err(), context.Canceled)
		// L13: from now on nothing runs.
		if again := h.RunFenced(t.Context(), nothing); again != error(lost) {
			t.Errorf("RunFenced afterwards: %v", again)
		}
		saves.set(pass)
		if err := h.Close(); err != error(lost) {
			t.Errorf("Close: %v", err)
		}
		if err := h.Close(); err != error(lost) {
			t.Errorf("Close again: %v", err)
		}
	})
}

// L12: a release, too, ends the context, with its own reason.
func TestL12_PlainReleased(t *testing.T) {
	m := newWorld(lease.NewMemoryRepository()).manager()
	h := take(t, m)
	expect(t, "before", h.Context().Err(), nil)
	expect(t, "close", h.Close(), nil)
	expect(t, "reason", as[*lease.Lost](context.Cause(h.Context())).Reason, lease.LostReleased)
	expect(t, "close again", h.Close(), nil)
	as[*lease.Lost](h.RunFenced(t.Context(), nothing))
}

// L13: what the work returns beside a loss is not lost with it.
func TestL13_PlainLossAndError(t *testing.T) {
	own := errors.New("row 3")
	for name, c := range map[string]struct {
		returns error
		alone   bool
	}{
		"nothing":            {nil, true},
		"the context's":      {context.Canceled, true},
		"its own":            {own, false},
		"its own with cause": {fmt.Errorf("row 3: %w", context.Canceled), false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, saves, _ := directed()
				m := newWorld(r).manager()
				err := m.Hold(t.Context(), key, func(ctx context.Context, _ lease.FencingToken) error {
					saves.set(failBefore(ioFailure()))
					<-ctx.Done()
					return c.returns
				})
				lost := as[*lease.Lost](err)
				if c.alone != (err == error(lost)) || !c.alone && !errors.Is(err, c.returns) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// L13: a record that is another acquisition's is found under the fence.
func TestL13_L15_PlainFenceRejected(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	h := take(t, w.manager())
	defer h.Close()
	aside(t, put(w.repo, record(2, 9, holderOf(9), "x")))
	rejected := as[*lease.FenceRejected](h.RunFenced(t.Context(), func(context.Context, lease.FencingToken) error {
		t.Error("the work ran")
		return nil
	}))
	expect(t, "current", rejected.Current, mo.Some(int64(2)))
	_, err := lease.CheckFence(mo.Some(lease.FencingToken{Key: key, Generation: 2}), h.Token()).Get()
	as[*lease.FenceRejected](err)
}

// L13: a wait for the fence ends with the loss, and with the caller's context.
func TestL13_PlainWaitForTheFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, saves, _ := directed()
		w := newWorld(r)
		free := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() {
			aside(t, in(r.Repository.Fence(key).AndThen(effect.Blocking(func(context.Context) (unit, error) {
				<-free
				return unit{}, nil
			}))))
		})
		synctest.Wait()
		h := take(t, w.manager())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := h.RunFenced(ctx, nothing); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a short context: %v", err)
		}
		saves.set(failBefore(ioFailure()))
		expect(t, "reason", as[*lease.Lost](h.RunFenced(t.Context(), nothing)).Reason, lease.LostExpired)
		close(free)
		all.Wait()
		saves.set(pass)
		_ = h.Close()
	})
}

// L14, L19: a successor's work begins when the old one's has returned, whatever became
// of its lease.
func TestL14_L19_PlainFenceIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(neverRenewed{lease.NewMemoryRepository()})
		log := make(chan string, 4)
		var all sync.WaitGroup
		all.Go(func() {
			err := w.manager().Hold(t.Context(), key, func(ctx context.Context, _ lease.FencingToken) error {
				<-ctx.Done()
				time.Sleep(5 * ttl)
				log <- "old ended"
				return nil
			})
			as[*lease.Lost](err)
		})
		synctest.Wait()
		err := w.manager().Hold(t.Context(), key, func(context.Context, lease.FencingToken) error {
			log <- "new began"
			return nil
		}, lease.Wait())
		if err != nil {
			t.Error(err)
		}
		all.Wait()
		expect(t, "order", []string{<-log, <-log}, []string{"old ended", "new began"})
	})
}

// neverRenewed refuses every renewal of the first acquisition.
type neverRenewed struct{ lease.Repository }

func (r neverRenewed) Save(key string, next lease.Record, expected mo.Option[int64]) effect.Effect[unit] {
	if next.Generation == 1 && next.Revision > 1 && !next.IsTombstone() {
		return effect.Fail[unit](ioFailure())
	}
	return r.Repository.Save(key, next, expected)
}

// L13: what would wait for itself is refused with an error, by effects that plain work
// runs, and by plain calls of effects, too.
func TestL13_PlainInside(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	m, other := w.manager(), w.manager()
	calls := map[string]plainWork{
		"Hold":              func(ctx context.Context, _ lease.FencingToken) error { return m.Hold(ctx, key, nothing, lease.Wait()) },
		"Hold without Wait": func(ctx context.Context, _ lease.FencingToken) error { return m.Hold(ctx, key, nothing) },
		"Take":              func(ctx context.Context, _ lease.FencingToken) error { return second(m.Take(ctx, key, lease.Wait())) },
		"Hold of other manager": func(ctx context.Context, _ lease.FencingToken) error {
			return other.Hold(ctx, key, nothing, lease.Wait())
		},
		"a derived context": func(ctx context.Context, _ lease.FencingToken) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			return m.Hold(ctx, "other", func(ctx context.Context, _ lease.FencingToken) error {
				return m.Hold(ctx, key, nothing, lease.Wait())
			})
		},
	}
	for name, call := range calls {
		err := m.Hold(t.Context(), key, call)
		if err == nil || !strings.Contains(err.Error(), "would wait for itself") {
			t.Errorf("%s: %v", name, err)
		}
	}
	h := take(t, m)
	defer h.Close()
	if err := h.RunFenced(t.Context(), func(ctx context.Context, _ lease.FencingToken) error {
		return h.RunFenced(ctx, nothing)
	}); err == nil || !strings.Contains(err.Error(), "would wait for itself") {
		t.Errorf("RunFenced: %v", err)
	}
	if err := m.Hold(t.Context(), "other", func(ctx context.Context, _ lease.FencingToken) error {
		_, err := effect.Run(ctx, in(m.Acquire("third").FlatMap(func(l *lease.Lease) effect.Effect[unit] {
			return l.RunFenced(func(lease.FencingToken) effect.Effect[unit] {
				return effect.Blocking(func(ctx context.Context) (unit, error) {
					return unit{}, m.Hold(ctx, "other", nothing, lease.Wait())
				})
			})
		})))
		return err
	}); err == nil || !strings.Contains(err.Error(), "would wait for itself") {
		t.Errorf("through effects: %v", err)
	}
	// Other keys are not affected, nor is what outlives the work.
	var kept context.Context
	if err := m.Hold(t.Context(), "other", func(ctx context.Context, _ lease.FencingToken) error {
		kept = context.WithoutCancel(ctx)
		return m.Hold(ctx, "third", nothing)
	}); err != nil {
		t.Error(err)
	}
	if err := m.Hold(kept, "other", nothing); err != nil {
		t.Error(err)
	}
}

// L10: a release from inside the work does not wait for itself.
func TestL10_PlainReleaseInside(t *testing.T) {
	m := newWorld(lease.NewMemoryRepository()).manager()
	h := take(t, m)
	err := h.RunFenced(t.Context(), func(ctx context.Context, _ lease.FencingToken) error {
		if err := h.Release(ctx); err != nil {
			t.Error(err)
		}
		<-ctx.Done()
		return context.Cause(ctx)
	})
	expect(t, "reason", as[*lease.Lost](err).Reason, lease.LostReleased)
	expect(t, "close", h.Close(), nil)
	expect(t, "tombstone", lookedUp(t, m).IsTombstone(), true)
}

// A panic and a Goexit of the work go on to the caller, as they are, once the lease and
// its fence are free.
func TestL14_PlainPanicAndGoexit(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	m := w.manager()
	free := func(name string) {
		expect(t, name+": tombstone", lookedUp(t, m).IsTombstone(), true)
		aside(t, in(w.repo.Fence(key)))
	}
	func() {
		defer func() {
			r := recover()
			expect(t, "panic", r, any("at sea"))
			stack := make([]byte, 1<<16)
			if text := string(stack[:runtime.Stack(stack, false)]); !strings.Contains(text, "workThatPanics") {
				t.Errorf("the stack has not the work:\n%s", text)
			}
		}()
		_ = m.Hold(t.Context(), key, workThatPanics)
	}()
	free("panic")
	ended := make(chan bool)
	go func() {
		returned := false
		defer func() { ended <- returned || recover() != nil }()
		_ = m.Hold(t.Context(), key, func(context.Context, lease.FencingToken) error { runtime.Goexit(); return nil })
		returned = true
	}()
	expect(t, "Goexit was stopped", <-ended, false)
	free("Goexit")
}

func workThatPanics(context.Context, lease.FencingToken) error { panic("at sea") }

// L17: a look changes nothing.
func TestL17_PlainLookup(t *testing.T) {
	r, _, loads := directed()
	m := newWorld(r).manager()
	rec, found, err := m.Lookup(t.Context(), key)
	expect(t, "nothing", []any{rec, found, err}, []any{lease.Record{}, false, nil})
	h := take(t, m)
	saves := r.saves
	rec, found, err = m.Lookup(t.Context(), key)
	expect(t, "found", []any{rec.Token(), found, err}, []any{h.Token(), true, nil})
	expect(t, "saves", r.saves, saves)
	loads.set(failBefore(ioFailure()))
	as[*lease.RepositoryFailure](third(m.Lookup(t.Context(), key)))
	loads.set(pass)
	_ = h.Close()
}

// Many goroutines, few keys: nobody overlaps, tokens only grow, all is free afterwards.
func TestL2_L13_PlainInParallel(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	w.config.Retry = time.Millisecond
	managers := []*lease.Manager{w.manager(), w.manager()}
	const keys = 3
	var busy [keys]atomic.Int64
	var last [keys]int64
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			for n := range rounds(60, 10) {
				k := (i + n) % keys
				err := managers[i%2].Hold(t.Context(), fmt.Sprint(k), func(_ context.Context, token lease.FencingToken) error {
					if busy[k].Add(1) != 1 || token.Generation <= last[k] {
						t.Errorf("%v overlaps or goes back behind %d", token, last[k])
					}
					last[k] = token.Generation
					runtime.Gosched()
					busy[k].Add(-1)
					return nil
				}, lease.Wait())
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// L16: the same check without options and results.
func TestL16_PlainCheckAfter(t *testing.T) {
	token := func(key string, generation int64) lease.FencingToken {
		return lease.FencingToken{Key: key, Generation: generation}
	}
	for _, c := range []struct {
		last, token lease.FencingToken
		passes      bool
	}{
		{lease.FencingToken{}, token("a", 1), true},
		{token("a", 1), token("a", 1), true},
		{token("a", 1), token("a", 2), true},
		{token("a", 2), token("a", 1), false},
		{token("b", 2), token("a", 1), true},
	} {
		err := c.token.CheckAfter(c.last)
		if (err == nil) != c.passes {
			t.Errorf("%v after %v: %v", c.token, c.last, err)
		}
		if _, want := lease.CheckFence(mo.Some(c.last), c.token).Get(); fmt.Sprint(want) != fmt.Sprint(err) {
			t.Errorf("%v after %v: %v, CheckFence says %v", c.token, c.last, err, want)
		}
	}
}
