package proptest

import (
	"fmt"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
)

var weathers = []Weather{
	{}, {Fail: 40}, {Lose: 50}, {Late: 60}, {Hang: 30}, {Fail: 15, Lose: 20, Late: 20, Hang: 10}, {Fail: 100}, {Late: 60, MaxDelay: time.Second},
}

const (
	fencingTTL     = 60 * time.Second
	fencingBeat    = 15 * time.Second
	fencingQuantum = 3 * time.Second
	fencedKey      = "key"
	// fencingLimit is more than all workers' turns, and a TTL before each.
	fencingLimit = 3 * time.Hour
)

// fencingPlay is one case.
type fencingPlay struct {
	*crew
	settings   fencingSettings
	store      *Store // nil on another repository
	repository func(p *Process) lease.Repository
	ids        int
	model      fencingModel
}

func newFencingPlay(s fencingSettings, choose scope.Chooser) *fencingPlay {
	f := &fencingPlay{settings: s, model: newFencingModel()}
	f.crew = &crew{w: NewWorld(choose), quantum: fencingQuantum, start: f.start, look: f.look}
	f.w.SetQuantum(fencingQuantum)
	if s.repository != nil {
		f.repository = s.repository(f.w)
		return f
	}
	f.store = NewStore(f.w)
	f.store.onSave = f.saved
	f.repository = f.store.For
	return f
}

// obey takes a rule that the model finds broken, or "".
func (f *fencingPlay) obey(broken string) {
	if broken != "" {
		f.violate(broken)
	}
}

func (f *fencingPlay) heal() {
	if f.store != nil {
		f.store.SetWeather(Weather{})
		for _, p := range f.slots {
			f.store.SetWeatherFor(p, Weather{})
		}
	}
	if !f.finish(fencingLimit) {
		f.violate("L8: an acquire has not ended, though nothing is in its way")
	}
}

func (f *fencingPlay) act(m move) {
	p := f.slots[m.who]
	switch m.kind {
	case "jump":
		hours := 1000 * (m.n - 15)
		if f.store == nil {
			// A lock file without a stamp, as a power cut may leave, counts as held
			// for as long as the wall clock is behind its mtime (K4).
			hours = max(hours, -hours)
		}
		p.JumpWall(time.Duration(hours) * time.Hour)
	case "isolate":
		// Its writes fail, or come through again; others' go on.
		weather := Weather{}
		if m.n%4 > 0 {
			weather = Weather{Fail: 100, OnlySaves: true}
		}
		f.store.SetWeatherFor(p, weather)
		f.w.Log("the weather for %v is %+v", p, weather)
	case "weather":
		f.store.SetWeather(weathers[m.n%len(weathers)])
		f.w.Log("the weather is %+v", weathers[m.n%len(weathers)])
	default:
		f.crew.act(m)
	}
}

func (f *fencingPlay) start(name string) *Process {
	rate := 1 + float64(f.w.Choose(2*f.settings.drift+1)-f.settings.drift)/1000
	if f.settings.drift == 0 {
		rate = 1
	}
	p := f.w.Start(name, f.worker, Rate(rate))
	p.onEnd(func() { f.model.ended(p) })
	return p
}

// worker takes the lease again and again and does fenced work.
func (f *fencingPlay) worker(p *Process) effect.Effect[effect.Unit] {
	config := lease.Config{
		TTL: fencingTTL, Heartbeat: fencingBeat, Retry: 5 * time.Second,
		Observer: func(e lease.Event) { p.w.Log("%v: %T%+v", p, e, e) },
	}
	return effect.GenUnit(func(do *effect.Do) {
		m := do.Await(lease.MakeManager(config))
		for {
			last := f.closing
			// A turn may end with a loss, or in bad weather.
			do.Await(effect.Scoped(f.turn(p, m)).Ignore())
			if last {
				return
			}
			do.Await(effect.Sleep(time.Duration(7+p.w.Choose(20)) * time.Second))
		}
	}).ProvideService(lease.HolderIDs, func() string {
		f.ids++
		return fmt.Sprint(holderPrefix(p), f.ids)
	}).ProvideService(lease.RepositoryService, f.repository(p)).ProvideService(platform.Service, p.Platform())
}

// holderPrefix is what the ids of a process's acquisitions begin with.
func holderPrefix(p *Process) string { return fmt.Sprintf("%v@%d/", p, p.identity.StartTime) }

