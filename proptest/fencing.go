package proptest

import (
	"fmt"
	"strings"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/scope"
	"github.com/samber/mo"
	"pgregory.net/rapid"
)

// FencingOption changes what Fencing plays.
type FencingOption func(*fencingSettings)

type fencingSettings struct {
	repository func(w *World) func(p *Process) lease.Repository
	drift      int // in a thousand
}

// OnRepository has Fencing play on repositories of the caller's, which must keep
// their records on the world's disk, in place of a Store. There is no weather
// then, but power cuts.
func OnRepository(open func(w *World) func(p *Process) lease.Repository) FencingOption {
	return func(s *fencingSettings) { s.repository = open }
}

// Drift has clocks gain or lose up to that many thousandths, ten by default. The
// rules about beliefs give way to it, those about fenced work do not.
func Drift(thousandths int) FencingOption { return func(s *fencingSettings) { s.drift = thousandths } }

// Fencing plays several processes that want one lease and write to one resource
// under its fence, on a World: they crash, stall, resume and come back; their
// clocks drift by up to a hundredth and their wall clocks jump; their repository
// fails, loses answers, hangs and is late.
//
// It holds that
//   - no two fenced works run at the same time, in whatever processes;
//   - what they write carries tokens that never go back, so no stale write lands;
//   - generations grow by one with each acquisition, revisions with each write,
//     and no record is deleted;
//   - no two processes that run believe that they own the lease for longer than
//     their clocks differ;
//   - a process that runs hears of its loss within a TTL of the last write by
//     which it still had the lease;
//   - every acquire ends when the weather is fair again.
//
// It is a test of package lease, and of a repository given by OnRepository.
func Fencing(t TB, options ...FencingOption) {
	t.Helper()
	s := fencingSettings{drift: 10}
	for _, o := range options {
		o(&s)
	}
	rapid.Check(t, func(t *rapid.T) {
		kinds := fencingActions
		if s.repository != nil {
			kinds = append(kinds[:len(kinds)-2:len(kinds)-2], "power cut")
		}
		actions := many(rapid.Custom(func(t *rapid.T) fencingAction { return drawFencingAction(t, kinds) })).Draw(t, "actions")
		got := explore(t, func(choose scope.Chooser) *fencingPlay {
			play := newFencingPlay(s, choose)
			play.run(actions)
			return play
		})
		if bad := got.result.violations; len(bad) > 0 {
			t.Logf("what happened:\n%s", got.result.w.Trace())
			t.Fatalf("%s", bad[0])
		}
	})
}

var fencingActions = []string{"pass", "pass", "start", "steps", "kill", "stop", "resume", "jump", "isolate", "weather"}

// fencingAction is one thing that the test does to the world.
type fencingAction struct {
	kind string
	who  int
	n    int
}

func drawFencingAction(t *rapid.T, kinds []string) fencingAction {
	return fencingAction{
		kind: rapid.SampledFrom(kinds).Draw(t, "kind"),
		who:  rapid.IntRange(0, workers-1).Draw(t, "who"),
		n:    rapid.IntRange(1, 30).Draw(t, "n"),
	}
}

// GoString is for rapid's report.
func (a fencingAction) GoString() string {
	switch a.kind {
	case "pass":
		return fmt.Sprintf("%v pass", time.Duration(a.n)*fencingQuantum)
	case "steps":
		return fmt.Sprintf("%d steps of #%d", a.n, a.who)
	case "weather", "power cut":
		return fmt.Sprintf("%s %d", a.kind, a.n%len(weathers))
	default:
		return fmt.Sprintf("%s #%d", a.kind, a.who)
	}
}

var weathers = []Weather{
	{}, {Fail: 40}, {Lose: 50}, {Late: 60}, {Hang: 30}, {Fail: 15, Lose: 20, Late: 20, Hang: 10}, {Fail: 100}, {Late: 60, MaxDelay: time.Second},
}

const (
	workers        = 3
	fencingTTL     = 60 * time.Second
	fencingBeat    = 15 * time.Second
	fencingQuantum = 3 * time.Second
	fencedKey      = "key"
	// healingLimit is more than all workers' turns, and a TTL before each.
	healingLimit = 3 * time.Hour
)

