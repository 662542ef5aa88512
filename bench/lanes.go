package main

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"

	"k8s.io/client-go/util/workqueue"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/lanes"
	"github.com/rivus/tether/scope"
)

const slots = 4

func keysOf(count int) []string {
	keys := make([]string, count)
	for i := range keys {
		keys[i] = "room:" + strconv.Itoa(i)
	}
	return keys
}

// load keeps lanes saturated. Keys have partners, and one of each two is woken at
// first; each activation wakes the partner's key, which is idle then or just ending,
// until there were rounds activations a key in all. A single key is its own partner.
type load struct {
	keys        []string
	wakes, left atomic.Int64
	end         chan struct{}
}

func newLoad(keys []string, rounds int) *load {
	l := &load{keys: keys, end: make(chan struct{})}
	total := int64(len(keys)) * int64(rounds)
	l.wakes.Store(total - int64(l.pairs()))
	l.left.Store(total)
	return l
}

func (l *load) pairs() int { return (len(l.keys) + 1) / 2 }

// first are the keys that are woken to begin with.
func (l *load) first(wake func(i int)) {
	for i := range l.pairs() {
		wake(2 * i)
	}
}

// next tells an activation of keys[i] what to wake, if anything.
func (l *load) next(i int) (partner int, ok bool) {
	return min(i^1, len(l.keys)-1), l.wakes.Add(-1) >= 0
}

func indexOf(key string) int { return must(strconv.Atoi(key[len("room:"):])) }

// ended counts an activation.
func (l *load) ended() {
	if l.left.Add(-1) == 0 {
		close(l.end)
	}
}

// saturatedLanes is the work of waking and activating so many keys.
func saturatedLanes(count int) Subject {
	return Subject{Name: "tether", Per: count, Open: func() (Work, func()) {
		keys := keysOf(count)
		return func(n int, _ Timer) {
			must(effect.Run(context.Background(), effect.Scoped(effect.GenUnit(func(do *effect.Do) {
				runLanes(do, keys, n)
			}))))
		}, nil
	}}
}

// runLanes gives the board when every key had its activations.
func runLanes(do *effect.Do, keys []string, rounds int) *lanes.Lanes {
	l := newLoad(keys, rounds)
	var board *lanes.Lanes
	board = do.Await(lanes.Make(lanes.Config{
		MaxConcurrent: slots,
		Activate: func(key string) effect.Effect[effect.Unit] {
			return effect.Direct(func(f *scope.Fiber) (effect.Unit, *scope.Cause) {
				if partner, ok := l.next(indexOf(key)); ok {
					must(board.WakeNow(f, keys[partner]))
				}
				l.ended()
				return effect.Unit{}, nil
			})
		},
	}))
	do.Await(effect.Direct(func(f *scope.Fiber) (effect.Unit, *scope.Cause) {
		l.first(func(i int) { must(board.WakeNow(f, keys[i])) })
		<-l.end
		return effect.Unit{}, nil
	}))
	return board
}

func saturatedQueue(count int) Subject {
	return Subject{Name: "client-go workqueue, 4 workers", Per: count, Open: func() (Work, func()) {
		keys := keysOf(count)
		return func(n int, _ Timer) { runQueue(keys, n).ShutDown() }, nil
	}}
}

func runQueue(keys []string, rounds int) *workqueue.Typed[string] {
	l := newLoad(keys, rounds)
	queue := workqueue.NewTyped[string]()
	for range slots {
		go func() {
			for {
				key, down := queue.Get()
				if down {
					return
				}
				if partner, ok := l.next(indexOf(key)); ok {
					queue.Add(keys[partner])
				}
				queue.Done(key)
				l.ended()
			}
		}()
	}
	l.first(func(i int) { queue.Add(keys[i]) })
	<-l.end
	return queue
}

// goroutinePerKey has a standing goroutine for each key, which waits to be woken
// and then for one of the slots. Making them is not timed.
func goroutinePerKey(count int) Subject {
	return Subject{Name: "a goroutine per key with a semaphore", Per: count, Open: func() (Work, func()) {
		keys := keysOf(count)
		return func(n int, t Timer) {
			t.StopTimer()
			l := newLoad(keys, n)
			semaphore := make(chan struct{}, slots)
			wakes := make([]chan struct{}, len(keys))
			for i := range wakes {
				wakes[i] = make(chan struct{}, 1)
				go func() {
					for range wakes[i] {
						semaphore <- struct{}{}
						if partner, ok := l.next(i); ok {
							wake(wakes[partner])
						}
						<-semaphore
						l.ended()
					}
				}()
			}
			t.StartTimer()
			l.first(func(i int) { wake(wakes[i]) })
			<-l.end
			t.StopTimer()
			for _, w := range wakes {
				close(w)
			}
		}, nil
	}}
}

// wake is coalesced when the key was woken already.
func wake(w chan struct{}) {
	select {
	case w <- struct{}{}:
	default:
	}
}

