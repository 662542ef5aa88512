package lanes_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lanes"
	"github.com/rivus/tether/scope"
)

type unit = effect.Effect[effect.Unit]

// stage is where one run of a scenario plays: what the activations do, and what
// was seen of them.
type stage struct {
	t *testing.T
	// serial: fibers run one at a time, and time passes by itself.
	serial bool
	clock  *manualClock
	log    *bytes.Buffer

	mu     sync.Mutex
	bodies map[string][]unit
	starts map[string]int
	exits  []lanes.ActivationExit
	events []lanes.Event
	seen   map[string]*signal
}

// signal is a count that fibers wait for.
type signal struct {
	n     int
	waits map[int]*effect.Deferred[effect.Unit]
}

func newStage(t *testing.T, serial bool) *stage {
	return &stage{
		t: t, serial: serial, log: new(bytes.Buffer), clock: newManualClock(),
		bodies: map[string][]unit{}, starts: map[string]int{}, seen: map[string]*signal{},
	}
}

func (s *stage) signal(name string) *signal {
	if s.seen[name] == nil {
		s.seen[name] = &signal{waits: map[int]*effect.Deferred[effect.Unit]{}}
	}
	return s.seen[name]
}

// raise counts name once more and wakes who waits for that.
func (s *stage) raise(name string) {
	s.mu.Lock()
	sg := s.signal(name)
	sg.n++
	d := sg.waits[sg.n]
	s.mu.Unlock()
	if d != nil {
		d.CompleteNow(effect.Void())
	}
}

func (s *stage) raising(name string) unit { return effect.SyncUnit(func() { s.raise(name) }) }

// count is how often name was raised.
func (s *stage) count(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.signal(name).n
}

// reached waits until name has been raised n times, and until what raised it has
// let go.
func (s *stage) reached(name string, n int) unit {
	return effect.Suspend(func() unit {
		s.mu.Lock()
		defer s.mu.Unlock()
		sg := s.signal(name)
		if sg.n >= n {
			return effect.YieldNow()
		}
		if sg.waits[n] == nil {
			sg.waits[n] = effect.NewDeferred[effect.Unit]()
		}
		return sg.waits[n].Await().AndThen(effect.YieldNow())
	})
}

// plays says what the activations of key do, one after the other.
func (s *stage) plays(key string, bodies ...unit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies[key] = bodies
}

func (s *stage) activate(key string) unit {
	s.mu.Lock()
	n := s.starts[key]
	s.starts[key]++
	body := effect.Void()
	if n < len(s.bodies[key]) {
		body = s.bodies[key][n]
	}
	s.mu.Unlock()
	s.raise("start " + key)
	return body
}

func (s *stage) onExit(exit lanes.ActivationExit) unit {
	return effect.SyncUnit(func() {
		s.mu.Lock()
		s.exits = append(s.exits, exit)
		s.mu.Unlock()
		s.raise("exit " + exit.Lane())
	})
}

func (s *stage) observe(e lanes.Event) {
	s.mu.Lock()
	s.events = append(s.events, e)
	s.mu.Unlock()
	s.raise(e.Kind.String() + " " + e.Key)
}

// held is an activation that waits to be stopped, with a finalizer; it raises
// "ready" once it has it.
func (s *stage) held(finalizer unit) unit {
	return effect.AddFinalizer(func(exit) unit { return finalizer }).
		AndThen(s.raising("ready")).AndThen(effect.Never[effect.Unit]())
}

// config is the stage's, with these limits.
func (s *stage) config(concurrent int) lanes.Config {
	return lanes.Config{
		MaxConcurrent: concurrent, Activate: s.activate, OnExit: s.onExit, Observe: s.observe,
		Logger: slog.New(slog.NewTextHandler(&lockedWriter{s: s}, nil)),
	}
}

type lockedWriter struct{ s *stage }

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	return w.s.log.Write(p)
}

func (s *stage) logged() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// pass lets d pass on the clock.
func (s *stage) pass(d time.Duration) unit {
	if s.serial {
		return effect.Sleep(d)
	}
	return effect.SyncUnit(func() { s.clock.advance(d) })
}

func (s *stage) equal(what string, got, want any) {
	s.t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		s.t.Errorf("%s: got %s, want %s", what, g, w)
	}
}

func (s *stage) started(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.starts[key]
}

// told is what OnExit heard, in words.
func (s *stage) told() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]string, 0, len(s.exits))
	for _, e := range s.exits {
		out = append(out, tell(e))
	}
	return out
}

func tell(e lanes.ActivationExit) string {
	switch e := e.(type) {
	case lanes.ActivationSucceeded:
		return e.Key + " succeeded"
	case lanes.ActivationFailed:
		return e.Key + " failed " + e.Cause.String()
	case lanes.ActivationInterrupted:
		return e.Key + " interrupted " + e.Reason.String()
	default:
		return fmt.Sprintf("%T", e)
	}
}

