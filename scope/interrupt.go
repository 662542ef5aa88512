package scope

// The flags of a fiber. Interrupters and the owner change them by atomic
// operations that see the old value, so that each of these holds at every
// instant, on both runtimes:
//
//   - pending is only ever set together with interruptible: a masked fiber has
//     nothing to notice;
//   - interrupted is set before pending, and never cleared;
//   - entering a mask takes interruptible away and learns of pending in one
//     step, so no interruption falls between the check and the mask.
const (
	flagInterruptible uint32 = 1 << iota
	flagPending
	flagInterrupted
	// flagHooked: the runtime wants to hear of every step.
	flagHooked
	// flagBrief: the mask is the kernel's own. It waits for no fiber but those
	// that it has interrupted. Only ever set while the mask is there.
	flagBrief
)

// Interruptible tells whether the fiber can be interrupted here.
func (f *Fiber) Interruptible() bool { return f.flags.Load()&flagInterruptible != 0 }

// Masked tells whether the fiber is in an uninterruptible part of its program.
// The masks in which a wait or a race puts itself in order are none: they end by
// themselves, as they wait for no fiber but those that they have interrupted.
// Any goroutine may call it.
func (f *Fiber) Masked() bool { return f.flags.Load()&(flagInterruptible|flagBrief) == 0 }

// inMask runs region, the rest of what has come to c, masked.
func (f *Fiber) inMask(c *Cause, region func(c *Cause) *Cause) *Cause {
	entered, c := f.MaskAfter(c)
	c = region(c)
	if entered {
		c = f.Unmask(c)
	}
	return c
}

// briefly is inMask in a mask of the kernel's own.
func (f *Fiber) briefly(c *Cause, region func(c *Cause) *Cause) *Cause {
	if !f.Interruptible() {
		return region(c)
	}
	// Before the mask and until after it, so that nobody sees the mask without it.
	f.flags.Or(flagBrief)
	defer f.flags.And(^flagBrief)
	return f.inMask(c, region)
}

// Signaled tells whether Notice has anything to do. It is the one check that
// evaluation makes before every step and after every value.
func (f *Fiber) Signaled() bool { return f.flags.Load()&(flagPending|flagHooked) != 0 }

// interruptionCause reads the cause; callers know that it is set.
func (f *Fiber) interruptionCause() *Cause {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.interruption
}

// Notice is the check before a step: the interruption to fail with, or nil.
func (f *Fiber) Notice() *Cause {
	if f.flags.Load()&flagHooked != 0 {
		f.rt.step(f)
	}
	return f.takePending()
}

func (f *Fiber) takePending() *Cause {
	if f.flags.Load()&flagPending == 0 {
		return nil
	}
	f.flags.And(^flagPending)
	return f.interruptionCause()
}

// NoticeAfter is the check after a value: a success (nil) is replaced by a
// pending interruption, a failure gets it added.
func (f *Fiber) NoticeAfter(c *Cause) *Cause {
	if f.flags.Load()&flagPending != 0 {
		return c.AddInterrupts(f.takePending())
	}
	return c
}

// Skips is asked by a handler of failures before it handles c: when the fiber
// is interruptible and interrupted, the handler is passed over, and what
// travels on is c without its Fails and with the interruption.
func (f *Fiber) Skips(c *Cause) (*Cause, bool) {
	const both = flagInterruptible | flagInterrupted
	if f.flags.Load()&both != both {
		return c, false
	}
	f.flags.And(^flagPending)
	return c.WithoutFails().AddInterrupts(f.interruptionCause()), true
}

// Mask makes the fiber uninterruptible until Unmask. entered is false when it
// was so already, and then Unmask must not be called. A cause means that an
// interruption came first: the fiber is not masked and must fail with it.
func (f *Fiber) Mask() (entered bool, c *Cause) {
	if f.flags.Load()&flagInterruptible == 0 {
		return false, nil
	}
	old := f.flags.And(^flagInterruptible)
	if old&flagPending != 0 {
		f.flags.Or(flagInterruptible)
		f.flags.And(^flagPending)
		return false, f.interruptionCause()
	}
	return true, nil
}

