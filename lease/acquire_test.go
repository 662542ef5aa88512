package lease_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/samber/mo"
)

func TestL4_Config(t *testing.T) {
	for name, c := range map[string]struct {
		config lease.Config
		ok     bool
	}{
		"plain":             {lease.Config{TTL: 2, Heartbeat: 1}, true},
		"no TTL":            {lease.Config{Heartbeat: 1}, false},
		"negative TTL":      {lease.Config{TTL: -2, Heartbeat: 1}, false},
		"no heartbeat":      {lease.Config{TTL: 2}, false},
		"more than half":    {lease.Config{TTL: 3, Heartbeat: 2}, false},
		"negative retry":    {lease.Config{TTL: 2, Heartbeat: 1, Retry: -1}, false},
		"longer than time":  {lease.Config{TTL: 1<<63 - 1, Heartbeat: 1<<63 - 1}, false},
		"as long as time":   {lease.Config{TTL: 1<<63 - 1, Heartbeat: 1 << 61}, true},
		"retry of a second": {lease.Config{TTL: 2, Heartbeat: 1, Retry: time.Second}, true},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := lease.NewManager(&platform.Platform{Process: newProcess(1)}, lease.NewMemoryRepository(), c.config)
			if !c.ok {
				if _, invalid := errors.AsType[*lease.ConfigInvalid](err); !invalid {
					t.Fatal(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := c.config.Retry
			if want == 0 {
				want = c.config.Heartbeat
			}
			expect(t, "Retry", m.Config().Retry, want)
		})
	}
}

// L4: what a manager cannot work without is missed when it is made.
func TestL4_Missing(t *testing.T) {
	p, r := &platform.Platform{Process: newProcess(1)}, lease.NewMemoryRepository()
	for name, make := range map[string]func() (*lease.Manager, error){
		"platform":   func() (*lease.Manager, error) { return lease.NewManager(nil, r, config) },
		"Process":    func() (*lease.Manager, error) { return lease.NewManager(&platform.Platform{}, r, config) },
		"repository": func() (*lease.Manager, error) { return lease.NewManager(p, nil, config) },
	} {
		if _, err := make(); !strings.Contains(as[*lease.ConfigInvalid](err).Message, name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestL5_FreeAndTombstone(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	simulate(t, func(do *effect.Do) {
		for generation := range int64(3) {
			l := do.Await(in(w.manager().Acquire(key)))
			expect(t, "token", l.Token(), lease.FencingToken{Key: key, Generation: generation + 1})
			r := w.stored(do)
			// L2, L3
			expect(t, "generation", r.Generation, generation+1)
			expect(t, "revision", r.Revision, 2*generation+2)
			expect(t, "tombstone", r.IsTombstone(), true)
		}
	})
}

// F14: a second manager of one process is refused like any other holder.
func TestL5_F14_Held(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	simulate(t, func(do *effect.Do) {
		do.Await(w.manager().Acquire(key))
		r := w.stored(do)
		held := as[*lease.Held](failure(do, in(w.manager().Acquire(key))))
		expect(t, "Held", *held, lease.Held{
			Key: key, Generation: 1, Holder: r.Holder.OrEmpty(), HolderID: r.HolderID.OrEmpty(),
		})
		expect(t, "TTL", held.Holder.TTL, ttl)
	})
}

func TestL5_H2_TakeoverByLiveness(t *testing.T) {
	elsewhere := holderOf(9)
	elsewhere.Host = "other"
	boot := holderOf(9)
	boot.BootID = "before"
	reused := holderOf(9).Identity
	reused.StartTime++
	for name, c := range map[string]struct {
		holder  lease.Holder
		answer  mo.Result[mo.Option[platform.Identity]]
		atOnce  bool
		renewed float64
	}{
		"alive":                       {holderOf(9), mo.Ok(mo.Some(holderOf(9).Identity)), false, 0},
		"gone":                        {holderOf(9), mo.Ok(mo.None[platform.Identity]()), true, 0},
		"pid used again":              {holderOf(9), mo.Ok(mo.Some(reused)), true, 0},
		"other boot":                  {boot, mo.Ok(mo.Some(holderOf(9).Identity)), true, 0},
		"other host":                  {elsewhere, mo.Ok(mo.None[platform.Identity]()), false, 0},
		"F15 the look failed":         {holderOf(9), mo.Err[mo.Option[platform.Identity]](errors.New("EPERM")), false, 0},
		"F12 gone, dated in future":   {holderOf(9), mo.Ok(mo.None[platform.Identity]()), true, 9e15},
		"F12 alive, dated in future":  {holderOf(9), mo.Ok(mo.Some(holderOf(9).Identity)), false, 9e15},
		"alive, dated long, long ago": {holderOf(9), mo.Ok(mo.Some(holderOf(9).Identity)), false, -9e15},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(lease.NewMemoryRepository())
			w.process.running[9] = c.answer
			simulate(t, func(do *effect.Do) {
				r := record(4, 6, c.holder, "x")
				r.RenewedAt = c.renewed
				do.Await(put(w.repo, r))
				m := w.manager()
				start := now(do)
				for {
					exit := do.Await(effect.Exit(m.Acquire(key)))
					if l, ok := exit.Value(); ok {
						expect(t, "generation", l.Token().Generation, int64(5))
						break
					}
					as[*lease.Held](exit.Err())
					do.Await(effect.Sleep(time.Second))
				}
				if c.atOnce {
					expect(t, "wait", now(do)-start, time.Duration(0))
				} else {
					expect(t, "wait", now(do)-start, ttl)
				}
				why := lease.TakeoverExpired
				if c.atOnce {
					why = lease.TakeoverDead
				}
				expect(t, "event", w.events[0], lease.Acquired{
					Token: lease.FencingToken{Key: key, Generation: 5}, Previous: mo.Some(r), Takeover: why,
				})
			})
		})
	}
}

// L5: an observer waits for the larger of its own TTL and the holder's, and its
// count starts anew with every renewal.
func TestL5_WaitsForTheLargerTTL(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	h := holderOf(9)
	h.TTL = 3 * ttl
	w.process.runs(h.Identity)
	simulate(t, func(do *effect.Do) {
		m := w.manager()
		do.Await(put(w.repo, record(1, 1, h, "x")))
		as[*lease.Held](failure(do, m.Acquire(key)))
		do.Await(effect.Sleep(2 * ttl))
		as[*lease.Held](failure(do, m.Acquire(key)))
		do.Await(put(w.repo, record(1, 2, h, "x")))
		do.Await(effect.Sleep(2 * ttl))
		as[*lease.Held](failure(do, m.Acquire(key)))
		do.Await(effect.Sleep(3*ttl - 1))
		as[*lease.Held](failure(do, m.Acquire(key)))
		do.Await(effect.Sleep(1))
		do.Await(m.Acquire(key))
	})
}

func TestL5_NeedsAScope(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	out := effect.RunDeterministic(w.manager().Acquire(key), effect.DeterministicConfig{})
	if die, ok := out.Exit.MustGet().Cause().Defect(); !ok || !strings.Contains(die.Defect.(error).Error(), "Scope") {
		t.Fatal(out.Exit)
	}
}

func TestL6_EmptyKey(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	m := w.manager()
	for name, e := range map[string]effect.Effect[unit]{
		"Acquire": m.Acquire("").AsUnit(), "Wait": m.Acquire("", lease.Wait()).AsUnit(), "Read": m.Read("").AsUnit(),
	} {
		out := effect.RunDeterministic(effect.Scoped(e), effect.DeterministicConfig{})
		if !out.Exit.MustGet().Cause().HasDies() {
			t.Error(name, out.Exit)
		}
	}
}

func TestL17_ReadChangesNothing(t *testing.T) {
	r := newScripted()
	w := newWorld(r)
	simulate(t, func(do *effect.Do) {
		m := w.manager()
		expect(t, "none", do.Await(m.Read(key)), mo.None[lease.Record]())
		do.Await(m.Acquire(key))
		saves := r.saves
		read := do.Await(m.Read(key))
		expect(t, "record", read.OrEmpty(), w.stored(do))
		expect(t, "saves", r.saves, saves)
	})
}

// P5: what needs an identity says so.
func TestP5_NoIdentity(t *testing.T) {
	w := newWorld(lease.NewMemoryRepository())
	w.process.failed = errors.New("no identity here")
	simulate(t, func(do *effect.Do) {
		f := as[*lease.RepositoryFailure](failure(do, w.manager().Acquire(key)))
		expect(t, "reason", f.Reason, lease.RepositoryUnavailable)
		expect(t, "none", do.Await(w.manager().Read(key)).IsPresent(), false)
	})
}

// L7: whatever becomes of the write's answer, the acquisition knows what became
// of the write.
func TestL7_UnknownOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		save     plan
		acquired bool
		reason   lease.RepositoryReason
	}{
		"io before":              {failBefore(ioFailure()), false, lease.RepositoryIO},
		"io after":               {failAfter(ioFailure()), true, ""},
		"busy before":            {failBefore(busyFailure()), false, lease.RepositoryBusy},
		"busy after":             {failAfter(busyFailure()), true, ""},
		"conflict with itself":   {failAfter(&lease.RevisionConflict{Key: key}), true, ""},
		"unavailable":            {failBefore(reasonFailure(lease.RepositoryUnavailable)), false, lease.RepositoryUnavailable},
		"unsupported schema":     {failBefore(reasonFailure(lease.RepositoryUnsupportedSchema)), false, lease.RepositoryUnsupportedSchema},
		"conflict with no other": {failBefore(&lease.RevisionConflict{Key: key}), true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newScripted()
			r.onSave = func(n int) plan {
				if n == 1 {
					return c.save
				}
				return pass
			}
			w := newWorld(r)
			simulate(t, func(do *effect.Do) {
				exit := do.Await(effect.Exit(in(w.manager().Acquire(key))))
				if c.acquired {
					l, _ := exit.Value()
					if exit.IsFailure() {
						t.Fatal(exit)
					}
					expect(t, "generation", l.Token().Generation, int64(1))
					expect(t, "tombstone", w.stored(do).IsTombstone(), true)
					return
				}
				expect(t, "reason", as[*lease.RepositoryFailure](exit.Err()).Reason, c.reason)
				expect(t, "record", w.stored(do), lease.Record{})
			})
		})
	}
}

