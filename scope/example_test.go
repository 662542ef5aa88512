package scope_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rivus/tether/scope"
)

// Direct style, without package effect. What the scope holds is released last to
// first, whatever the work and the other finalizers do.
func ExampleFiber_Scoped() {
	cause := scope.NewParallel().Run(func(f *scope.Fiber) *scope.Cause {
		return f.Scoped(func(s *scope.Scope) *scope.Cause {
			hold := func(name string, c *scope.Cause) {
				s.Add(f, func(_ *scope.Fiber, exit scope.Exit[any]) *scope.Cause {
					fmt.Println("release the", name, "after", exit)
					return c
				})
			}
			hold("listener", nil)
			hold("log", scope.CauseFail(errors.New("log not flushed")))
			hold("socket", nil)
			return scope.CauseFail(errors.New("work failed"))
		})
	}, scope.RunConfig{})
	fmt.Println(cause)
	// Output:
	// release the socket after Failure(Cause(Fail(work failed)))
	// release the log after Failure(Cause(Fail(work failed)))
	// release the listener after Failure(Cause(Fail(work failed)))
	// Cause(Fail(work failed), Fail(log not flushed))
}

// A finalizer that comes too late runs at once, with the exit that closed the
// scope. So nothing that was acquired is left behind.
func ExampleScope_Add() {
	scope.NewParallel().Run(func(f *scope.Fiber) *scope.Cause {
		s := scope.New(scope.Sequential)
		s.Close(f, scope.ExitSucceed[any]("done"))
		return s.Add(f, func(_ *scope.Fiber, exit scope.Exit[any]) *scope.Cause {
			fmt.Println("released after", exit)
			return nil
		})
	}, scope.RunConfig{})
	// Output: released after Success(done)
}

// A scope forked from another closes with it, at its place in the order, unless it
// has been closed before.
func ExampleScope_Fork() {
	scope.NewParallel().Run(func(f *scope.Fiber) *scope.Cause {
		hold := func(s *scope.Scope, name string) {
			s.Add(f, func(*scope.Fiber, scope.Exit[any]) *scope.Cause {
				fmt.Println("release", name)
				return nil
			})
		}
		server := scope.New(scope.Sequential)
		hold(server, "database")
		first, second := server.Fork(scope.Sequential), server.Fork(scope.Sequential)
		hold(first, "request 1")
		hold(second, "request 2")
		hold(server, "listener")

		first.Close(f, scope.ExitSucceed[any](nil))
		fmt.Println("shutting down")
		return server.Close(f, scope.ExitSucceed[any](nil))
	}, scope.RunConfig{})
	// Output:
	// release request 1
	// shutting down
	// release listener
	// release request 2
	// release database
}

// A wait is armed, then blocked on, until something wakes its token or the fiber
// is interrupted. This one is a sleep.
func ExampleFiber_Block() {
	sleep := func(f *scope.Fiber, d time.Duration) *scope.Cause {
		token := f.Arm()
		timer := f.Clock().AfterFunc(d, func() { token.Wake() })
		defer timer.Stop()
		return f.Block(token, &scope.Waiting{What: "a timer"}).Cause
	}
	report := scope.NewDeterministic(scope.DeterministicConfig{}).Run(func(f *scope.Fiber) *scope.Cause {
		child := f.Fork(func(f *scope.Fiber) *scope.Cause { return sleep(f, time.Hour) }, scope.ForkConfig{})
		if c := sleep(f, time.Second); c != nil {
			return c
		}
		if c := f.InterruptAwait(child); c != nil {
			return c
		}
		cause, ended := child.Exited()
		fmt.Println(cause, ended)
		return nil
	}, scope.RunConfig{})
	fmt.Println(report.Now)
	// Output:
	// Cause(Interrupt(#1)) true
	// 1s
}

// A cause keeps everything that went wrong, each reason as what it is.
func ExampleCause() {
	cause := scope.CauseInterrupt(7).
		Combine(scope.CauseFail(io.ErrUnexpectedEOF)).
		Combine(scope.CauseDie("a bug"))
	for _, reason := range cause.Reasons() {
		switch reason := reason.(type) {
		case scope.Fail:
			fmt.Println("failed:", reason.Err)
		case scope.Die:
			fmt.Println("defect:", reason.Defect)
		case scope.Interrupt:
			fmt.Println("interrupted by fiber", reason.By)
		}
	}
	fmt.Println(cause.HasInterruptsOnly(), cause.WithoutInterrupts())
	// Output:
	// interrupted by fiber 7
	// failed: unexpected EOF
	// defect: a bug
	// false Cause(Fail(unexpected EOF), Die(a bug))
}

// The one error of a cause is its first failure; without one a *Defect; without
// that an *Interruption, which is a context.Canceled.
func ExampleCause_Err() {
	failure, defect, stop := scope.CauseFail(io.EOF), scope.CauseDie("a bug"), scope.CauseInterrupt(7)
	for _, c := range []*scope.Cause{stop.Combine(defect).Combine(failure), stop.Combine(defect), stop, nil} {
		err := c.Err()
		fmt.Printf("%T %v %t\n", err, err, errors.Is(err, context.Canceled))
	}
	// Output:
	// *errors.errorString EOF false
	// *scope.Defect defect: a bug false
	// *scope.Interruption interrupted by fiber #7 true
	// <nil> <nil> false
}

// An exit is a value or a cause, and Match has an answer for both.
func ExampleExit_Match() {
	status := func(exit scope.Exit[int]) string {
		return exit.Match(
			func(c *scope.Cause) string {
				if c.HasInterruptsOnly() {
					return "stopped"
				}
				return "failed: " + c.Err().Error()
			},
			func(n int) string { return fmt.Sprint("done, ", n, " rows") },
		)
	}
	fmt.Println(status(scope.ExitSucceed(3)))
	fmt.Println(status(scope.ExitFail[int](io.EOF)))
	fmt.Println(status(scope.ExitInterrupt[int](1)))
	// Output:
	// done, 3 rows
	// failed: EOF
	// stopped
}