func (f *fencingPlay) turn(p *Process, m *lease.Manager) effect.Effect[effect.Unit] {
	return effect.GenUnit(func(do *effect.Do) {
		l := do.Await(m.Acquire(fencedKey, lease.Wait()))
		b := f.acquired(p, l.Token())
		do.Await(effect.AddFinalizer(func(scope.Exit[any]) effect.Effect[effect.Unit] {
			return effect.SyncUnit(func() { f.stopBelieving(p, b, "releases") })
		}))
		do.Await(effect.ForkChild(l.Lost().Map(func(effect.Nothing) effect.Unit { return effect.Unit{} }).
			TapError(func(err error) effect.Effect[effect.Unit] {
				return effect.SyncUnit(func() { f.stopBelieving(p, b, err.Error()) })
			})))
		for range 1 + p.w.Choose(3) {
			do.Await(l.RunFenced(func(token lease.FencingToken) effect.Effect[effect.Unit] { return f.work(p, token) }))
			do.Await(effect.Sleep(time.Duration(p.w.Choose(40)) * time.Second))
		}
	})
}

// work writes to the resource several times, under the fence.
func (f *fencingPlay) work(p *Process, token lease.FencingToken) effect.Effect[effect.Unit] {
	body := effect.GenUnit(func(do *effect.Do) {
		for range 1 + p.w.Choose(3) {
			do.Await(effect.SyncUnit(func() { f.write(p, token) }))
			do.Await(effect.Sleep(time.Duration(p.w.Choose(90)) * time.Second))
		}
		do.Await(effect.SyncUnit(func() { f.write(p, token) }))
	})
	if p.w.Choose(4) == 3 {
		// F6: work that does not hear of its interruption keeps the fence.
		body = body.Uninterruptible()
	}
	return effect.AcquireUseRelease(
		effect.SyncUnit(func() { f.enter(p, token) }),
		func(effect.Unit) effect.Effect[effect.Unit] { return body },
		func(effect.Unit, scope.Exit[effect.Unit]) effect.Effect[effect.Unit] {
			// A finalizer belongs to the work: what it writes is not stale.
			return effect.Sleep(time.Duration(p.w.Choose(5)) * time.Second).
				AndThen(effect.SyncUnit(func() { f.write(p, token) })).
				AndThen(effect.SyncUnit(func() { f.leave(p) }))
		})
}

func (f *fencingPlay) enter(p *Process, token lease.FencingToken) {
	if p.isGhost() {
		return
	}
	p.w.Log("%v works as %v", p, token)
	f.obey(f.model.entered(p))
}

func (f *fencingPlay) leave(p *Process) {
	if p.isGhost() {
		return
	}
	p.w.Log("%v has worked", p)
	f.model.left(p)
}

func (f *fencingPlay) write(p *Process, token lease.FencingToken) {
	if p.isGhost() {
		return
	}
	broken := f.model.wrote(token)
	if broken != "" {
		p.w.Log("%v writes as %v", p, token)
	}
	f.obey(broken)
}

func (f *fencingPlay) acquired(p *Process, token lease.FencingToken) *belief {
	b := &belief{token}
	if p.isGhost() {
		return b
	}
	p.w.Log("%v has acquired %v", p, token)
	f.obey(f.model.acquired(p, b))
	return b
}

func (f *fencingPlay) stopBelieving(p *Process, b *belief, why string) {
	if f.model.lost(p, b) {
		p.w.Log("%v: %s", p, why)
	}
}

func (f *fencingPlay) saved(p *Process, before mo.Option[lease.Record], next lease.Record) {
	f.obey(f.model.saved(holderPrefix(p), before.OrEmpty(), next, f.w.now))
}

// look is the check after each quantum, when every process that runs has come to
// the present.
func (f *fencingPlay) look() {
	believers := 0
	for _, p := range f.w.Processes() {
		if p.at() == running && f.model.believes(p) {
			believers++
			f.obey(f.model.heardInTime(p, p.rate, f.w.now))
		}
	}
	// Two clocks may drift apart by twice the drift, and do so by that part of a
	// TTL; processes of one turn are a quantum apart.
	slack := fencingTTL*time.Duration(2*f.settings.drift)/1000 + 2*fencingQuantum
	f.obey(f.model.believe(believers, slack, f.w.now))
}
