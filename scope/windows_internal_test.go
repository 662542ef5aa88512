package scope

import "testing"

// windowed is the parallel runtime with hooks in the narrow moments between two
// atomic steps of a fiber, so that a test holds them open instead of hoping that
// a stress run meets them. The hooks run on the fiber's own goroutine.
type windowed struct {
	*Parallel
	// prepared: the wait is armed, its swap to blocked comes next.
	prepared func(f *Fiber)
	// blocked: the swap is done, the fiber does not sleep yet.
	blocked func(f *Fiber)
	// stepping: a check for an interruption is about to be made.
	stepping func(f *Fiber)
	// starting: a fork was prepared and is not started yet.
	starting func(f *Fiber)
	// made is called once, while the next fiber is made.
	made func()
}

func newWindowed() *windowed { return &windowed{Parallel: NewParallel()} }

func (w *windowed) prepare(f *Fiber) {
	w.Parallel.prepare(f)
	if w.prepared != nil {
		w.prepared(f)
	}
}

func (w *windowed) block(f *Fiber) {
	if w.blocked != nil {
		w.blocked(f)
	}
	w.Parallel.block(f)
}

func (w *windowed) startLater(by, f *Fiber) {
	if w.starting != nil {
		w.starting(f)
	}
	w.Parallel.startLater(by, f)
}

func (w *windowed) hooks() uint32 {
	if made := w.made; made != nil {
		w.made = nil
		made()
	}
	if w.stepping != nil {
		return flagHooked
	}
	return 0
}

func (w *windowed) step(f *Fiber) {
	if w.stepping != nil {
		w.stepping(f)
	} else {
		w.Parallel.step(f)
	}
}

// at has happen called in the moment of that name, prepared or blocked.
func (w *windowed) at(where string, happen func(f *Fiber)) {
	if where == "prepared" {
		w.prepared = happen
	} else {
		w.blocked = happen
	}
}

// fiber runs body on a goroutine of its own; ended is closed at its end.
func (w *windowed) fiber(body func(*Fiber) *Cause) (f *Fiber, ended chan struct{}) {
	f, ended = new(Fiber), make(chan struct{})
	f.init(w, nil, true, Func(body))
	f.Observe(NewObserver(func(*Fiber) { close(ended) }))
	go f.main()
	return f, ended
}

var waitTest = &Waiting{What: "the test"}

// An interrupter has marked the fiber and is slow to wake it. Meanwhile the
// fiber notices, and its finalizer parks: that park is not the interrupter's.
func TestWindowSlowInterrupterAndAFinalizersPark(t *testing.T) {
	w := newWindowed()
	marked, release := make(chan struct{}), make(chan struct{})
	tokens, parked := make(chan Token, 1), make(chan struct{})
	w.blocked = func(*Fiber) { close(parked) }
	hooked := make(chan struct{})
	var p Parked
	f, ended := w.fiber(func(f *Fiber) *Cause {
		f.OnInterrupt(func() { close(marked); <-release })
		close(hooked)
		<-marked
		c := f.Notice()
		if c == nil {
			t.Error("the interruption was not noticed")
		}
		entered, c := f.MaskAfter(c)
		token := f.Arm()
		tokens <- token
		p = f.Block(token, waitTest)
		if entered {
			c = f.Unmask(c)
		}
		return c
	})
	<-hooked
	interrupted := make(chan struct{})
	go func() { f.Interrupt(7); close(interrupted) }()
	<-parked
	close(release)
	<-interrupted
	if !(<-tokens).Wake() {
		t.Error("the finalizer's park was ended by the interrupter")
	}
	<-ended
	if p.Cause != nil || !p.Slept {
		t.Errorf("the finalizer's park ended with %+v", p)
	}
}