// coalesced wakes a key that is queued already.
func coalesced(again func(do *effect.Do, board *lanes.Lanes, key string, n int)) Subject {
	return Subject{Name: "tether", Open: func() (Work, func()) {
		return func(n int, t Timer) {
			t.StopTimer()
			must(effect.Run(context.Background(), effect.Scoped(effect.GenUnit(func(do *effect.Do) {
				board := do.Await(lanes.Make(lanes.Config{
					MaxConcurrent: 1, Activate: func(string) effect.Effect[effect.Unit] { return effect.Never[effect.Unit]() },
				}))
				do.Await(board.Wake("running"))
				do.Await(board.Wake("queued"))
				t.StartTimer()
				again(do, board, "queued", n)
				t.StopTimer()
			}))))
		}, nil
	}}
}

func queueAdd() (Work, func()) {
	queue := workqueue.NewTyped[string]()
	queue.Add("queued")
	return func(n int, _ Timer) {
		for range n {
			queue.Add("queued")
		}
	}, queue.ShutDown
}

func saturated(keys int, title string) Row {
	return Row{
		Name: fmt.Sprintf("lanes-%d", keys),
		Work: "lanes: wake to activation, saturated, 4 slots, " + title, Unit: "activation",
		Floor: "An activation is a fiber with a scope of its own, that can be interrupted; the others call a function on a goroutine that stands by.",
		Ours:  saturatedLanes(keys),
		Against: []Reference{
			saturatedQueue(keys).goal(2),
			goroutinePerKey(keys).goal(1),
		},
	}
}

func init() {
	holds["lanes idle"] = func(keys []string) any {
		idle := make(chan *lanes.Lanes)
		main := inScope(func(do *effect.Do) { idle <- runLanes(do, keys, 1) })
		return []any{main, <-idle}
	}
	holds["queue idle"] = func(keys []string) any { return runQueue(keys, 1) }
	holds["lanes queued"] = func(keys []string) any {
		queued := make(chan struct{})
		main := inScope(func(do *effect.Do) {
			board := do.Await(lanes.Make(lanes.Config{
				MaxConcurrent: 1, Activate: func(string) effect.Effect[effect.Unit] { return effect.Never[effect.Unit]() },
			}))
			for _, key := range keys {
				do.Await(board.Wake(key))
			}
			close(queued)
		})
		<-queued
		return main
	}
	holds["queue queued"] = func(keys []string) any {
		queue := workqueue.NewTyped[string]()
		for _, key := range keys {
			queue.Add(key)
		}
		return queue
	}
}

// inScope starts a fiber that does body and then keeps its scope open.
func inScope(body func(do *effect.Do)) *effect.Fiber[effect.Unit] {
	return effect.RunFork(context.Background(), effect.Scoped(effect.GenUnit(func(do *effect.Do) {
		body(do)
		do.Await(effect.Never[effect.Unit]())
	})))
}

func lanesGroup() Group {
	const weighedKeys = 1_000_000
	direct := coalesced(func(do *effect.Do, board *lanes.Lanes, key string, n int) {
		do.Await(effect.Direct(func(f *scope.Fiber) (effect.Unit, *scope.Cause) {
			for range n {
				must(board.WakeNow(f, key))
			}
			return effect.Unit{}, nil
		}))
	})
	effects := coalesced(func(do *effect.Do, board *lanes.Lanes, key string, n int) {
		wake := board.Wake(key)
		for range n {
			do.Await(wake)
		}
	})
	add := Subject{Name: "client-go workqueue, `Add` of a known key", Open: queueAdd}
	return Group{"Lanes", []Row{
		{
			Name: "lanes-coalesced", Work: "lanes: coalesced wake, direct style (`WakeNow`)", Unit: "wake", NoAllocs: true,
			Floor: "Both lock a mutex and look the key up in a map.",
			Ours:  direct, Against: []Reference{add.goal(1)},
		},
		{
			Name: "lanes-coalesced-effect", Work: "lanes: coalesced wake, `Await` of a `Wake` made once", Unit: "wake", NoAllocs: true,
			Floor: "Both lock a mutex and look the key up in a map; evaluating an effect comes on top.",
			Ours:  effects, Against: []Reference{add.goal(1)},
		},
		saturated(1, "1 key"),
		saturated(1000, "1,000 keys"),
		saturated(100_000, "100,000 keys"),
		{
			Name: "lanes-memory-idle", Work: "lanes: memory per idle key, after 1,000,000 were active", Unit: "key, in bytes",
			Ours: weighed("tether", "lanes idle", weighedKeys),
			Against: []Reference{
				{Subject: weighed("client-go workqueue", "queue idle", weighedKeys), Goal: 0.5, Absolute: true},
			},
		},
		{
			Name: "lanes-memory-queued", Work: "lanes: memory per queued key, of 1,000,000", Unit: "key, in bytes",
			Ours:    weighed("tether", "lanes queued", weighedKeys),
			Against: []Reference{weighed("client-go workqueue", "queue queued", weighedKeys).goal(0)},
		},
	}}
}
