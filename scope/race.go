package scope

import (
	"sync"

	"github.com/rivus/tether/internal/list"
)

// race is a race under way on the fiber that runs it.
type race struct {
	// mu guards the rest: on the parallel runtime racers end side by side.
	mu     sync.Mutex
	fibers list.List[*Fiber]
	ended  int
	done   bool
	winner int
	cause  *Cause
	lost   *Cause
}

// RaceOptions configures Race.
type RaceOptions struct {
	// First ends the race with the first racer that ends, however; otherwise
	// the first success wins, and only when all have failed the race does, with
	// all their causes.
	First bool
}

// Race runs n bodies as daemons beside f, starting them in order until one has
// won. The losers are interrupted and awaited before it returns. winner is the
// index of the body that decided, or -1 when all failed.
func (f *Fiber) Race(n int, body func(i int, f *Fiber) *Cause, o RaceOptions) (winner int, c *Cause) {
	r := &race{winner: -1}
	returned, mark := false, f.Mark()
	defer func() {
		if !returned && !f.Abandoned() {
			f.Unwound(mark)
			r.interruptLosers(f)
		}
	}()
	c = f.Guard(func() *Cause { return f.NoticeAfter(r.run(f, n, body, o)) })
	returned = true
	c = f.briefly(c, func(c *Cause) *Cause {
		return CombineFinalizer(c, f.Guard(func() *Cause { return r.interruptLosers(f) }))
	})
	// A racer that ended beside the interruption may still tell of itself.
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.winner, c
}

func (r *race) interruptLosers(f *Fiber) *Cause {
	r.mu.Lock()
	losers := r.fibers.Values()
	r.mu.Unlock()
	if len(losers) == 0 {
		return nil
	}
	return f.InterruptAll(losers)
}

func (r *race) run(f *Fiber, n int, body func(int, *Fiber) *Cause, o RaceOptions) *Cause {
	t := f.Arm()
	for i := range n {
		if o.First && r.over() {
			break
		}
		node := &list.Node[*Fiber]{Value: new(Fiber)}
		racer := node.Value
		f.Prepare(racer, func(f *Fiber) *Cause { return body(i, f) }, ForkOptions{Daemon: true, bound: true, Immediate: true})
		// The race looks at its end itself: a defect before the first park must not
		// count as unheard.
		racer.watched = true
		r.mu.Lock()
		r.fibers.Push(node)
		r.mu.Unlock()
		f.Start(racer, ForkOptions{Immediate: true})
		hear := func(*Fiber) { r.hear(t, i, n, node, o) }
		if !racer.Observe(NewObserver(hear)) {
			hear(racer)
		}
		if !o.First && r.over() {
			break
		}
	}
	p := f.Block(t, waitRace)
	switch {
	case p.Cause != nil:
		return p.Cause
	case !p.Slept:
		if c := f.takePending(); c != nil {
			return c
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cause
}

var waitRace = &Waiting{What: "a race"}

func (r *race) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done
}

// hear takes in that racer i ended.
func (r *race) hear(t Token, i, n int, node *list.Node[*Fiber], o RaceOptions) {
	c, _ := node.Value.Exited()
	r.mu.Lock()
	r.fibers.Remove(node)
	r.ended++
	wakes := false
	switch {
	case o.First || c == nil:
		if wakes = !r.done; wakes {
			r.done, r.winner, r.cause = true, i, c
		}
	default:
		r.lost = r.lost.Concat(c)
		if r.ended >= n && !r.done {
			r.cause = r.lost.ElectDefects()
			wakes = true
		}
	}
	r.mu.Unlock()
	if wakes {
		t.Wake()
	}
}