// An interruption falls between the last check and the entry to a mask.
func TestWindowInterruptionBeforeAMask(t *testing.T) {
	for name, enter := range map[string]func(f *Fiber) (bool, *Cause){
		"Mask":      func(f *Fiber) (bool, *Cause) { return f.Mask() },
		"MaskAfter": func(f *Fiber) (bool, *Cause) { return f.MaskAfter(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			at, done := make(chan struct{}), make(chan struct{})
			f, ended := newWindowed().fiber(func(f *Fiber) *Cause {
				if c := f.NoticeAfter(nil); c != nil {
					t.Error("interrupted too early")
				}
				close(at)
				<-done
				entered, c := enter(f)
				if !c.HasInterrupts() {
					t.Errorf("the mask lost the interruption: %v", c)
				}
				if f.Signaled() {
					t.Error("the interruption is pending inside the mask, or twice")
				}
				if entered {
					c = f.Unmask(c)
				}
				if !f.Interruptible() {
					t.Error("the mask was not left")
				}
				return c
			})
			<-at
			f.Interrupt(7)
			close(done)
			<-ended
			if c, _ := f.Exited(); len(c.Reasons()) != 1 || !c.HasInterruptsOnly() {
				t.Errorf("ended with %v", c)
			}
		})
	}
}

// An interruption, a wake or both arrive in each moment of a wait. Whoever is
// first ends it, nobody is lost, and the wait ends once.
func TestWindowsOfAWait(t *testing.T) {
	type event func(f *Fiber, token Token)
	wake := func(first bool) event {
		return func(_ *Fiber, token Token) {
			if token.Wake() != first {
				t.Errorf("Wake answered %v", !first)
			}
		}
	}
	interrupt := func(f *Fiber, _ Token) { f.Interrupt(7) }
	type moment struct {
		events      []event
		interrupted bool // the wait ends by the interruption
		pending     bool // an interruption is left to be noticed after the wait
	}
	for name, m := range map[string]moment{
		"interrupt":            {[]event{interrupt}, true, false},
		"interrupt twice":      {[]event{interrupt, interrupt}, true, false},
		"wake":                 {[]event{wake(true)}, false, false},
		"wake, then interrupt": {[]event{wake(true), interrupt}, false, true},
		"wake twice":           {[]event{wake(true), wake(false)}, false, false},
	} {
		for _, where := range []string{"armed", "prepared", "blocked"} {
			t.Run(name+" when "+where, func(t *testing.T) {
				w := newWindowed()
				var token Token
				happen := func(f *Fiber) {
					for _, e := range m.events {
						e(f, token)
					}
				}
				if where != "armed" {
					w.at(where, happen)
				}
				var p Parked
				var after *Cause
				_, ended := w.fiber(func(f *Fiber) *Cause {
					token = f.Arm()
					if where == "armed" {
						happen(f)
					}
					p = f.Block(token, waitTest)
					after = f.NoticeAfter(nil)
					return nil
				})
				<-ended
				if p.Cause.HasInterrupts() != m.interrupted || p.Slept != (where == "blocked") {
					t.Errorf("the wait ended with %+v", p)
				}
				if after.HasInterrupts() != m.pending {
					t.Errorf("after the wait %v was noticed", after)
				}
			})
		}
	}
	// Before the fiber sleeps an interruption only marks it, so a wake that comes
	// next still wins; once it sleeps the interruption has ended the wait.
	for where, first := range map[string]bool{"prepared": true, "blocked": false} {
		t.Run("interrupt, then wake when "+where, func(t *testing.T) {
			w := newWindowed()
			var token Token
			both := func(f *Fiber) { interrupt(f, token); wake(first)(f, token) }
			w.at(where, both)
			f, ended := w.fiber(func(f *Fiber) *Cause {
				token = f.Arm()
				return f.NoticeAfter(f.Block(token, waitTest).Cause)
			})
			<-ended
			if c, _ := f.Exited(); len(c.Reasons()) != 1 || !c.HasInterrupts() {
				t.Errorf("ended with %v", c)
			}
		})
	}
}

// A masked wait takes no interruption in any of its moments.
func TestWindowsOfAMaskedWait(t *testing.T) {
	windowsOfAWaitThatGoesOn(t, func(f *Fiber, arm func() Token) *Cause {
		entered, c := f.Mask()
		if !entered || c != nil {
			t.Errorf("Mask: %v %v", entered, c)
		}
		if p := f.Block(arm(), waitTest); p.Cause != nil {
			t.Errorf("the wait ended with %v", p.Cause)
		}
		return f.Unmask(nil)
	})
}

