package lease_test

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/samber/mo"
)

type unit = effect.Unit

const (
	ttl       = 60 * time.Second
	heartbeat = 15 * time.Second
	key       = "task:42"
)

var config = lease.Config{TTL: ttl, Heartbeat: heartbeat}

// process is a platform.Process of a simulated machine.
type process struct {
	self   platform.Identity
	failed error // what Self answers

	mu      sync.Mutex
	running map[int64]mo.Result[mo.Option[platform.Identity]]
	lookups int
}

func newProcess(pid int64) *process {
	p := &process{
		self:    platform.Identity{Host: "h", BootID: "b", PID: pid, StartTime: 100 + pid},
		running: map[int64]mo.Result[mo.Option[platform.Identity]]{},
	}
	p.running[pid] = mo.Ok(mo.Some(p.self))
	return p
}

func (p *process) PID() int64 { return p.self.PID }

func (p *process) Self() (platform.Identity, error) { return p.self, p.failed }

func (p *process) Identify(pid int64) (id platform.Identity, runs bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lookups++
	found, err := p.running[pid].Get()
	return found.OrEmpty(), found.IsPresent(), err
}

func (p *process) runs(id platform.Identity) { p.running[id.PID] = mo.Ok(mo.Some(id)) }

func holderOf(pid int64) lease.Holder { return lease.Holder{Identity: newProcess(pid).self} }

func record(generation, revision int64, h lease.Holder, id string) lease.Record {
	return lease.Record{Key: key, Generation: generation, Revision: revision, Holder: mo.Some(h), HolderID: mo.Some(id)}
}

// rounds is how often a stress test repeats: few times with -short, and under the race
// detector. There a round costs five to ten times as much and is to find data races,
// which show in any order of events. Orders that are rare are the plain run's to find.
func rounds(full, few int) int {
	if raced || testing.Short() {
		return few
	}
	return full
}

// plan is what a scripted repository does with one call.
type plan struct {
	before effect.Effect[unit] // runs first; zero: nothing
	skip   bool                // the call is not made
	after  effect.Effect[unit] // runs after the call; zero: nothing
	masked bool                // no interruption ends it
}

var (
	pass = plan{}
	hang = plan{before: effect.Never[unit]()}
)

func failBefore(err error) plan { return plan{before: effect.Fail[unit](err), skip: true} }
func failAfter(err error) plan  { return plan{after: effect.Fail[unit](err)} }
func slow(d time.Duration) plan { return plan{before: effect.Sleep(d)} }
func late(d time.Duration) plan { return plan{after: effect.Sleep(d)} }
func hangAfter() plan           { return plan{after: effect.Never[unit]()} }
func ioFailure() error {
	return &lease.RepositoryFailure{Key: key, Reason: lease.RepositoryIO, Message: "scripted"}
}

func busyFailure() error {
	return &lease.RepositoryFailure{Key: key, Reason: lease.RepositoryBusy, Message: "scripted"}
}

func reasonFailure(r lease.RepositoryReason) error {
	return &lease.RepositoryFailure{Key: key, Reason: r, Message: "scripted"}
}

// scripted is a memory repository whose calls go as planned.
type scripted struct {
	lease.Repository
	mu                   sync.Mutex
	loads, saves, fences int
	onLoad, onSave       func(n int) plan // n from 1
	onFence              func(n int) plan
	onSaved              func(lease.Record)
}

func newScripted() *scripted { return &scripted{Repository: lease.NewMemoryRepository()} }

func (s *scripted) next(n *int, on func(int) plan) plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	*n++
	if on == nil {
		return pass
	}
	return on(*n)
}

func follow[A any](p plan, e effect.Effect[A]) effect.Effect[A] {
	if p.skip {
		var zero A
		e = effect.Succeed(zero)
	}
	if !reflect.ValueOf(p.after).IsZero() {
		e = e.Tap(func(A) effect.Effect[unit] { return p.after })
	}
	if !reflect.ValueOf(p.before).IsZero() {
		e = p.before.AndThen(e)
	}
	if p.masked {
		e = e.Uninterruptible()
	}
	return e
}

