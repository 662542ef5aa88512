package main

import (
	"context"
	"runtime"
	"sync"

	"github.com/sourcegraph/conc/pool"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/rivus/tether/effect"
)

// pingPong has two fibers that wake each other, with a fresh Deferred for every
// message, each way.
func pingPong(do *effect.Do, n int, _ Timer) {
	type unit = effect.Unit
	type turn struct{ pong, next *effect.Deferred[unit] }
	var slot turn
	ping := effect.NewDeferred[unit]()
	first := ping
	echo := do.Await(effect.ForkChild(effect.GenUnit(func(do *effect.Do) {
		ping := first
		for range n {
			do.Await(ping.Await())
			now := slot
			ping = now.next
			do.Await(now.pong.Succeed(unit{}))
		}
	})))
	for range n {
		now := turn{effect.NewDeferred[unit](), effect.NewDeferred[unit]()}
		slot = now
		do.Await(ping.Succeed(unit{}))
		do.Await(now.pong.Await())
		ping = now.next
	}
	do.Await(echo.Join())
}

func goPingPong() (Work, func()) {
	return func(n int, _ Timer) {
		type turn struct{ pong, next chan struct{} }
		var slot turn
		ping := make(chan struct{})
		done := make(chan struct{})
		go func(ping chan struct{}) {
			defer close(done)
			for range n {
				<-ping
				now := slot
				ping = now.next
				close(now.pong)
			}
		}(ping)
		for range n {
			now := turn{make(chan struct{}), make(chan struct{})}
			slot = now
			close(ping)
			<-now.pong
			ping = now.next
		}
		<-done
	}, nil
}

const (
	waiters = 100
	turns   = 10
)

func contended() effect.Effect[effect.Unit] {
	return effect.GenUnit(func(do *effect.Do) {
		turn := effect.NewSemaphore(4).WithPermits(1, effect.YieldNow())
		worker := effect.GenUnit(func(do *effect.Do) {
			for range turns {
				do.Await(turn)
			}
		})
		fibers := make([]*effect.Fiber[effect.Unit], waiters)
		for i := range fibers {
			fibers[i] = do.Await(effect.ForkChild(worker))
		}
		do.Await(effect.JoinAll(fibers...))
	})
}

// withPermit gives the permit back whatever happens, as WithPermits does.
func withPermit(ctx context.Context, s *semaphore.Weighted, work func()) {
	check(s.Acquire(ctx, 1))
	defer s.Release(1)
	work()
}

func goContended(ctx context.Context) {
	s := semaphore.NewWeighted(4)
	var all sync.WaitGroup
	for range waiters {
		all.Go(func() {
			for range turns {
				withPermit(ctx, s, runtime.Gosched)
			}
		})
	}
	all.Wait()
}

func syncs() Group {
	ctx := cancellable()
	free := semaphore.NewWeighted(1)
	return Group{"Deferred and Semaphore", []Row{
		{
			Name: "deferred", Work: "`Deferred` ping-pong, fresh ones for every message", Unit: "round trip",
			Floor: "Effects are values: `Succeed` and `Await` are made anew for each message. Both sides switch goroutines twice in a round trip, which is the floor.",
			Ours:  inFiber(pingPong),
			Against: []Reference{
				Subject{Name: "a fresh channel closed per message, each way", Open: goPingPong}.goal(1),
				node("pingPong", 0),
			},
		},
		{
			Name: "semaphore-free", Work: "`Semaphore`: a free permit", Unit: "`WithPermits`",
			Floor: "`WithPermits` is a mask, an interruptible part inside it and a bracket that recovers; x/sync/semaphore locks a mutex twice.",
			Ours:  tether(effect.NewSemaphore(1).WithPermits(1, effect.Succeed(1))),
			Against: []Reference{
				node("permit", 0.2),
				repeat("x/sync/semaphore, released by a defer", func() { withPermit(ctx, free, func() {}) }).goal(1),
			},
		},
		{
			Name: "semaphore-contended", Work: "`Semaphore`: 100 fibers on 4 permits, each 10 times, yielding while it holds one", Unit: "`WithPermits`",
			Ours: tether(contended()).counted(waiters * turns),
			Against: []Reference{
				node("contended", 0.2),
				repeat("x/sync/semaphore, goroutines, `Gosched`", func() { goContended(ctx) }).counted(waiters * turns).goal(1),
			},
		},
	}}
}

func forEach() Group {
	const size, limit = 1000, 4
	items := make([]int, size)
	for i := range items {
		items[i] = i
	}
	out := make([]int, size)
	return Group{"Collections", []Row{{
		Name: "forEach", Work: "`ForEach` of 1,000 sync items, concurrency 4", Unit: "item",
		Floor: "Each item has a fiber of its own, which can be interrupted, and a place among the results; the others call a function on one of four goroutines, or on one of its own.",
		Ours: tether(effect.ForEach(items, func(x, _ int) effect.Effect[int] {
			return effect.Sync(func() int { return x * 2 })
		}, limit)).counted(size),
		Against: []Reference{
			repeat("conc's `pool` with `WithMaxGoroutines`", func() {
				p := pool.New().WithMaxGoroutines(limit)
				for i, x := range items {
					p.Go(func() { out[i] = x * 2 })
				}
				p.Wait()
			}).counted(size).goal(0.3),
			repeat("errgroup with `SetLimit`", func() {
				var g errgroup.Group
				g.SetLimit(limit)
				for i, x := range items {
					g.Go(func() error { out[i] = x * 2; return nil })
				}
				check(g.Wait())
			}).counted(size).goal(0.3),
			node("forEach", 0.6),
		},
	}}}
}
