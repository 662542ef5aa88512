package scope_test

import (
	"context"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rivus/tether/scope"
)

var waitTest = &scope.Waiting{What: "the test"}

// rest has f wait for wake to be called, by whatever is given it.
func rest(f *scope.Fiber, hand func(wake func() bool)) *scope.Cause {
	t := f.Arm()
	hand(t.Wake)
	return f.Block(t, waitTest).Cause
}

// yield lets what is ready run.
func yield(f *scope.Fiber) *scope.Cause {
	t := f.Arm()
	t.WakeLater(f)
	return f.Block(t, waitTest).Cause
}

// Fibers that many goroutines start at once take turns: what one does between two waits
// is one step for the others, without any mutex.
func TestSerialAtomicity(t *testing.T) {
	const callers, rounds = 16, 50
	s := scope.NewSerial()
	var log []int // guarded by nothing but the runtime
	count, inside := 0, 0
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			c := s.Run(func(f *scope.Fiber) *scope.Cause {
				for range rounds {
					inside++
					if inside != 1 {
						t.Errorf("%d are between two waits", inside)
					}
					seen := count
					log = append(log, i)
					count = seen + 1
					inside--
					if c := yield(f); c != nil {
						return c
					}
				}
				return nil
			}, scope.RunConfig{})
			if c != nil {
				t.Errorf("ended with %v", c)
			}
		})
	}
	all.Wait()
	if count != callers*rounds || len(log) != count {
		t.Errorf("counted %d, logged %d, want %d", count, len(log), callers*rounds)
	}
}

// A fiber that is woken by another runs inside the wake, one that is woken from outside
// when it is its turn.
func TestSerialWakes(t *testing.T) {
	var order []string
	log := func(what string) { order = append(order, what) }
	c := scope.NewSerial().Run(func(f *scope.Fiber) *scope.Cause {
		var inside, outside func() bool
		for name, wake := range map[string]*func() bool{"inside": &inside, "outside": &outside} {
			f.Fork(func(f *scope.Fiber) *scope.Cause {
				c := rest(f, func(w func() bool) { *wake = w })
				log("woken from " + name)
				return c
			}, scope.ForkConfig{Immediate: true})
		}
		inside()
		woken := make(chan bool)
		go func() { woken <- outside() }()
		if !<-woken {
			t.Error("the wake from outside was refused")
		}
		log("the main fiber goes on")
		if c := yield(f); c != nil {
			return c
		}
		log("and yields")
		return rest(f, func(w func() bool) { go w() })
	}, scope.RunConfig{})
	if c != nil {
		t.Errorf("ended with %v", c)
	}
	want := []string{"woken from inside", "the main fiber goes on", "and yields", "woken from outside"}
	if !slices.Equal(order, want) {
		t.Errorf("got  %q\nwant %q", order, want)
	}
}

// Detached fibers outlive Run, as those of the parallel runtime do.
func TestSerialGoesOnWithDetachedFibers(t *testing.T) {
	s := scope.NewSerial()
	proceed := make(chan func() bool, 1)
	ended := make(chan struct{})
	s.Run(func(f *scope.Fiber) *scope.Cause {
		f.Fork(func(f *scope.Fiber) *scope.Cause {
			defer close(ended)
			return rest(f, func(w func() bool) { proceed <- w })
		}, scope.ForkConfig{Daemon: true})
		return nil
	}, scope.RunConfig{})
	(<-proceed)()
	<-ended
}

// Runtimes side by side do not wait for one another, even while they compute.
func TestSerialRuntimesSideBySide(t *testing.T) {
	const n = 4
	var meeting, all sync.WaitGroup
	meeting.Add(n)
	for range n {
		all.Go(func() {
			scope.NewSerial().Run(func(*scope.Fiber) *scope.Cause {
				meeting.Done()
				meeting.Wait()
				return nil
			}, scope.RunConfig{})
		})
	}
	all.Wait()
}

// A Goexit ends the fiber that it is called on, and goes on in who runs a main fiber;
// the runtime lives on. So does one in an observer that the loop itself calls.
func TestSerialGoexit(t *testing.T) {
	s := scope.NewSerial()
	ran, returned := false, false
	over := make(chan struct{})
	go func() {
		defer close(over)
		s.Run(func(f *scope.Fiber) *scope.Cause {
			defer func() { ran = true }()
			runtime.Goexit()
			return nil
		}, scope.RunConfig{})
		returned = true
	}()
	<-over
	if !ran || returned {
		t.Errorf("the defer ran: %v, Run returned: %v", ran, returned)
	}
	var child *scope.Fiber
	c := s.Run(func(f *scope.Fiber) *scope.Cause {
		child = f.Fork(func(*scope.Fiber) *scope.Cause { runtime.Goexit(); return nil }, scope.ForkConfig{})
		return f.Await(child)
	}, scope.RunConfig{})
	if end, _ := child.Exited(); c != nil || !end.HasDies() {
		t.Errorf("the main fiber ended with %v, the child with %v", c, end)
	}

	heard := make(chan struct{})
	s.Go(new(scope.Fiber), func(*scope.Fiber) *scope.Cause { return nil }, scope.RunConfig{Started: func(f *scope.Fiber) {
		f.Observe(scope.NewObserver(func(*scope.Fiber) { runtime.Goexit() }))
		f.Observe(scope.NewObserver(func(*scope.Fiber) { close(heard) }))
		f.Interrupt(0) // before it starts: it ends on the loop
	}})
	<-heard
	s.Clock().AfterFunc(0, runtime.Goexit)
	s.Post(runtime.Goexit)
	if c := s.Run(func(f *scope.Fiber) *scope.Cause { return yield(f) }, scope.RunConfig{}); c != nil {
		t.Errorf("ended with %v", c)
	}
}

