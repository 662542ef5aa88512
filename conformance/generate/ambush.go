package generate

import "fmt"

// ambush gives two fibers bodies that meet: one waits for what the other does, and strikes back at it the moment it wakes,
// that is from inside the other's own call. Around both stand regions, handlers and finalizers. Free generation seldom gets
// two fibers this close, and most rules of the kernel are about just that moment.
func (g *generator) ambush(waiter, waker string, depth int) (waits, wakes any) {
	at := place{depth: depth}
	forWaiter, forWaker := at.forked(waiter), at.forked(waker)
	wait, wake := g.meeting(waiter, waker)
	after := op("seq", wait, g.strike(waker, forWaiter))
	if g.percent(60) {
		after = append(after, g.log())
	}
	before := op("seq")
	if g.percent(60) {
		before = append(before, pick(g.random, op("yield"), op("yield"), op("sleep", g.ms()), g.log()))
	}
	before = append(before, g.wrapped(wake, g.between(0, 3), forWaker), g.log())
	if g.percent(30) {
		before = append(before, g.expr(forWaker.in(2)))
	}
	return g.wrapped(after, g.between(0, 3), forWaiter), g.wrapped(before, g.between(0, 2), forWaker)
}

// meeting is a pair of a wait and what ends it.
func (g *generator) meeting(waiter, waker string) (wait, wake any) {
	d := pick(g.random, g.deferreds...)
	s := pick(g.random, g.semaphores...)
	cases := 9
	if waker == "" {
		// No fiber to wait for or to interrupt.
		cases = 4
	}
	switch g.below(cases) {
	case 0:
		return op("qTake", "q"), op("qOffer", "q", num(g.below(5)))
	case 1:
		return op("lAwait", "l0"), op(pick(g.random, "lOpen", "lRelease"), "l0")
	case 2:
		return op("seq", op("take", s, num(1)), op("take", s, num(1))), op("release", s, num(1))
	case 3:
		return op("dAwait", d), op(pick(g.random, "dComplete", "dInto", "dDone"), d, op("succeed", num(1)))
	case 4:
		return op(pick(g.random, "await", "join"), waker), g.log()
	case 5:
		return op("onInterrupt", op("never"), g.log()), op(pick(g.random, "signal", "interruptFiber"), waiter)
	default:
		return op("dAwait", d), op("dDone", d, pick(g.random, op("succeed", num(2)), op("succeed", num(2)), g.exit()))
	}
}

// strike is what the woken fiber does to its waker, or to a third.
func (g *generator) strike(waker string, at place) any {
	switch g.below(10) {
	case 0, 1, 2, 3:
		return op("signal", waker)
	case 4:
		return op("interruptFiber", waker)
	case 5:
		return op("interruptAll", []any{pick(g.random, g.fibers...), waker})
	case 6:
		return op("scopeClose", pick(g.random, g.scopes...), g.exit())
	case 7:
		return op("seq", g.wake(), op("signal", waker))
	case 8:
		return op("seq", op("signal", pick(g.random, g.fibers...)), g.wake())
	default:
		return g.expr(at.in(2))
	}
}

// wrapped puts so many operations around an expression.
func (g *generator) wrapped(inside any, times int, at place) any {
	for range times {
		inside = g.wrap(inside, at.in(2))
	}
	return inside
}

func (g *generator) wrap(inside any, at place) any {
	other := func() any {
		if g.percent(60) {
			return g.log()
		}
		return g.expr(at)
	}
	switch g.below(22) {
	case 0:
		return op("uninterruptible", inside)
	case 1:
		return op("uninterruptible", op("seq", op("interruptible", inside), other()))
	case 2:
		return op("uninterruptible", op("seq", inside, op("interruptible", other())))
	case 3, 4:
		return op(pick(g.random, "mask", "interruptibleMask"), op("seq", other(), op("restore", inside), other()))
	case 5:
		return op("mask", op("seq", inside, op("restore", other())))
	case 6:
		return op("onExit", inside, other())
	case 7:
		return op("onExit", other(), op("interruptible", inside))
	case 8:
		return op(pick(g.random, "catchCause", "tapCause", "catch"), inside, other())
	case 9:
		return op(pick(g.random, "exit", "option", "sandboxed", "show", "ignore"), inside)
	case 10:
		return op("acquireUseRelease", inside, other(), g.finalizer(at))
	case 11:
		return op("acquireUseRelease", other(), other(), inside)
	case 12:
		return op("scoped", op("seq", op("addFinalizer", g.finalizer(at)), inside))
	case 13:
		return op("scoped", op("seq", op("addFinalizer", inside), other()))
	case 14:
		return op("scoped", op("seq", op("acquireRelease", inside, g.finalizer(at)), other()))
	case 15:
		return op(pick(g.random, "race", "raceFirst"), inside, op("seq", op("sleep", g.ms()), other()))
	case 16:
		return op(pick(g.random, "raceAll", "raceAllFirst"), []any{other(), inside})
	case 17:
		return op("all", []any{other(), inside, other()}, g.concurrency())
	case 18:
		return op("zip", inside, other(), true)
	case 19:
		return op("withPermits", pick(g.random, g.semaphores...), num(1), inside)
	case 20:
		return op("matchCause", inside, other(), other())
	default:
		return op("timeoutOption", g.ms(), inside)
	}
}

// crew is the tame contest: fibers that work side by side over what they share, and are joined.
func (g *generator) crew() []any {
	var forks, ends []any
	for range g.between(2, 3) {
		name := fmt.Sprintf("f%d", len(g.bound))
		body := op("seq")
		for range g.between(2, 4) {
			d := pick(g.random, g.deferreds...)
			body = append(body, pick[any](g.random,
				g.log(), op("yield"), op("sleep", g.ms()),
				op("seq", op("yield"), g.log()),
				op("seq", op("qOffer", "q", num(g.below(5))), g.log()),
				op("show", op("timeoutOption", num(50), op("qTake", "q"))),
				op("dDone", d, g.exit()),
				op("exit", op("timeout", num(50), op("dAwait", d))),
				op("withPermits", "s0", num(1), op("seq", g.log(), op("sleep", g.ms()), g.log())),
				op(pick(g.random, "lOpen", "lClose", "lRelease"), "l0"),
				op("timeoutOption", num(50), op("whenOpen", "l0", g.log())),
				g.expr(place{depth: 1})))
		}
		g.bound = append(g.bound, name)
		options := map[string]any{"kind": "child"}
		g.start(options)
		forks = append(forks, op("fork", name, body, options))
		ends = append(ends, pick(g.random,
			op("await", name), op("await", name), op("exit", op("join", name)), op("interruptFiber", name)))
	}
	return append(forks, ends...)
}
