package main

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

var one = effect.Sync(func() int { return 1 })

// goForkJoin is a goroutine that can be cancelled and is awaited.
func goForkJoin() (Work, func()) {
	parent, cancel := context.WithCancel(context.Background())
	return func(n int, _ Timer) {
		sum := 0
		for range n {
			ctx, cancel := context.WithCancel(parent)
			done := make(chan struct{})
			value := 0
			go func() {
				if ctx.Err() == nil {
					value = 1
				}
				close(done)
			}()
			<-done
			cancel()
			sum += value
		}
		assert(sum == n, "every goroutine ran")
	}, cancel
}

// forkMany forks so many fibers and joins all.
func forkMany(count int) effect.Effect[[]int] {
	return effect.Gen(func(do *effect.Do) []int {
		fibers := make([]*effect.Fiber[int], count)
		for i := range fibers {
			fibers[i] = do.Await(effect.ForkChild(effect.Sync(func() int { return i })))
		}
		return do.Await(effect.JoinAll(fibers...))
	})
}

// cancellable is a context that nobody cancels, for references that must look all
// the same.
func cancellable() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	_ = cancel
	return ctx
}

func goForkMany(count int) func() {
	parent := cancellable()
	return func() {
		values := make([]int, count)
		cancels := make([]func(), count)
		var all sync.WaitGroup
		for i := range count {
			ctx, cancel := context.WithCancel(parent)
			cancels[i] = cancel
			all.Add(1)
			go func() {
				defer all.Done()
				if ctx.Err() == nil {
					values[i] = i
				}
			}()
		}
		all.Wait()
		for _, cancel := range cancels {
			cancel()
		}
	}
}

// interruptMany forks so many fibers with a finalizer, lets all of them park, and
// interrupts and awaits one after the other. Between the two it calls parked.
func interruptMany(count int, parked func()) effect.Effect[effect.Unit] {
	return effect.GenUnit(func(do *effect.Do) {
		var started, cleaned atomic.Int64
		work := effect.SyncUnit(func() { started.Add(1) }).AndThen(effect.Never[effect.Unit]()).
			Ensuring(effect.SyncUnit(func() { cleaned.Add(1) }))
		fibers := make([]*effect.Fiber[effect.Unit], count)
		for i := range fibers {
			fibers[i] = do.Await(effect.ForkChild(work))
		}
		for started.Load() < int64(count) {
			runtime.Gosched()
		}
		parked()
		for _, fiber := range fibers {
			do.Await(fiber.Interrupt())
		}
		assert(cleaned.Load() == int64(count), "every fiber was cleaned up")
	})
}

func goInterruptMany(count int, parked func()) {
	parent, cancel := context.WithCancel(context.Background())
	defer cancel()
	var started, cleaned atomic.Int64
	type routine struct {
		cancel func()
		done   chan struct{}
	}
	routines := make([]routine, count)
	for i := range routines {
		ctx, cancel := context.WithCancel(parent)
		done := make(chan struct{})
		routines[i] = routine{cancel, done}
		go func() {
			defer close(done)
			defer cleaned.Add(1)
			started.Add(1)
			<-ctx.Done()
		}()
	}
	for started.Load() < int64(count) {
		runtime.Gosched()
	}
	parked()
	for _, r := range routines {
		r.cancel()
		<-r.done
	}
	assert(cleaned.Load() == int64(count), "every goroutine was cleaned up")
}