// fencingPlay is one case.
type fencingPlay struct {
	settings   fencingSettings
	w          *World
	store      *Store // nil on another repository
	repository func(p *Process) lease.Repository
	slots      [workers]*Process
	violations []string
	ids        int
	// closing: every worker ends after its next turn.
	closing bool

	inside   map[*Process]int64 // fenced works under way, and their generations
	lastSeen mo.Option[lease.FencingToken]
	taken    map[int64]string // by whom each generation was acquired
	beliefs  map[*Process]*belief
	// together is since when two have believed.
	together mo.Option[time.Duration]
	// landed is when the last write of each generation's holder landed.
	landed map[int64]time.Duration
}

// belief is a handle that its process has not heard to be lost.
type belief struct{ token lease.FencingToken }

func newFencingPlay(s fencingSettings, choose scope.Chooser) *fencingPlay {
	f := &fencingPlay{
		settings: s, w: NewWorld(choose), inside: map[*Process]int64{}, taken: map[int64]string{},
		beliefs: map[*Process]*belief{}, landed: map[int64]time.Duration{},
	}
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

func (f *fencingPlay) violate(rule string) {
	f.w.Log("VIOLATED: %s", rule)
	f.violations = append(f.violations, rule)
}

func (f *fencingPlay) run(actions []fencingAction) {
	defer f.w.Close()
	for i := range f.slots {
		f.start(i)
	}
	for _, a := range actions {
		f.act(a)
		if len(f.violations) > 0 {
			return
		}
	}
	f.heal()
}

// heal makes everything well and waits for every worker to have a turn and end.
func (f *fencingPlay) heal() {
	if f.store != nil {
		f.store.SetWeather(Weather{})
		for _, p := range f.slots {
			f.store.SetWeatherFor(p, Weather{})
		}
	}
	f.w.Log("everything is well again")
	f.closing = true
	for i, p := range f.slots {
		if p.Resume(); !p.Alive() {
			f.start(i)
		}
	}
	for range healingLimit / fencingQuantum {
		f.pass(fencingQuantum)
		if len(f.w.Processes()) == 0 || len(f.violations) > 0 {
			return
		}
	}
	f.violate("L8: an acquire has not ended, though nothing is in its way")
}

func (f *fencingPlay) act(a fencingAction) {
	p := f.slots[a.who]
	switch a.kind {
	case "pass":
		f.pass(time.Duration(a.n) * fencingQuantum)
	case "start":
		if !p.Alive() {
			f.start(a.who)
		}
	case "steps":
		p.Run(a.n)
	case "kill":
		p.Kill()
	case "stop":
		p.Stop()
	case "resume":
		p.Resume()
	case "jump":
		hours := 1000 * (a.n - 15)
		if f.store == nil {
			// A lock file without a stamp, as a power cut may leave, counts as held
			// for as long as the wall clock is behind its mtime (K4).
			hours = max(hours, -hours)
		}
		p.JumpWall(time.Duration(hours) * time.Hour)
	case "isolate":
		// Its writes fail, or come through again; others' go on.
		weather := Weather{}
		if a.n%4 > 0 {
			weather = Weather{Fail: 100, OnlySaves: true}
		}
		f.store.SetWeatherFor(p, weather)
		f.w.Log("the weather for %v is %+v", p, weather)
	case "weather":
		f.store.SetWeather(weathers[a.n%len(weathers)])
		f.w.Log("the weather is %+v", weathers[a.n%len(weathers)])
	case "power cut":
		f.w.PowerCut()
		for i := range f.slots {
			f.start(i)
		}
	}
}

// pass lets time pass, and looks after every quantum.
func (f *fencingPlay) pass(d time.Duration) {
	for ; d > 0 && len(f.violations) == 0; d -= fencingQuantum {
		f.w.Advance(min(d, fencingQuantum))
		f.look()
	}
}

func (f *fencingPlay) start(i int) {
	rate := 1 + float64(f.w.Choose(2*f.settings.drift+1)-f.settings.drift)/1000
	if f.settings.drift == 0 {
		rate = 1
	}
	p := f.w.Start(fmt.Sprintf("#%d", i), f.worker, Rate(rate))
	f.slots[i] = p
	p.onEnd(func() {
		delete(f.inside, p)
		delete(f.beliefs, p)
	})
}

// worker takes the lease again and again and does fenced work.
func (f *fencingPlay) worker(p *Process) effect.Effect[effect.Unit] {
	config := lease.Config{
		TTL: fencingTTL, Heartbeat: fencingBeat, Retry: 5 * time.Second,
		Observer: func(e lease.Event) { p.w.Log("%v: %T%+v", p, e, e) },
	}
	return effect.GenUnit(func(do *effect.Do) {
		m := do.Await(lease.NewManager(config))
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
	f.inside[p] = token.Generation
	if len(f.inside) > 1 {
		f.violate("L13, L14: two fenced works run at the same time")
	}
}

func (f *fencingPlay) leave(p *Process) {
	if p.isGhost() {
		return
	}
	p.w.Log("%v has worked", p)
	delete(f.inside, p)
}

// write is the resource's: it keeps the highest token with what it protects.
func (f *fencingPlay) write(p *Process, token lease.FencingToken) {
	if p.isGhost() {
		return
	}
	seen, err := lease.CheckFence(f.lastSeen, token).Get()
	if err != nil {
		p.w.Log("%v: %v", p, err)
		f.violate("L13, L15: a stale write came to the resource from fenced work")
		return
	}
	f.lastSeen = mo.Some(seen)
}

func (f *fencingPlay) acquired(p *Process, token lease.FencingToken) *belief {
	b := &belief{token}
	if p.isGhost() {
		return b
	}
	p.w.Log("%v has acquired %v", p, token)
	if by, again := f.taken[token.Generation]; again {
		p.w.Log("generation %d was acquired by %s", token.Generation, by)
		f.violate("L2: two acquisitions have one generation")
	}
	f.taken[token.Generation] = p.String()
	f.beliefs[p] = b
	return b
}

func (f *fencingPlay) stopBelieving(p *Process, b *belief, why string) {
	if f.beliefs[p] == b {
		p.w.Log("%v: %s", p, why)
		delete(f.beliefs, p)
	}
}

// saved holds every write against the rules of the record.
func (f *fencingPlay) saved(p *Process, before mo.Option[lease.Record], next lease.Record) {
	old := before.OrEmpty()
	switch {
	case next.Revision != old.Revision+1:
		f.violate("L2: a write did not grow the revision by one")
	case next.Generation == old.Generation && !next.IsTombstone() && next.HolderID != old.HolderID,
		next.Generation != old.Generation && next.Generation != old.Generation+1:
		f.violate("L2: an acquisition did not grow the generation by one")
	case next.IsTombstone() && next.Generation != old.Generation:
		f.violate("L3: a tombstone has another generation")
	case next.IsTombstone() && !strings.HasPrefix(old.HolderID.OrEmpty(), holderPrefix(p)):
		f.violate("L10: a release wrote over a successor's record")
	}
	if !next.IsTombstone() {
		f.landed[next.Generation] = f.w.now
	}
}

// look is the check after each quantum, when every process that runs has come to
// the present.
func (f *fencingPlay) look() {
	believers := 0
	for _, p := range f.w.Processes() {
		b := f.beliefs[p]
		if b == nil || p.at() != running {
			continue
		}
		believers++
		f.heardInTime(p, b)
	}
	// Two clocks may drift apart by twice the drift, and do so by that part of a
	// TTL; processes of one turn are a quantum apart.
	slack := fencingTTL*time.Duration(2*f.settings.drift)/1000 + 2*fencingQuantum
	switch since, two := f.together.Get(); {
	case believers < 2:
		f.together = mo.None[time.Duration]()
	case !two:
		f.together = mo.Some(f.w.now)
	case f.w.now-since > slack:
		f.violate("L5, L11: two believe that they own the lease for longer than their clocks differ")
	}
}

// heardInTime checks that p's belief is not older than it may be.
func (f *fencingPlay) heardInTime(p *Process, b *belief) {
	last, known := f.landed[b.token.Generation]
	if !known {
		return
	}
	if since := time.Duration(float64(f.w.now-last) * p.rate); since > fencingTTL+fencingQuantum {
		f.violate("L11: a loss was not heard within a TTL of the last write")
	}
}
