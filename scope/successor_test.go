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
	scope.NewParallel(nil).Go(&f, nil, func(*scope.Fiber) *scope.Cause {
		<-gate
		return nil
	}, nil)
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
			scope.NewParallel(nil).Go(&first, nil, func(*scope.Fiber) *scope.Cause {
				<-gate
				return nil
			}, nil)
			first.Observe(scope.NewObserver(func(f *scope.Fiber) {
				f.ForkInto(&second, body, scope.ForkOptions{Daemon: true})
				f.ForkInto(&third, body, scope.ForkOptions{Daemon: true})
			}))
			first.Observe(scope.NewObserver(func(*scope.Fiber) { last() }))
			close(gate)
			<-ran
			<-ran
		})
	}
}
