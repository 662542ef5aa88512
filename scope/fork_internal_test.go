package scope

import "testing"

// A scope closes between the start of a fiber that was forked into it and the
// registration: the fiber does not outlive it.
func TestWindowScopeClosesDuringForkIn(t *testing.T) {
	for _, window := range []string{"before it is registered", "before it starts"} {
		t.Run(window, func(t *testing.T) {
			w := newWindowed()
			s := New(Sequential)
			closes := func() {
				closer := new(Fiber)
				w.Parallel.Go(closer, func(f *Fiber) *Cause { return s.Close(f, ExitSucceed[any](nil)) }, RunConfig{})
				closed := make(chan struct{})
				if closer.Observe(NewObserver(func(*Fiber) { close(closed) })) {
					<-closed
				}
			}
			child := new(Fiber)
			_, ended := w.fiber(func(f *Fiber) *Cause {
				if window == "before it starts" {
					w.starting = func(*Fiber) { closes() }
				} else {
					w.made = closes
				}
				f.ForkIn(s, child, Func(func(f *Fiber) *Cause { return f.Block(f.Arm(), waitTest).Cause }), ForkConfig{})
				if child.flags.Load()&flagInterrupted == 0 {
					t.Error("the fiber was not interrupted")
					child.Interrupt(7)
				}
				return f.Await(child)
			})
			<-ended
			if c, _ := child.Exited(); !c.HasInterruptsOnly() {
				t.Errorf("the fiber ended with %v", c)
			}
		})
	}
}

// A fiber that is forked in a scope is the scope's before it runs: a close beside its
// start waits for it.
func TestForkedInScopeBeforeItRuns(t *testing.T) {
	w := newWindowed()
	s := New(Sequential)
	for _, immediate := range []bool{false, true} {
		f, ended := w.fiber(func(f *Fiber) *Cause {
			child := new(Fiber)
			f.ForkIn(s, child, Func(func(f *Fiber) *Cause {
				if !s.ends(f) {
					t.Errorf("immediate %v: the scope does not know of the fiber", immediate)
				}
				return nil
			}), ForkConfig{Immediate: immediate})
			return f.Join(child)
		})
		<-ended
		if c, _ := f.Exited(); c != nil {
			t.Errorf("immediate %v: %v", immediate, c)
		}
	}
}

// A fiber in two scopes has a place in each, and leaves both when it ends.
func TestFiberInTwoScopes(t *testing.T) {
	w := newWindowed()
	_, ended := w.fiber(func(f *Fiber) *Cause {
		a, b := New(Sequential), New(Sequential)
		other, child := new(Fiber), new(Fiber)
		f.ForkIn(b, other, Func(func(f *Fiber) *Cause { return f.Block(f.Arm(), waitTest).Cause }), ForkConfig{})
		token := make(chan Token, 1)
		f.ForkIn(a, child, Func(func(f *Fiber) *Cause {
			t := f.Arm()
			token <- t
			return f.Block(t, waitTest).Cause
		}), ForkConfig{})
		child.RunIn(b)
		(<-token).Wake()
		c := f.Await(child)
		if a.ends(child) || b.ends(child) || !b.ends(other) {
			t.Error("a scope keeps a fiber that has ended, or lost another")
		}
		return c.Combine(f.InterruptAwait(other))
	})
	<-ended
}