func (s *scripted) Load(key string) effect.Effect[mo.Option[lease.Record]] {
	return effect.Suspend(func() effect.Effect[mo.Option[lease.Record]] {
		return follow(s.next(&s.loads, s.onLoad), s.Repository.Load(key))
	})
}

func (s *scripted) Save(key string, next lease.Record, expected mo.Option[int64]) effect.Effect[unit] {
	return effect.Suspend(func() effect.Effect[unit] {
		save := s.Repository.Save(key, next, expected)
		if s.onSaved != nil {
			save = save.Tap(func(unit) effect.Effect[unit] { return effect.SyncUnit(func() { s.onSaved(next) }) })
		}
		return follow(s.next(&s.saves, s.onSave), save)
	})
}

func (s *scripted) Fence(key string) effect.Effect[unit] {
	return effect.Suspend(func() effect.Effect[unit] { return follow(s.next(&s.fences, s.onFence), s.Repository.Fence(key)) })
}

// put stores r as another process would.
func put(r lease.Repository, rec lease.Record) effect.Effect[unit] {
	return r.Load(rec.Key).FlatMap(func(stored mo.Option[lease.Record]) effect.Effect[unit] {
		expected := mo.None[int64]()
		if old, ok := stored.Get(); ok {
			expected = mo.Some(old.Revision)
		}
		return r.Save(rec.Key, rec, expected)
	})
}

// world is a repository and a process, and managers on them.
type world struct {
	repo    lease.Repository
	process *process
	config  lease.Config

	mu     sync.Mutex
	events []lease.Event
}

func newWorld(r lease.Repository) *world {
	return &world{repo: r, process: newProcess(1), config: config}
}

func (w *world) manager() *lease.Manager { return w.managerOf(w.process) }

func (w *world) managerOf(p *process) *lease.Manager {
	c := w.config
	c.Observer = func(e lease.Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.events = append(w.events, e)
	}
	m, err := lease.NewManager(&platform.Platform{Process: p}, w.repo, c)
	if err != nil {
		panic(err)
	}
	return m
}

func (w *world) stored(do *effect.Do) lease.Record {
	return do.Await(w.repo.Load(key)).OrEmpty()
}

// simulate runs body as the main fiber, in a scope, on virtual time, and checks
// that it comes to its end.
func simulate(t *testing.T, body func(do *effect.Do)) effect.RunReport[unit] {
	t.Helper()
	return simulateWith(t, effect.DeterministicConfig{MaxSteps: 2_000_000}, body)
}

func simulateWith(t *testing.T, o effect.DeterministicConfig, body func(do *effect.Do)) effect.RunReport[unit] {
	t.Helper()
	out := effect.RunDeterministic(effect.Scoped(effect.GenUnit(body)), o)
	exit, ended := out.Exit.Get()
	if !ended {
		t.Fatalf("the program did not end:\n%s", out.Report)
	}
	if err := exit.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// in is e in a scope of its own.
func in[A any](e effect.Effect[A]) effect.Effect[A] { return effect.Scoped(e) }

// failure runs e and gives what it fails with.
func failure[A any](do *effect.Do, e effect.Effect[A]) error {
	return do.Await(effect.Exit(e)).Err()
}

// as is the failure as an E, or a panic that shows what it is.
func as[E error](err error) E {
	e, ok := errors.AsType[E](err)
	if !ok {
		panic(fmt.Sprintf("got %T (%v), want %T", err, err, e))
	}
	return e
}

func now(do *effect.Do) time.Duration { return do.Await(effect.Monotonic()) }

func expect(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func isZero(e effect.Effect[unit]) bool { return reflect.ValueOf(e).IsZero() }

func platformOf(w *world) effect.Layer {
	return platform.Service.Of(&platform.Platform{Process: w.process})
}

func platformOS() *platform.Platform { return platform.OS() }
