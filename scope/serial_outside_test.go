package scope_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rivus/tether/scope"
)

// An interruption from outside falls between two waits of the fiber that runs, never in
// the middle of what it does.
func TestSerialInterruptedFromOutside(t *testing.T) {
	s := scope.NewSerial()
	steps := 0
	c := s.Run(func(f *scope.Fiber) *scope.Cause {
		done := make(chan struct{})
		go func() {
			f.Interrupt(0)
			close(done)
		}()
		<-done // asked for, and not noticed while the fiber computes
		for range 100 {
			if f.Notice() != nil {
				t.Error("noticed in the middle of a step")
			}
			steps++
		}
		return rest(f, func(func() bool) {})
	}, scope.RunConfig{})
	if !c.HasInterruptsOnly() || steps != 100 {
		t.Errorf("ended with %v after %d steps", c, steps)
	}
}

// A fiber that never stops yielding keeps neither what came from outside nor a timer
// from their turns.
func TestSerialYieldsStarveNobody(t *testing.T) {
	s := scope.NewSerial()
	for name, stop := range map[string]func(f *scope.Fiber){
		"an interruption": func(f *scope.Fiber) { go f.Interrupt(0) },
		"a timer":         func(f *scope.Fiber) { f.Clock().AfterFunc(0, func() { f.Interrupt(0) }) },
		"a post":          func(f *scope.Fiber) { go s.Post(func() { f.Interrupt(0) }) },
		"foreign work":    func(f *scope.Fiber) { go scope.Foreign(s)(func() { f.Interrupt(0) }) },
		"a timer from outside": func(f *scope.Fiber) {
			go func() { f.Clock().AfterFunc(0, func() { f.Interrupt(0) }) }()
		},
		"a timer beside": func(f *scope.Fiber) {
			scope.BaseClock(f.Clock()).AfterFunc(0, func() { f.Interrupt(0) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := s.Run(func(f *scope.Fiber) *scope.Cause {
				stop(f)
				for {
					if c := yield(f); c != nil {
						return c
					}
				}
			}, scope.RunConfig{})
			if !c.HasInterruptsOnly() {
				t.Errorf("ended with %v", c)
			}
		})
	}
}

// Interruptions come from outside at every moment of a run: before it starts, while it
// computes, waits, is masked or ends. Each run ends once, its finalizer runs once, and
// nobody is left.
func TestSerialInterruptedAnyTime(t *testing.T) {
	const runs = 2000
	s := scope.NewSerial()
	var acquired, released atomic.Int64
	var all sync.WaitGroup
	gate := make(chan *scope.Fiber)
	for range 2 {
		all.Go(func() {
			for f := range gate {
				f.Interrupt(0)
			}
		})
	}
	for range runs {
		s.Run(func(f *scope.Fiber) *scope.Cause {
			return f.Scoped(func(at *scope.Scope) *scope.Cause {
				entered, c := f.Mask()
				if c != nil {
					return c
				}
				acquired.Add(1)
				c = yield(f)
				at.Add(f, func(f *scope.Fiber, _ scope.Exit[any]) *scope.Cause {
					c := rest(f, func(w func() bool) { go w() })
					released.Add(1)
					return c
				})
				if entered {
					c = f.Unmask(c)
				}
				if c != nil {
					return c
				}
				child := f.Fork(func(f *scope.Fiber) *scope.Cause { return rest(f, func(w func() bool) { go w() }) }, scope.ForkConfig{})
				return f.Join(child)
			})
		}, scope.RunConfig{Started: func(f *scope.Fiber) { gate <- f }})
	}
	close(gate)
	all.Wait()
	if acquired.Load() != released.Load() {
		t.Errorf("%d acquired, %d released", acquired.Load(), released.Load())
	}
}

// Goroutines start fibers in the name of one of the runtime's, which is parked. They are
// posted, and run there.
func TestSerialForksFromOutside(t *testing.T) {
	const n = 100
	s := scope.NewSerial()
	forker, gate := make(chan *scope.Fiber), make(chan func() bool, 1)
	counted := 0
	var forks sync.WaitGroup
	forks.Add(n)
	go func() {
		f := <-forker
		wake := <-gate
		for range n {
			go f.Fork(func(*scope.Fiber) *scope.Cause {
				counted++
				forks.Done()
				return nil
			}, scope.ForkConfig{Daemon: true, Immediate: true})
		}
		forks.Wait()
		wake()
	}()
	s.Run(func(f *scope.Fiber) *scope.Cause {
		forker <- f
		return rest(f, func(w func() bool) { gate <- w })
	}, scope.RunConfig{})
	if counted != n {
		t.Errorf("%d ran", counted)
	}
}

// A fiber that is to run beside goes on while a fiber of the runtime computes, shares
// its numbers, and may be waited for.
func TestForkBeside(t *testing.T) {
	failure := errors.New("beside")
	body := func(f *scope.Fiber) *scope.Cause {
		ran := make(chan scope.FiberID, 1)
		beside := f.ForkBeside(func(f *scope.Fiber) *scope.Cause {
			if _, deterministic := f.Runtime().(*scope.Deterministic); !deterministic {
				if scope.Alone(f.Runtime()) {
					t.Error("it runs on the runtime itself")
				}
			}
			ran <- f.ID()
			return scope.CauseFail(failure)
		})
		if _, deterministic := f.Runtime().(*scope.Deterministic); !deterministic {
			if id := <-ran; id == f.ID() || id != beside.ID() { // blocks f's whole runtime
				t.Errorf("its number is %d", id)
			}
		}
		if beside.Forker() != nil && beside.Forker() != f {
			t.Error("it was forked by another")
		}
		return f.Join(beside)
	}
	for name, run := range map[string]func() *scope.Cause{
		"serial":   func() *scope.Cause { return scope.NewSerial().Run(body, scope.RunConfig{}) },
		"parallel": func() *scope.Cause { return scope.NewParallel().Run(body, scope.RunConfig{}) },
		"deterministic": func() (c *scope.Cause) {
			scope.NewDeterministic(scope.DeterministicConfig{OnEnd: func(f *scope.Fiber) { c, _ = f.Exited() }}).Run(body, scope.RunConfig{})
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c := run(); !errors.Is(c.Err(), failure) {
				t.Errorf("ended with %v", c)
			}
		})
	}
}

// An interruption that comes before the start ends the fiber unrun.
func TestSerialInterruptedUnrun(t *testing.T) {
	ran := false
	c := scope.NewSerial().Run(func(*scope.Fiber) *scope.Cause { ran = true; return nil },
		scope.RunConfig{Started: func(f *scope.Fiber) { f.Interrupt(0) }})
	if ran || !c.HasInterruptsOnly() {
		t.Errorf("ran: %v, ended with %v", ran, c)
	}
}