// MaskAfter is Mask for the end of a region: an interruption that came first
// joins c instead of keeping the mask away.
func (f *Fiber) MaskAfter(c *Cause) (entered bool, _ *Cause) {
	if f.flags.Load()&flagInterruptible == 0 {
		return false, c
	}
	if f.flags.And(^flagInterruptible)&flagPending != 0 {
		f.flags.And(^flagPending)
		c = c.AddInterrupts(f.interruptionCause())
	}
	return true, c
}

// Unmask ends what Mask or MaskAfter entered. With an interruption outstanding
// a success becomes it and a failure gets it added.
func (f *Fiber) Unmask(c *Cause) *Cause {
	if f.flags.Or(flagInterruptible)&flagInterrupted != 0 {
		return c.AddInterrupts(f.interruptionCause())
	}
	return c
}

// Open makes the fiber interruptible until Shut. entered is false when it was
// so already. With an interruption outstanding the fiber stays masked and must
// fail with the cause.
func (f *Fiber) Open() (entered bool, c *Cause) {
	old := f.flags.Or(flagInterruptible)
	if old&flagInterruptible != 0 {
		return false, nil
	}
	if old&flagInterrupted != 0 {
		f.flags.And(^(flagInterruptible | flagPending))
		return false, f.interruptionCause()
	}
	return true, nil
}

// Shut ends what Open entered.
func (f *Fiber) Shut(c *Cause) *Cause {
	// Both bits go in one step: a pending one that is not cleared here would be
	// noticed inside the mask.
	if f.flags.And(^(flagInterruptible|flagPending))&flagPending != 0 {
		return c.AddInterrupts(f.interruptionCause())
	}
	return c
}

// Interrupt asks the fiber to end and returns at once (TypeScript:
// interruptUnsafe). A fiber that has ended ignores it, a masked one notes it.
// On the deterministic runtime's effect order a parked fiber unwinds inside
// this call, and so does one on the serial runtime, unless the call comes from
// elsewhere: then it is posted. Any goroutine may call it on these two; on the
// deterministic one only code that runs on it.
func (f *Fiber) Interrupt(by FiberID) { f.InterruptCause(CauseInterrupt(by)) }

// InterruptCause is Interrupt with the interruption's own cause.
func (f *Fiber) InterruptCause(c *Cause) {
	// What a fiber does between two waits is one step for all others: an interruption
	// from elsewhere waits for its turn, too.
	if f.rt.outside() && f.rt.post(call(func() { f.InterruptCause(c) })) {
		return
	}
	f.mu.Lock()
	if f.done {
		f.mu.Unlock()
		return
	}
	f.interruption = f.interruption.AddInterrupts(c)
	now := uint32(0)
	for {
		old := f.flags.Load()
		now = old | flagInterrupted
		if old&flagInterruptible != 0 {
			now |= flagPending
		}
		if f.flags.CompareAndSwap(old, now) {
			break
		}
	}
	hook := f.onInterrupt
	f.mu.Unlock()
	if now&flagPending == 0 {
		return
	}
	// Never started: it ends here, unrun. Its starter loses this swap.
	if f.park.CompareAndSwap(phaseUnstarted, phaseRunning) {
		body := f.body
		f.body = nil
		if u, ok := body.(Unrun); ok {
			u.Unrun()
		}
		f.finish(f.takePending())
		return
	}
	if hook != nil {
		hook()
	}
	f.unparkInterrupted()
}

// OnInterrupt has hook called when an interruption arrives while the fiber is
// interruptible, until the function that it returns is called. Hooks nest: those
// that were there before are called, too. A hook may be called more than once, from
// any goroutine, and must not block. It is called at once, before OnInterrupt
// returns, when an interruption is pending.
func (f *Fiber) OnInterrupt(hook func()) (remove func()) {
	f.mu.Lock()
	outer := f.onInterrupt
	f.onInterrupt = hook
	if outer != nil {
		f.onInterrupt = func() {
			hook()
			outer()
		}
	}
	f.mu.Unlock()
	if f.flags.Load()&flagPending != 0 {
		hook()
	}
	return func() {
		f.mu.Lock()
		f.onInterrupt = outer
		f.mu.Unlock()
	}
}

// Raised is the cause for the result of a recover() that was not nil: a defect
// or, when an interruption is pending, that instead.
func (f *Fiber) Raised(r any) *Cause {
	c := CauseRecovered(r)
	if i := f.takePending(); i != nil {
		return i
	}
	return c
}
