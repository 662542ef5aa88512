package proptest

import (
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

// Store is a lease repository that the processes of a world share: each has its
// own view of it, from For. The kernel frees a dead process's fences. Weather
// makes its calls fail, hang and come late.
type Store struct {
	w       *World
	weather Weather
	// apart is the weather of single processes.
	apart   map[*Process]Weather
	changes int // of the weather
	records map[string]lease.Record
	fences  map[string]*storeFence
	// onSave hears of every write when it lands.
	onSave func(p *Process, before mo.Option[lease.Record], next lease.Record)
}

// Weather is how many in a hundred calls of Load and Save go wrong, and how.
type Weather struct {
	Fail int // nothing is done, and the call fails
	Lose int // it is done, and the call fails all the same
	Late int // it takes up to MaxDelay, half before it is done, half after
	Hang int // it does not answer until the weather changes, then fails; half are done

	MaxDelay time.Duration // a minute, when it is 0
	// OnlySaves spares Load.
	OnlySaves bool
}

type storeFence struct{ holder *Process }

// NewStore makes an empty store on clear weather.
func NewStore(w *World) *Store {
	return &Store{w: w, apart: map[*Process]Weather{}, records: map[string]lease.Record{}, fences: map[string]*storeFence{}}
}

// SetWeather changes the weather of the calls from now on.
func (s *Store) SetWeather(weather Weather) {
	s.weather = weather
	s.changes++
}

// SetWeatherFor changes the weather of the process's calls alone. The zero Weather
// takes it back.
func (s *Store) SetWeatherFor(p *Process, weather Weather) {
	if s.apart[p] = weather; weather == (Weather{}) {
		delete(s.apart, p)
	}
	s.changes++
}

// Stored is what is stored, for the test.
func (s *Store) Stored(key string) mo.Option[lease.Record] {
	r, ok := s.records[key]
	return mo.TupleToOption(r, ok)
}

// For is the store as p sees it.
func (s *Store) For(p *Process) lease.Repository { return &storeView{s, p} }

// storeView is a lease.Repository.
type storeView struct {
	s *Store
	p *Process
}

// Load implements lease.Repository.
func (v *storeView) Load(key string) effect.Effect[mo.Option[lease.Record]] {
	return weathered(v, "Load", key, effect.Try(func() (mo.Option[lease.Record], error) {
		if err := v.dead(key); err != nil {
			return mo.None[lease.Record](), err
		}
		return v.s.Stored(key), nil
	}))
}

// Save implements lease.Repository.
func (v *storeView) Save(key string, next lease.Record, expected mo.Option[int64]) effect.Effect[effect.Unit] {
	return weathered(v, "Save", key, effect.Try(func() (effect.Unit, error) {
		if err := v.dead(key); err != nil {
			return effect.Unit{}, err
		}
		before := v.s.Stored(key)
		if stored := revisionOf(before); stored != expected {
			return effect.Unit{}, &lease.RevisionConflict{Key: key, ExpectedRevision: expected, StoredRevision: stored}
		}
		v.s.records[key] = next
		v.p.w.Log("%v saves %s", v.p, show(mo.Some(next)))
		if v.s.onSave != nil {
			v.s.onSave(v.p, before, next)
		}
		return effect.Unit{}, nil
	}))
}

func (v *storeView) dead(key string) error {
	if v.p.isGhost() {
		return storeFailure(key)
	}
	return nil
}

func storeFailure(key string) error {
	return &lease.RepositoryFailure{Key: key, Reason: lease.RepositoryIO, Message: "the weather"}
}

// weathered is e in the weather at hand when it is called.
func weathered[A any](v *storeView, name, key string, e effect.Effect[A]) effect.Effect[A] {
	return effect.Suspend(func() effect.Effect[A] {
		w, now := v.s.w, v.s.weather
		if own, apart := v.s.apart[v.p]; apart {
			now = own
		}
		if v.p.isGhost() || now == (Weather{}) || now.OnlySaves && name != "Save" {
			return e
		}
		fails := effect.Fail[A](storeFailure(key))
		switch n := w.Choose(100); {
		case n < 100-now.Fail-now.Lose-now.Late-now.Hang:
			// First, so that a shrunk case has no weather.
			return e
		case n < 100-now.Lose-now.Late-now.Hang:
			w.Log("%v: %s fails", v.p, name)
			return fails
		case n < 100-now.Late-now.Hang:
			w.Log("%v: the answer of %s is lost", v.p, name)
			return e.AndThen(fails)
		case n < 100-now.Hang:
			longest := now.MaxDelay
			if longest == 0 {
				longest = time.Minute
			}
			d := longest * time.Duration(1+w.Choose(8)) / 8
			if w.Choose(2) == 0 {
				w.Log("%v: %s takes %v before it is done", v.p, name, d)
				return e.Delay(d)
			}
			w.Log("%v: the answer of %s takes %v", v.p, name, d)
			return e.Tap(func(A) effect.Effect[effect.Unit] { return effect.Sleep(d) })
		default:
			w.Log("%v: %s hangs", v.p, name)
			hangs := v.hanging(v.s.changes).AndThen(fails)
			if w.Choose(2) == 0 {
				return hangs
			}
			return e.AndThen(hangs)
		}
	})
}

// hanging waits until the weather is another one. A ghost must come to its end.
func (v *storeView) hanging(since int) effect.Effect[effect.Unit] {
	return effect.Suspend(func() effect.Effect[effect.Unit] {
		if v.s.changes != since || v.p.isGhost() {
			return effect.Void()
		}
		return effect.Sleep(time.Second).AndThen(v.hanging(since))
	})
}

// fencePause is how often a fence is tried for, since nobody wakes another
// process.
const fencePause = 100 * time.Millisecond

// Fence implements lease.Repository.
func (v *storeView) Fence(key string) effect.Effect[effect.Unit] {
	try := effect.AcquireRelease(
		effect.Sync(func() *storeFence {
			if v.p.isGhost() || v.s.fences[key] != nil {
				return nil
			}
			f := &storeFence{v.p}
			v.s.fences[key] = f
			v.p.onEnd(func() { v.s.free(key, f) })
			return f
		}),
		func(f *storeFence, _ scope.Exit[any]) effect.Effect[effect.Unit] {
			return effect.SyncUnit(func() {
				if !v.p.isGhost() {
					v.s.free(key, f)
				}
			})
		})
	return try.FlatMap(func(f *storeFence) effect.Effect[effect.Unit] {
		if f != nil {
			return effect.Void()
		}
		return effect.Sleep(fencePause).AndThen(v.Fence(key))
	})
}

func (s *Store) free(key string, f *storeFence) {
	if f != nil && s.fences[key] == f {
		delete(s.fences, key)
	}
}
