package scope

import "iter"

// coroutine is a goroutine that hands over instead of running beside. It runs
// one fiber's body after the other, since making one costs several times what
// switching to it does.
type coroutine struct {
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
	fiber *Fiber
	// where is the stack of the fiber while it is parked.
	where []uintptr
	// dying: a Goexit runs through it. It is not resumed any more.
	dying bool
}

func (d *Deterministic) acquireCoroutine() *coroutine {
	if n := len(d.idle); n > 0 {
		co := d.idle[n-1]
		d.idle = d.idle[:n-1]
		return co
	}
	co := new(coroutine)
	co.next, co.stop = iter.Pull(func(yield func(struct{}) bool) {
		co.yield = yield
		finished := false
		// iter.Pull would pass a Goexit on to whoever resumed this coroutine, so
		// a dying one hands over once more and is stopped from elsewhere.
		defer func() {
			if !finished && !d.abandoned {
				co.dying = true
				d.dying = append(d.dying, co)
				yield(struct{}{})
			}
		}()
		for {
			co.fiber.runBody()
			co.fiber = nil
			d.idle = append(d.idle, co)
			if !yield(struct{}{}) {
				finished = true
				return
			}
		}
	})
	return co
}

// resume runs f until it parks or ends.
func (d *Deterministic) resume(f *Fiber) {
	f.host.co.next()
}