func fibers() Group {
	ready := effect.Succeed(1)
	const many, batch = 10_000, 100
	fork := effect.ForkChild(one).FlatMap(func(f *effect.Fiber[int]) effect.Effect[int] { return f.Join() })
	return Group{"Fibers", []Row{
		{
			Name: "fork-join", Work: "fork + join, one at a time", Unit: "fiber",
			Floor: "Both start a goroutine and switch to it and back; a fiber is heavier by its exit, its place among the children, and the observer of who joins.",
			Ours:  tether(fork),
			Against: []Reference{
				Subject{Name: "`context.WithCancel(parent)` + goroutine + done channel", Open: goForkJoin}.goal(1),
				node("forkJoin", 0),
			},
		},
		{
			Name: "fork-10000", Work: "fork 10,000, join all", Unit: "fiber",
			Ours: tether(forkMany(many)).counted(many),
			Against: []Reference{
				node("forkMany", 0.7),
				repeat("`context.WithCancel(parent)` + goroutine each, `WaitGroup`", goForkMany(many)).counted(many).goal(0),
			},
		},
		{
			Name: "race-first", Work: "`RaceFirst` of two ready effects", Unit: "race",
			Floor:   "The first racer is a goroutine that the race waits for; TypeScript runs it in the loop that it is in.",
			Ours:    tether(ready.RaceFirst(effect.Succeed(2))),
			Against: []Reference{node("raceFirst", 0.8)},
		},
		{
			Name: "timeout", Work: "`Timeout` of a ready effect", Unit: "timeout",
			Ours:    tether(ready.Timeout(time.Minute)),
			Against: []Reference{node("timeout", 0.8)},
		},
		{
			Name: "interrupt", Work: "interrupt a parked fiber with a finalizer: 100 are forked and park, then each is interrupted and awaited", Unit: "fiber",
			Floor: "Both start, park, wake and end a goroutine, and wait for its end, which is most of it; the mask around the finalizer, the cause and the two effects of the interruption come on top.",
			Ours:  tether(interruptMany(batch, func() {})).counted(batch),
			Against: []Reference{
				repeat("goroutine + cancelled context + deferred cleanup + join", func() { goInterruptMany(batch, func() {}) }).counted(batch).goal(1),
				node("interrupt", 0),
			},
		},
	}}
}

// closers is what Go code without scopes has: a list of what to close.
type closers struct {
	mu  sync.Mutex
	fns []func() error
}

func (c *closers) add(fn func() error) {
	c.mu.Lock()
	c.fns = append(c.fns, fn)
	c.mu.Unlock()
}

func (c *closers) close() (first error) {
	c.mu.Lock()
	fns := c.fns
	c.fns = nil
	c.mu.Unlock()
	for i := len(fns) - 1; i >= 0; i-- {
		if err := fns[i](); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func scopes() Group {
	const finalizers = 100
	count := 0
	goClosers := repeat("a mutex-guarded slice of closers", func() {
		var c closers
		for range finalizers {
			c.add(func() error { count++; return nil })
		}
		check(c.close())
	}).counted(finalizers)
	direct := inFiber(func(do *effect.Do, n int, _ Timer) {
		do.Await(effect.Direct(func(f *scope.Fiber) (effect.Unit, *scope.Cause) {
			for range n {
				s := scope.New(scope.Sequential)
				for range finalizers {
					s.Add(f, func(*scope.Fiber, scope.Exit[any]) *scope.Cause { count++; return nil })
				}
				if c := s.Close(f, scope.ExitSucceed[any](nil)); c != nil {
					return effect.Unit{}, c
				}
			}
			return effect.Unit{}, nil
		}))
	}).counted(finalizers)
	effects := inFiber(func(do *effect.Do, n int, _ Timer) {
		for range n {
			s := scope.New(scope.Sequential)
			for range finalizers {
				do.Await(effect.AddFinalizerTo(s, func(scope.Exit[any]) effect.Effect[effect.Unit] { return effect.Void() }))
			}
			do.Await(effect.CloseScope(s, scope.ExitSucceed(0)))
		}
	}).counted(finalizers)
	return Group{"Scopes", []Row{
		{
			Name: "scope-1", Work: "scope with 1 `AcquireRelease`", Unit: "scope",
			Ours: tether(effect.Scoped(effect.AcquireRelease(effect.Succeed(1),
				func(int, scope.Exit[any]) effect.Effect[effect.Unit] { return effect.Void() }))),
			Against: []Reference{node("scopeOne", 0.1)},
		},
		{
			Name: "scope-100", Work: "scope with 100 finalizers, direct style (`Scope.Add`)", Unit: "finalizer",
			Floor:   "A finalizer gets a fiber and an exit, runs guarded, and its panics and failures are collected; a closer is called.",
			Ours:    direct,
			Against: []Reference{node("finalizers", 0.1), goClosers.goal(1.5)},
		},
		{
			Name: "scope-100-effects", Work: "the same by effects in a `Gen` (`AddFinalizerTo`)", Unit: "finalizer",
			Floor:   "An effect is made and evaluated for each finalizer that is added, and one for each that runs.",
			Ours:    effects,
			Against: []Reference{node("finalizers", 0.1)},
		},
	}}
}
