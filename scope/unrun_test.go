package scope_test

import (
	"runtime"
	"testing"

	"github.com/rivus/tether/scope"
)

// A child that has not started ends unrun on the goroutine of the parent that ends. An
// observer of it that calls Goexit takes that goroutine away, but neither the parent's
// end nor the interruption of the other children.
func TestGoexitInTheObserverOfAnUnrunChild(t *testing.T) {
	body := func(f *scope.Fiber, interrupted *int) *scope.Cause {
		for range 3 {
			child := new(scope.Fiber)
			f.Prepare(child, scope.Func(func(*scope.Fiber) *scope.Cause {
				t.Error("the child ran")
				return nil
			}), scope.ForkConfig{})
			child.Observe(scope.NewObserver(func(*scope.Fiber) { runtime.Goexit() }))
		}
		f.Fork(func(f *scope.Fiber) *scope.Cause {
			c := f.Block(f.Arm(), &scope.Waiting{What: "nothing"}).Cause
			*interrupted++
			return c
		}, scope.ForkConfig{Immediate: true})
		return nil
	}
	check := func(t *testing.T, f *scope.Fiber, interrupted int) {
		t.Helper()
		c, ended := f.Exited()
		if die, _ := c.Defect(); !ended || die.Defect != (scope.Exited{}) {
			t.Errorf("the parent ended: %v, with %v", ended, c)
		}
		if interrupted != 1 {
			t.Errorf("%d of 1 running children were interrupted", interrupted)
		}
	}
	t.Run("parallel", func(t *testing.T) {
		interrupted, ended := 0, make(chan struct{})
		f, gate := new(scope.Fiber), make(chan struct{})
		scope.NewParallel().Go(f, func(f *scope.Fiber) *scope.Cause {
			<-gate
			return body(f, &interrupted)
		}, scope.RunConfig{})
		f.Observe(scope.NewObserver(func(*scope.Fiber) { close(ended) }))
		close(gate)
		<-ended
		check(t, f, interrupted)
	})
	t.Run("serial", func(t *testing.T) {
		interrupted, ended := 0, make(chan struct{})
		f := new(scope.Fiber)
		scope.NewSerial().Go(f, func(f *scope.Fiber) *scope.Cause { return body(f, &interrupted) },
			scope.RunConfig{Started: func(f *scope.Fiber) { f.Observe(scope.NewObserver(func(*scope.Fiber) { close(ended) })) }})
		<-ended
		check(t, f, interrupted)
	})
	t.Run("deterministic", func(t *testing.T) {
		interrupted := 0
		var parent *scope.Fiber
		report := scope.NewDeterministic(scope.DeterministicConfig{}).Run(func(f *scope.Fiber) *scope.Cause {
			parent = f.Fork(func(f *scope.Fiber) *scope.Cause { return body(f, &interrupted) }, scope.ForkConfig{})
			return f.Await(parent)
		}, scope.RunConfig{})
		check(t, parent, interrupted)
		if len(report.Stuck) > 0 {
			t.Errorf("stuck: %v", report.Stuck)
		}
	})
}

// An interruption of many reaches all of them, whatever the observers of one do.
func TestInterruptAllWithAGoexitOnItsWay(t *testing.T) {
	var targets []*scope.Fiber
	over, gate := make(chan struct{}), make(chan struct{})
	f := new(scope.Fiber)
	scope.NewParallel().Go(f, func(f *scope.Fiber) *scope.Cause {
		<-gate
		for i := range 4 {
			target := new(scope.Fiber)
			f.Prepare(target, scope.Func(func(*scope.Fiber) *scope.Cause { return nil }), scope.ForkConfig{Daemon: true})
			if i%2 == 0 {
				target.Observe(scope.NewObserver(func(*scope.Fiber) { runtime.Goexit() }))
			}
			targets = append(targets, target)
		}
		return f.InterruptAll(targets)
	}, scope.RunConfig{})
	f.Observe(scope.NewObserver(func(*scope.Fiber) { close(over) }))
	close(gate)
	<-over
	for i, target := range targets {
		if c, ended := target.Exited(); !ended || !c.HasInterruptsOnly() {
			t.Errorf("target %d: %v, %v", i, ended, c)
		}
	}
}
