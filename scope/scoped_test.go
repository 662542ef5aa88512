package scope_test

import (
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/rivus/tether/scope"
)

// However the body of Scoped ends, its finalizers run, masked, in order and with its
// exit, and the scope that was at hand before is at hand again.
func TestScoped(t *testing.T) {
	failure := errors.New("failed")
	for name, c := range map[string]struct {
		body func(f *scope.Fiber) *scope.Cause
		want func(c *scope.Cause) bool
	}{
		"success": {
			body: func(*scope.Fiber) *scope.Cause { return nil },
			want: func(c *scope.Cause) bool { return c == nil },
		},
		"failure": {
			body: func(*scope.Fiber) *scope.Cause { return scope.CauseFail(failure) },
			want: func(c *scope.Cause) bool { err, only := c.Failure(); return only && err == failure },
		},
		"panic": {
			body: func(*scope.Fiber) *scope.Cause { panic("boom") },
			want: func(c *scope.Cause) bool { die, ok := c.Defect(); return ok && die.Defect == "boom" },
		},
		"interruption": {
			body: func(f *scope.Fiber) *scope.Cause {
				f.Interrupt(7)
				return nil
			},
			want: func(c *scope.Cause) bool {
				return c.HasInterruptsOnly() && slices.Equal(c.Interruptors(), []scope.FiberID{7})
			},
		},
		"Goexit": {
			body: func(f *scope.Fiber) *scope.Cause {
				f.Interrupt(7)
				runtime.Goexit()
				return nil
			},
			want: func(c *scope.Cause) bool { return c.HasDies() },
		},
	} {
		t.Run(name, func(t *testing.T) {
			var order []int
			outer := scope.New(scope.Sequential)
			ended := make(chan *scope.Cause, 1)
			finalizer := func(i int) scope.Finalizer {
				return func(f *scope.Fiber, exit scope.Exit[any]) *scope.Cause {
					order = append(order, i)
					if !c.want(exit.Cause()) {
						t.Errorf("finalizer %d hears of %v", i, exit)
					}
					if !f.Masked() || f.Scope() != outer {
						t.Errorf("finalizer %d: masked %v, scope at hand %p", i, f.Masked(), f.Scope())
					}
					return nil
				}
			}
			var env *scope.Env
			fiber := new(scope.Fiber)
			scope.NewParallel().Go(fiber, func(f *scope.Fiber) *scope.Cause {
				return f.Scoped(func(s *scope.Scope) *scope.Cause {
					if f.Scope() != s {
						t.Error("the scope is not at hand")
					}
					s.Add(f, finalizer(2))
					s.Add(f, finalizer(1))
					return c.body(f)
				})
			}, scope.RunConfig{Env: env.WithScope(outer)})
			if o := scope.NewObserver(func(f *scope.Fiber) { cause, _ := f.Exited(); ended <- cause }); !fiber.Observe(o) {
				cause, _ := fiber.Exited()
				ended <- cause
			}
			if cause := <-ended; !c.want(cause) {
				t.Errorf("ended with %v", cause)
			}
			if !slices.Equal(order, []int{1, 2}) {
				t.Errorf("finalizers ran: %v", order)
			}
		})
	}
}

// What the finalizers of Scoped fail with joins the cause.
func TestScopedWhoseFinalizerFails(t *testing.T) {
	c := scope.NewParallel().Run(func(f *scope.Fiber) *scope.Cause {
		return f.Scoped(func(s *scope.Scope) *scope.Cause {
			s.Add(f, func(*scope.Fiber, scope.Exit[any]) *scope.Cause { panic("release") })
			return scope.CauseFail(errors.New("work"))
		})
	}, scope.RunConfig{})
	if got := len(c.Reasons()); got != 2 || !c.HasDies() {
		t.Errorf("%v", c)
	}
}