func (s *stage) happened() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]string, 0, len(s.events))
	for _, e := range s.events {
		out = append(out, e.Kind.String()+" "+e.Key)
	}
	return out
}

// scenario plays a program on a stage.
type scenario func(s *stage, do *effect.Do)

// everywhere plays the scenario in the effect order, in explored orders, on the serial
// runtime and in parallel.
func everywhere(t *testing.T, play scenario) {
	t.Helper()
	serially(t, play)
	t.Run("serial", func(t *testing.T) { onSerial(t, play) })
	t.Run("parallel", func(t *testing.T) { inParallel(t, play) })
}

func serially(t *testing.T, play scenario) {
	t.Helper()
	t.Run("effect order", func(t *testing.T) {
		deterministic(t, effect.DeterministicConfig{}, play)
	})
	t.Run("explore order", func(t *testing.T) {
		seeds := uint64(40)
		if raced {
			seeds = 4
		}
		for seed := range seeds {
			deterministic(t, exploring(seed), play)
			if t.Failed() {
				t.Fatalf("at seed %d", seed)
			}
		}
	})
}

// exploring explores with a seed; odd ones preempt.
func exploring(seed uint64) effect.DeterministicConfig {
	r := rand.New(rand.NewPCG(seed, 1))
	return effect.DeterministicConfig{Order: scope.ExploreOrder, Preempt: seed%2 == 1, Choose: r.IntN}
}

func deterministic(t *testing.T, o effect.DeterministicConfig, play scenario) {
	t.Helper()
	s := newStage(t, true)
	d := scope.NewDeterministic(o)
	out := effect.RunDeterministicOn(d, effect.Scoped(effect.GenUnit(func(do *effect.Do) { play(s, do) })))
	exit, ended := out.Exit.Get()
	if !ended {
		t.Errorf("the scenario never ended\n%s", out.Report)
	} else if exit.IsFailure() {
		t.Errorf("the scenario ended with %v", exit)
	}
	if len(out.Stuck) > 0 {
		t.Errorf("fibers are left behind\n%s", out.Report)
	}
	if n := d.Clock().(*scope.VirtualClock).Timers(); n > 0 {
		t.Errorf("%d timers are left behind", n)
	}
}

// onSerial plays by the live clock, which passes while nothing runs. A fiber that is left
// behind fails the test.
func onSerial(t *testing.T, play scenario) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, true)
		exit := effect.RunExitOn(context.Background(), scope.NewSerial(scope.OnClock(scope.NewLiveClock())),
			effect.Scoped(effect.GenUnit(func(do *effect.Do) { play(s, do) })))
		if exit.IsFailure() {
			t.Errorf("the scenario ended with %v", exit)
		}
	})
}

func inParallel(t *testing.T, play scenario) {
	t.Helper()
	s := newStage(t, false)
	exit := effect.RunExitOn(context.Background(), scope.NewParallel(scope.OnClock(s.clock)),
		effect.Scoped(effect.GenUnit(func(do *effect.Do) { play(s, do) })))
	if exit.IsFailure() {
		t.Errorf("the scenario ended with %v", exit)
	}
	if n := s.clock.timers(); n > 0 {
		t.Errorf("%d timers are left behind", n)
	}
}

// manualClock is a clock for parallel runs that a test moves.
type manualClock struct {
	mu  sync.Mutex
	now time.Duration
	set []*manualTimer
}

type manualTimer struct {
	clock *manualClock
	at    time.Duration
	fn    func()
}

func newManualClock() *manualClock { return &manualClock{} }

func (c *manualClock) Now() time.Time { return time.Unix(0, 0).Add(c.Monotonic()) }

func (c *manualClock) Monotonic() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *manualClock) AfterFunc(d time.Duration, fn func()) scope.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &manualTimer{clock: c, at: c.now + d, fn: fn}
	c.set = append(c.set, t)
	return t
}

func (t *manualTimer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	i := slices.Index(t.clock.set, t)
	if i >= 0 {
		t.clock.set = slices.Delete(t.clock.set, i, i+1)
	}
	return i >= 0
}

func (c *manualClock) timers() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.set)
}

func (c *manualClock) advance(d time.Duration) {
	c.mu.Lock()
	c.now += d
	var due []*manualTimer
	c.set = slices.DeleteFunc(c.set, func(t *manualTimer) bool {
		if t.at > c.now {
			return false
		}
		due = append(due, t)
		return true
	})
	c.mu.Unlock()
	for _, t := range due {
		t.fn()
	}
}

// ended tells whether a fiber has.
func ended[A any](fb *effect.Fiber[A]) bool {
	_, over := fb.Exited()
	return over
}
