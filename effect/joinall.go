package effect

import (
	"sync"

	"github.com/rivus/tether/scope"
)

// JoinAll waits for all the fibers and gives their results in order. It fails as
// soon as one has failed, as that one did; the others run on.
func JoinAll[A any](fibers ...*Fiber[A]) Effect[[]A] {
	return Effect[[]A]{step: func(f *scope.Fiber) ([]A, *scope.Cause, Effect[[]A]) {
		j := &joining{left: len(fibers), targets: kernelsOf(fibers)}
		if c := j.wait(f); c != nil {
			return nil, c, Effect[[]A]{}
		}
		out := make([]A, len(fibers))
		for i, fb := range fibers {
			out[i] = fb.value
		}
		return out, nil, Effect[[]A]{}
	}}
}

// joining is a JoinAll under way. It observes every fiber at once, so that the
// first failure counts, and not that of the first fiber.
type joining struct {
	targets   []*scope.Fiber
	observers []*scope.Observer
	token     scope.Token

	// mu guards the rest: on the parallel runtime fibers end side by side.
	mu    sync.Mutex
	left  int
	over  bool
	cause *scope.Cause
}

var waitJoinAll = &scope.Waiting{What: "fibers (JoinAll)"}

func (j *joining) wait(f *scope.Fiber) *scope.Cause {
	if len(j.targets) == 0 {
		return nil
	}
	j.token = f.Arm()
	// All observers are there before the first fiber can end and take them back.
	j.observers = make([]*scope.Observer, len(j.targets))
	for i := range j.observers {
		j.observers[i] = scope.NewObserver(j.hear)
	}
	for i, target := range j.targets {
		if !target.Observe(j.observers[i]) {
			j.hear(target)
		}
		if j.isOver() {
			// A fiber may have failed between the look and this Observe.
			j.leave()
			break
		}
	}
	p := f.Block(j.token, waitJoinAll)
	c := p.Cause
	if c == nil {
		c = j.cause
		if !p.Slept {
			return c
		}
	}
	return f.Settle(c, func() *scope.Cause {
		j.mu.Lock()
		j.over = true
		j.mu.Unlock()
		j.leave()
		return nil
	})
}

func (j *joining) isOver() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.over
}

// hear takes in that a fiber ended.
func (j *joining) hear(target *scope.Fiber) {
	c, _ := target.Exited()
	j.mu.Lock()
	if j.over {
		j.mu.Unlock()
		return
	}
	j.left--
	j.cause, j.over = c, c != nil || j.left == 0
	over := j.over
	j.mu.Unlock()
	if over {
		// Before the wake: a defect of a later fiber is not observed by this.
		j.leave()
		j.token.Wake()
	}
}

func (j *joining) leave() {
	for i, o := range j.observers {
		j.targets[i].Unobserve(o)
	}
}

func kernelsOf[A any](fibers []*Fiber[A]) []*scope.Fiber {
	out := make([]*scope.Fiber, len(fibers))
	for i, fb := range fibers {
		out[i] = &fb.kernel
	}
	return out
}

// AwaitExits waits for all the fibers and gives their exits in order
// (TypeScript: Fiber.awaitAll); AwaitAll is for fibers of different types.
func AwaitExits[A any](fibers ...*Fiber[A]) Effect[[]scope.Exit[A]] {
	return Effect[[]scope.Exit[A]]{step: func(f *scope.Fiber) ([]scope.Exit[A], *scope.Cause, Effect[[]scope.Exit[A]]) {
		if c := f.AwaitExits(kernelsOf(fibers)); c != nil {
			return nil, c, Effect[[]scope.Exit[A]]{}
		}
		out := make([]scope.Exit[A], len(fibers))
		for i, fb := range fibers {
			c, _ := fb.kernel.Exited()
			out[i] = fb.exit(c)
		}
		return out, nil, Effect[[]scope.Exit[A]]{}
	}}
}

// InterruptAs is Interrupt in the name of the fiber by.
func (fb *Fiber[A]) InterruptAs[_ onUse](by scope.FiberID) Effect[Unit] {
	return Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
		return Unit{}, f.InterruptAllAs(by, []*scope.Fiber{&fb.kernel}), Effect[Unit]{}
	}}
}

// InterruptAllAs is InterruptAll in the name of the fiber by.
func InterruptAllAs(by scope.FiberID, fibers ...AnyFiber) Effect[Unit] {
	return Effect[Unit]{step: func(f *scope.Fiber) (Unit, *scope.Cause, Effect[Unit]) {
		return Unit{}, f.InterruptAllAs(by, kernels(fibers)), Effect[Unit]{}
	}}
}

// ExitAsUnitAll is the success of all exits, or the failure with all their
// reasons, equal ones kept (TypeScript: Exit.asVoidAll).
func ExitAsUnitAll[A any](exits ...scope.Exit[A]) scope.Exit[Unit] {
	var all []scope.Reason
	for _, exit := range exits {
		all = append(all, exit.Cause().Reasons()...)
	}
	return scope.NewExit(Unit{}, scope.CauseFromReasons(all...))
}