// A batch goes on where a Goexit on the loop cut it short.
func TestSerialGoexitInABatch(t *testing.T) {
	var order []int
	c := scope.NewSerial().Run(func(f *scope.Fiber) *scope.Cause {
		for i := range 3 {
			scope.Dispatch(f, func() {
				order = append(order, i)
				runtime.Goexit()
			})
		}
		return yield(f)
	}, scope.RunConfig{})
	if c != nil || !slices.Equal(order, []int{0, 1, 2}) {
		t.Errorf("ended with %v after %v", c, order)
	}
}

// A panic is a defect of its fiber; what a posted function panics with is logged.
func TestSerialPanics(t *testing.T) {
	s := scope.NewSerial()
	c := s.Run(func(*scope.Fiber) *scope.Cause { panic("boom") }, scope.RunConfig{})
	if die, ok := c.Defect(); !ok || die.Defect != "boom" || die.Panic == nil {
		t.Errorf("ended with %v", c)
	}
}

// The stack of a fiber may be in several pieces, each on a goroutine of its own. It waits,
// wakes and is woken on the last as on the first.
func TestSerialSegments(t *testing.T) {
	c := scope.NewSerial().Run(func(f *scope.Fiber) *scope.Cause {
		var wake func() bool
		order := ""
		f.Fork(func(f *scope.Fiber) *scope.Cause {
			return f.Segment(func() {
				if c := rest(f, func(w func() bool) { wake = w }); c != nil {
					t.Errorf("interrupted: %v", c)
				}
				order += "b"
				f.Segment(func() { rest(f, func(w func() bool) { go w() }) })
				order += "d"
			})
		}, scope.ForkConfig{Immediate: true})
		f.Segment(func() {
			order += "a"
			wake()
			order += "c"
		})
		if order != "abc" {
			t.Errorf("the order is %q: a wake on a segment does not run the fiber inside it", order)
		}
		c := f.AwaitAll(f.Children())
		if order != "abcd" {
			t.Errorf("the order is %q", order)
		}
		return c
	}, scope.RunConfig{})
	if c != nil {
		t.Errorf("ended with %v", c)
	}
}

// Coroutines must not be made by a goroutine that is locked to a thread, so the runtime
// has one of its own.
func TestSerialRunByALockedThread(t *testing.T) {
	s := scope.NewSerial()
	work := func(f *scope.Fiber) *scope.Cause {
		f.Fork(func(f *scope.Fiber) *scope.Cause { return yield(f) }, scope.ForkConfig{})
		return yield(f)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		s.Run(work, scope.RunConfig{})
	}()
	<-done
	s.Run(work, scope.RunConfig{})
}

// What would wait for itself, or on a goroutine where it cannot, says so.
func TestSerialMisuse(t *testing.T) {
	for name, c := range map[string]struct {
		misuse func(s *scope.Serial, f *scope.Fiber)
		text   string
	}{
		"Run inside":   {func(s *scope.Serial, f *scope.Fiber) { s.Run(yield, scope.RunConfig{}) }, "fork instead"},
		"Close inside": {func(s *scope.Serial, f *scope.Fiber) { s.Close(context.Background()) }, "must not be called on that runtime"},
		"a wait in a coroutine of the program's": {func(s *scope.Serial, f *scope.Fiber) {
			next, stop := iter.Pull(func(func(int) bool) { yield(f) })
			defer stop()
			next()
		}, "on a goroutine that is not its own"},
	} {
		t.Run(name, func(t *testing.T) {
			s := scope.NewSerial()
			cause := s.Run(func(f *scope.Fiber) *scope.Cause {
				c := f.Guard(func() *scope.Cause { c.misuse(s, f); return nil })
				return c.Combine(yield(f))
			}, scope.RunConfig{})
			die, ok := cause.Defect()
			text, _ := die.Defect.(string)
			if !ok || !strings.Contains(text, c.text) || len(cause.Reasons()) != 1 {
				t.Errorf("ended with %v", cause)
			}
			if c := s.Run(yield, scope.RunConfig{}); c != nil {
				t.Errorf("then %v", c)
			}
		})
	}
}
