package scope_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rivus/tether/scope"
)

// Close interrupts what waits, detached fibers too, and waits for finalizers, which may
// fork and wait. Nothing is taken in afterwards.
func TestSerialClose(t *testing.T) {
	s := scope.NewSerial()
	var order []string
	log := func(what string) { order = append(order, what) }
	parked := make(chan struct{}, 2)
	holding := func(name string) func(f *scope.Fiber) *scope.Cause {
		return func(f *scope.Fiber) *scope.Cause {
			return f.Scoped(func(at *scope.Scope) *scope.Cause {
				at.Add(f, func(f *scope.Fiber, _ scope.Exit[any]) *scope.Cause {
					release := f.Fork(func(f *scope.Fiber) *scope.Cause {
						c := rest(f, func(w func() bool) { go w() })
						log("released " + name)
						return c
					}, scope.ForkConfig{Daemon: true})
					return f.Await(release)
				})
				return rest(f, func(func() bool) { parked <- struct{}{} })
			})
		}
	}
	var main scope.Fiber
	s.Go(&main, func(f *scope.Fiber) *scope.Cause {
		f.Fork(holding("detached"), scope.ForkConfig{Daemon: true})
		f.Fork(holding("child"), scope.ForkConfig{})
		return rest(f, func(func() bool) {})
	}, scope.RunConfig{})
	<-parked
	<-parked
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if len(order) != 2 {
		t.Errorf("finalizers: %q", order)
	}
	if c, ended := main.Exited(); !ended || !c.HasInterruptsOnly() {
		t.Errorf("the main fiber: %v, %v", ended, c)
	}

	if s.Post(func() { t.Error("a posted function runs on a closed runtime") }) {
		t.Error("a post was taken in")
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	c := s.Run(func(*scope.Fiber) *scope.Cause { t.Error("it runs"); return nil }, scope.RunConfig{})
	if die, ok := c.Defect(); !ok || die.Defect != (scope.Closed{}) {
		t.Errorf("Run gave %v", c)
	}
	c = s.Run(func(*scope.Fiber) *scope.Cause { t.Error("it runs"); return nil }, scope.RunConfig{Started: func(f *scope.Fiber) { f.Interrupt(0) }})
	if !c.HasInterruptsOnly() {
		t.Errorf("a fiber that was interrupted before ended with %v", c)
	}
}

// When Close may wait no longer, what is left is torn down: Go defers run, finalizers
// do not, and no goroutine is left.
func TestSerialCloseThatGivesUp(t *testing.T) {
	s := scope.NewSerial()
	parked, unwound := make(chan struct{}), make(chan struct{})
	var f scope.Fiber
	s.Go(&f, func(f *scope.Fiber) *scope.Cause {
		defer close(unwound)
		return f.Scoped(func(at *scope.Scope) *scope.Cause {
			at.Add(f, func(*scope.Fiber, scope.Exit[any]) *scope.Cause {
				t.Error("a finalizer ran")
				return nil
			})
			f.Mask()
			return rest(f, func(func() bool) { close(parked) })
		})
	}, scope.RunConfig{})
	<-parked
	gaveUp := errors.New("gave up")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(gaveUp)
	if err := s.Close(ctx); !errors.Is(err, gaveUp) {
		t.Errorf("Close gave %v", err)
	}
	<-unwound
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if _, ended := f.Exited(); ended {
		t.Error("the fiber ended by the rules")
	}
}

// Posts race with a close: each function either runs, before Close returns, or its post
// is refused.
func TestSerialPostsBesideAClose(t *testing.T) {
	for range 50 {
		s := scope.NewSerial()
		var taken, ran atomic.Int64
		var all sync.WaitGroup
		begun := make(chan struct{}, 4)
		for range 4 {
			all.Go(func() {
				for {
					// Close interrupts what has not started, and that runs not at all.
					if !s.Post(func() { ran.Add(1) }) {
						return
					}
					taken.Add(1)
					runtime.Gosched()
					select {
					case begun <- struct{}{}:
					default:
					}
				}
			})
		}
		<-begun
		if err := s.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		ranBefore := ran.Load()
		all.Wait()
		if ran.Load() != ranBefore {
			t.Error("a function ran after Close")
		}
		if ran.Load() > taken.Load() {
			t.Errorf("%d taken, %d ran", taken.Load(), ran.Load())
		}
	}
}

// Runs race with a close, too: each ends, with its own result, the interruption or Closed.
func TestSerialRunsBesideAClose(t *testing.T) {
	for range 200 {
		s := scope.NewSerial()
		var all sync.WaitGroup
		begun := make(chan struct{}, 4)
		for range 4 {
			all.Go(func() {
				for {
					c := s.Run(func(f *scope.Fiber) *scope.Cause {
						select {
						case begun <- struct{}{}:
						default:
						}
						return rest(f, func(w func() bool) { go w() })
					}, scope.RunConfig{})
					if die, ok := c.Defect(); ok && die.Defect == (scope.Closed{}) {
						return
					}
					if c != nil && !c.HasInterruptsOnly() {
						t.Errorf("ended with %v", c)
						return
					}
				}
			})
		}
		<-begun
		if err := s.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		all.Wait()
	}
}
