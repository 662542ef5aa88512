package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rivus/tether/effect"
)

// Memory is measured in a fresh process each time: in one that has run before,
// stacks and goroutines of the past are used again and seem to cost nothing.

// hold makes one of something for each key, and gives what must be kept while it is
// weighed. The keys' own memory does not count.
type hold func(keys []string) (keep any)

var holds = map[string]hold{
	"fiber":             holdFibers,
	"goroutine":         holdGoroutines,
	"goroutine+context": holdCancellable,
}

// weighed is the subject whose quantity is the bytes for each of count, in heap and
// stacks.
func weighed(name, held string, count int) Subject {
	return Subject{Name: name, Measure: func() float64 {
		out, err := exec.Command(must(os.Executable()), "-weigh", held, "-count", strconv.Itoa(count)).Output()
		check(err)
		return must(strconv.ParseFloat(strings.TrimSpace(string(out)), 64))
	}}
}

// weigh is the body of that process.
func weigh(name string, count int) {
	keys := keysOf(count)
	holds[name](keys[:1])
	before := inUse()
	keep := holds[name](keys)
	fmt.Println(float64(inUse()-before) / float64(count))
	runtime.KeepAlive(keep)
	runtime.KeepAlive(keys)
}

func inUse() int64 {
	// A second time, for what the first one's sweeping freed and what finalizers
	// held.
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// settle waits until all have started and had the time to park.
func settle(started *atomic.Int64, count int) {
	for started.Load() < int64(count) {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond)
}

func holdFibers(keys []string) any {
	count := len(keys)
	var started atomic.Int64
	end := effect.NewDeferred[effect.Unit]()
	park := effect.SyncUnit(func() { started.Add(1) }).AndThen(end.Await())
	main := effect.RunFork(context.Background(), effect.GenUnit(func(do *effect.Do) {
		for range count {
			do.Await(effect.ForkChild(park))
		}
		do.Await(end.Await())
	}))
	settle(&started, count)
	return main
}

func holdGoroutines(keys []string) any {
	count := len(keys)
	var started atomic.Int64
	end := make(chan struct{})
	for range count {
		go func() {
			started.Add(1)
			<-end
		}()
	}
	settle(&started, count)
	return end
}

func holdCancellable(keys []string) any {
	count := len(keys)
	var started atomic.Int64
	parent, end := context.WithCancel(context.Background())
	kept := make([]any, count)
	for i := range count {
		ctx, cancel := context.WithCancel(parent)
		done := make(chan struct{})
		kept[i] = struct {
			cancel func()
			done   chan struct{}
		}{cancel, done}
		go func() {
			defer close(done)
			started.Add(1)
			<-ctx.Done()
		}()
	}
	settle(&started, count)
	return []any{end, kept}
}

func memory() Group {
	const count = 100_000
	return Group{"Memory", []Row{{
		Name: "memory-fiber", Work: "a parked fiber (of 100,000 that await a `Deferred`)", Unit: "fiber, in bytes",
		Floor: "The stack and the runtime's record of a goroutine are the floor; what is above is the fiber itself.",
		Ours:  weighed("tether", "fiber", count),
		Against: []Reference{
			weighed("a goroutine parked on a channel", "goroutine", count).goal(1.15),
			weighed("a goroutine with a context of its own and a done channel", "goroutine+context", count).goal(0),
		},
	}}}
}