// A firm wait goes on in each of its moments, although the fiber is interruptible;
// the interruption is noticed after it.
func TestWindowsOfAFirmWait(t *testing.T) {
	windowsOfAWaitThatGoesOn(t, func(f *Fiber, arm func() Token) *Cause {
		f.BlockFirmly(arm(), waitTest)
		return f.Notice()
	})
}

// windowsOfAWaitThatGoesOn interrupts body in each moment of its one wait, which only
// the wake that follows may end. body ends with the interruption.
func windowsOfAWaitThatGoesOn(t *testing.T, body func(f *Fiber, arm func() Token) *Cause) {
	for _, where := range []string{"prepared", "blocked"} {
		t.Run(where, func(t *testing.T) {
			w := newWindowed()
			var token Token
			w.at(where, func(f *Fiber) {
				f.Interrupt(7)
				if !token.Wake() {
					t.Error("the interruption ended the wait")
				}
			})
			f, ended := w.fiber(func(f *Fiber) *Cause {
				return body(f, func() Token {
					token = f.Arm()
					return token
				})
			})
			<-ended
			if c, _ := f.Exited(); !c.HasInterruptsOnly() {
				t.Errorf("ended with %v", c)
			}
		})
	}
}

// A token of an earlier wait does not end a later one.
func TestWindowLateWakeOfAnEarlierWait(t *testing.T) {
	w := newWindowed()
	var first, second Token
	waits := 0
	w.blocked = func(*Fiber) {
		if waits++; waits == 2 {
			if first.Wake() {
				t.Error("a token of the first wait ended the second")
			}
			second.Wake()
		}
	}
	_, ended := w.fiber(func(f *Fiber) *Cause {
		first = f.Arm()
		first.Wake()
		f.Block(first, waitTest)
		waits = 1
		second = f.Arm()
		f.Block(second, waitTest)
		return nil
	})
	<-ended
}

// A fork is interrupted before its goroutine starts, or between its start and
// its first check: its body never runs, and it ends once.
func TestWindowInterruptionOfAStart(t *testing.T) {
	for _, where := range []string{"prepared", "first check"} {
		t.Run(where, func(t *testing.T) {
			w := newWindowed()
			var child *Fiber
			if where == "prepared" {
				w.starting = func(f *Fiber) {
					f.Interrupt(7)
					if _, done := f.Exited(); !done {
						t.Error("an interrupted fiber that never started has not ended")
					}
				}
			} else {
				w.stepping = func(f *Fiber) {
					if f == child {
						f.Interrupt(7)
					}
				}
			}
			ends := 0
			_, ended := w.fiber(func(f *Fiber) *Cause {
				child = new(Fiber)
				f.Prepare(child, Func(func(*Fiber) *Cause { t.Error("the body ran"); return nil }), ForkConfig{})
				child.Observe(NewObserver(func(*Fiber) { ends++ }))
				f.Start(child, ForkConfig{})
				return f.Await(child)
			})
			<-ended
			if c, _ := child.Exited(); !c.HasInterruptsOnly() || ends != 1 {
				t.Errorf("ended %d times, with %v", ends, c)
			}
		})
	}
}

// An interrupter has marked the fiber and is slow to wake it. Meanwhile the fiber
// notices, goes on all the same, and waits for something else: that wait is not over.
func TestWindowSlowInterrupterAndALaterWait(t *testing.T) {
	w := newWindowed()
	hooked, marked, release := make(chan struct{}), make(chan struct{}), make(chan struct{})
	tokens, parked := make(chan Token, 1), make(chan struct{})
	w.blocked = func(*Fiber) { close(parked) }
	f, ended := w.fiber(func(f *Fiber) *Cause {
		f.OnInterrupt(func() {
			close(marked)
			<-release
		})
		close(hooked)
		<-marked
		if f.Notice() == nil {
			t.Error("there was no interruption to notice")
		}
		token := f.Arm()
		tokens <- token
		f.Block(token, waitTest)
		return nil
	})
	<-hooked
	interrupted := make(chan struct{})
	go func() {
		f.Interrupt(1)
		close(interrupted)
	}()
	<-parked
	close(release)
	<-interrupted
	if !(<-tokens).Wake() {
		t.Error("the interrupter ended the later wait")
	}
	<-ended
}