// L7: an acquisition that cannot find out locks nobody out.
func TestL7_OrphanIsRetired(t *testing.T) {
	r := newScripted()
	broken := true
	r.onSave = func(n int) plan {
		if n == 1 {
			return failAfter(ioFailure())
		}
		return pass
	}
	r.onLoad = func(n int) plan {
		if n > 1 && broken {
			return failBefore(ioFailure())
		}
		return pass
	}
	w := newWorld(r)
	simulate(t, func(do *effect.Do) {
		m := w.manager()
		as[*lease.RepositoryFailure](failure(do, m.Acquire(key)))
		do.Await(effect.Sleep(3 * time.Second))
		broken = false
		// The same manager knows its orphan; another one waits for its retirement.
		do.Await(effect.Sleep(heartbeat))
		expect(t, "tombstone", w.stored(do).IsTombstone(), true)
		l := do.Await(in(w.manager().Acquire(key)))
		expect(t, "generation", l.Token().Generation, int64(2))
	})
}

func TestL7_OwnOrphanIsTakenOverAtOnce(t *testing.T) {
	r := newScripted()
	r.onSave = func(n int) plan {
		if n == 1 {
			return failAfter(ioFailure())
		}
		return pass
	}
	r.onLoad = func(n int) plan {
		switch n {
		case 2:
			return failBefore(ioFailure())
		case 3: // the retirement's
			return hang
		}
		return pass
	}
	w := newWorld(r)
	simulate(t, func(do *effect.Do) {
		m := w.manager()
		as[*lease.RepositoryFailure](failure(do, m.Acquire(key)))
		do.Await(effect.Sleep(time.Second))
		as[*lease.Held](failure(do, in(w.manager().Acquire(key))))
		l := do.Await(m.Acquire(key))
		expect(t, "generation", l.Token().Generation, int64(2))
		expect(t, "why", w.events[len(w.events)-1].(lease.Acquired).Takeover, lease.TakeoverOrphaned)
	})
}

