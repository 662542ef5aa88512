package scope

import "sync"

// race is a race under way on the fiber that runs it.
type race struct {
	n     int
	body  func(i int, f *Fiber) *Cause
	first bool
	token Token

	// mu guards the rest: on the parallel runtime racers end side by side.
	mu     sync.Mutex
	living childList
	ended  int
	done   bool
	winner int
	cause  *Cause
	lost   []Reason
	// missed are racers whose defects nobody has looked at so far, and left tells that
	// nobody will: the race goes on with what it has.
	missed []*racer
	left   bool
	// pair is room for the racers of the usual race.
	pair [2]racer
}

// racer is one body in a race.
type racer struct {
	fiber Fiber
	end   Observer
	in    *race
	i     int
}

// Run implements Body.
func (r *racer) Run(f *Fiber) *Cause { return r.in.body(r.i, f) }

// Ended implements Listener.
func (r *racer) Ended(*Fiber) { r.in.hear(r) }

// RaceConfig configures Race.
type RaceConfig struct {
	// First ends the race with the first racer that ends, however; otherwise
	// the first success wins, and only when all have failed the race does, with
	// all their causes.
	First bool
}

// Race runs n bodies as daemons beside f, starting them in order until one has
// won. The losers are interrupted and awaited before it returns. winner is the
// index of the body that decided, or -1 when all failed.
func (f *Fiber) Race(n int, body func(i int, f *Fiber) *Cause, o RaceConfig) (winner int, c *Cause) {
	r := &race{n: n, body: body, first: o.First, winner: -1}
	returned, mark := false, f.Mark()
	defer func() {
		if !returned && !f.Abandoned() {
			f.Unwound(mark)
			r.interruptLosers(f)
		}
	}()
	c = f.Guard(func() *Cause { return f.NoticeAfter(r.run(f)) })
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
	losers := r.living.snapshot()
	r.left = true
	missed := r.takeMissed()
	r.mu.Unlock()
	unheardEach(missed)
	if len(losers) == 0 {
		return nil
	}
	return f.InterruptAll(losers)
}

func (r *race) run(f *Fiber) *Cause {
	r.token = f.Arm()
	racers := r.pair[:]
	if r.n > len(racers) {
		racers = make([]racer, r.n)
	}
	for i := range r.n {
		if r.first && r.over() {
			break
		}
		it := &racers[i]
		it.in, it.i = r, i
		it.end.Init(it)
		f.Prepare(&it.fiber, it, ForkConfig{Daemon: true, bound: true, Immediate: true})
		// The race looks at its end itself: a defect before the first park must not
		// count as unheard.
		it.fiber.watched = true
		r.mu.Lock()
		r.living.add(&it.fiber)
		r.mu.Unlock()
		f.Start(&it.fiber, ForkConfig{Immediate: true})
		if !it.fiber.Observe(&it.end) {
			r.hear(it)
		}
		if !r.first && r.over() {
			break
		}
	}
	p := f.Block(r.token, waitRace)
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

func (r *race) takeMissed() []*racer {
	missed := r.missed
	r.missed = nil
	return missed
}

func unheardEach(missed []*racer) {
	for _, it := range missed {
		c, _ := it.fiber.Exited()
		it.fiber.rt.unheard(&it.fiber, c)
	}
}

// hear takes in that a racer ended.
func (r *race) hear(it *racer) {
	c, _ := it.fiber.Exited()
	r.mu.Lock()
	r.living.remove(&it.fiber)
	r.ended++
	wakes := false
	if c.HasDies() && (r.done || r.left || !r.first) {
		r.missed = append(r.missed, it)
	}
	switch {
	case r.first || c == nil:
		if wakes = !r.done; wakes {
			r.done, r.winner, r.cause = true, it.i, c
		}
	default:
		r.lost = append(r.lost, c.Reasons()...)
		if r.ended >= r.n && !r.done {
			r.cause = CauseFromReasons(r.lost...).ElectDefects()
			wakes = true
			if !r.left {
				r.missed = nil // the race's own cause has them
			}
		}
	}
	var missed []*racer
	if r.done || r.left {
		missed = r.takeMissed()
	}
	r.mu.Unlock()
	unheardEach(missed)
	if wakes {
		r.token.Wake()
	}
}
