package scope_test

import (
	"runtime"
	"testing"

	"github.com/rivus/tether/scope"
)

// A Goexit in an observer is not the end of those that come after it.
func TestObserverThatExits(t *testing.T) {
	gate, heard := make(chan struct{}), make(chan struct{})
	var f scope.Fiber
	scope.NewParallel().Go(&f, func(*scope.Fiber) *scope.Cause {
		<-gate
		return nil
	}, scope.RunConfig{})
	f.Observe(scope.NewObserver(func(*scope.Fiber) { runtime.Goexit() }))
	f.Observe(scope.NewObserver(func(*scope.Fiber) { runtime.Goexit() }))
	f.Observe(scope.NewObserver(func(*scope.Fiber) { close(heard) }))
	close(gate)
	<-heard
}

// A fiber that an observer starts on the fiber that has ended gets its goroutine.
// Another observer that calls Goexit takes the goroutine, but not the start.
func TestStartOnAFiberThatHasEnded(t *testing.T) {
	for name, last := range map[string]func(){"returns": func() {}, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			gate, ran := make(chan struct{}), make(chan struct{}, 2)
			var first, second, third scope.Fiber
			body := scope.Func(func(*scope.Fiber) *scope.Cause {
				ran <- struct{}{}
				return nil
			})
			scope.NewParallel().Go(&first, func(*scope.Fiber) *scope.Cause {
				<-gate
				return nil
			}, scope.RunConfig{})
			first.Observe(scope.NewObserver(func(f *scope.Fiber) {
				f.ForkInto(&second, body, scope.ForkConfig{Daemon: true})
				f.ForkInto(&third, body, scope.ForkConfig{Daemon: true})
			}))
			first.Observe(scope.NewObserver(func(*scope.Fiber) { last() }))
			close(gate)
			<-ran
			<-ran
		})
	}
}