func TestL7_EightRaces(t *testing.T) {
	for _, lost := range []int{8, 9} {
		r := newScripted()
		revision := int64(0)
		// Others acquire and release in the time between the read and the write.
		r.onSave = func(n int) plan {
			if n > lost {
				return pass
			}
			return plan{before: effect.Suspend(func() effect.Effect[unit] {
				revision++
				tombstone := lease.Record{Key: key, Generation: revision, Revision: revision}
				return put(r.Repository, tombstone)
			})}
		}
		w := newWorld(r)
		simulate(t, func(do *effect.Do) {
			exit := do.Await(effect.Exit(in(w.manager().Acquire(key))))
			if lost == 8 {
				if exit.IsFailure() {
					t.Fatal(exit)
				}
				return
			}
			f := as[*lease.RepositoryFailure](exit.Err())
			expect(t, "reason", f.Reason, lease.RepositoryBusy)
			expect(t, "tries", r.saves, 9)
		})
	}
}

// L13: a stored record that breaks L1 is never acted on.
func TestL5_InvalidRecord(t *testing.T) {
	for name, bad := range map[string]lease.Record{
		"generation 0":  {Key: key, Revision: 1},
		"of other key":  {Key: "other", Generation: 1, Revision: 1},
		"half a holder": {Key: key, Generation: 1, Revision: 1, HolderID: mo.Some("x")},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(fixed{lease.NewMemoryRepository(), bad})
			simulate(t, func(do *effect.Do) {
				f := as[*lease.RepositoryFailure](failure(do, w.manager().Acquire(key)))
				expect(t, "reason", f.Reason, lease.RepositoryInvalidRecord)
				f = as[*lease.RepositoryFailure](failure(do, w.manager().Read(key)))
				expect(t, "reason", f.Reason, lease.RepositoryInvalidRecord)
			})
		})
	}
}

// fixed answers one record.
type fixed struct {
	lease.Repository
	record lease.Record
}

func (f fixed) Load(string) effect.Effect[mo.Option[lease.Record]] {
	return effect.Succeed(mo.Some(f.record))
}
