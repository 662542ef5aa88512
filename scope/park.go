package scope

import "fmt"

// A fiber waits by arming, handing the token to whoever will wake it, and
// blocking. One atomic word arbitrates: the low bits are the phase, then a bit
// that tells whether this wait may be interrupted, then the number of the wait.
//
//	running --Arm--> armed --Block--> blocked --Wake--> woken --> running
//	                   |                 '--Interrupt--> interrupted --> running
//	                   '--Wake--> woken: Block returns without sleeping
//
// The number makes tokens of earlier waits harmless, and the interruptible bit
// in the same word keeps a slow interrupter, which saw an earlier wait, from
// waking the wait of a finalizer.
const (
	phaseRunning uint64 = iota
	phaseArmed
	phaseBlocked
	phaseWoken
	phaseInterrupted
	phaseUnstarted

	phaseMask         uint64 = 7
	parkInterruptible uint64 = 8
	parkShift                = 4
)

// Token is the right to end one wait of one fiber, once. The zero Token is that of no
// wait, and must not be used.
type Token struct {
	fiber *Fiber
	wait  uint64
}

// Waiting says what a parked fiber waits for; deadlock reports print it.
type Waiting struct {
	What string
	// Fiber is the fiber waited for, when it is one.
	Fiber *Fiber
}

// Arm begins a wait. The fiber must go on to Block. It panics while another wait of
// the fiber has begun and not ended: code that is called between, such as the
// registration of a callback, cannot wait itself.
func (f *Fiber) Arm() Token {
	w := f.park.Load()
	if w&phaseMask != phaseRunning {
		f.refuseToWait()
	}
	n := w>>parkShift + 1
	f.park.Store(n<<parkShift | phaseArmed)
	return Token{f, n}
}

// WaitsAlready is the panic of a fiber that is to wait while it waits: two waits
// would have one place for their wakes, and either could take the other's.
type WaitsAlready struct{ Fiber FiberID }

func (e WaitsAlready) Error() string {
	return fmt.Sprintf("fiber #%d was told to wait in code that is called while its wait begins or lasts (the function of a concurrent ForEach, the registration of a Callback, a goroutine of a Blocking); let that code give an effect that waits, and run it in no other way", e.Fiber)
}

func (f *Fiber) refuseToWait() {
	if f.rt.abandoning() {
		panic(abandoned{}) // in a defer of user code, as the fiber is torn down
	}
	panic(WaitsAlready{f.id})
}

// disarm ends a wait that a Goexit left between Arm and Block.
func (f *Fiber) disarm() {
	if w := f.park.Load(); w&phaseMask != phaseRunning {
		f.park.Store(w >> parkShift << parkShift)
	}
}

// Wake ends the wait and answers true, or answers false when it was over. On
// the parallel runtime any goroutine may call it, on the deterministic one only
// code that runs on it. Its caller must hold no lock: in the effect order the
// fiber runs inside this call until it parks again or ends.
func (t Token) Wake() bool {
	f := t.fiber
	for {
		w := f.park.Load()
		if w>>parkShift != t.wait {
			return false
		}
		switch w & phaseMask {
		case phaseArmed:
			if f.park.CompareAndSwap(w, t.wait<<parkShift|phaseWoken) {
				return true
			}
		case phaseBlocked:
			if f.park.CompareAndSwap(w, t.wait<<parkShift|phaseWoken) {
				f.rt.unblock(f)
				return true
			}
		default:
			return false
		}
	}
}

// Parked is how a wait ended.
type Parked struct {
	// Cause is the interruption that ended the wait, or nil when it was woken.
	Cause *Cause
	// Slept is false when the wait was over before the fiber slept.
	Slept bool
}

// Block sleeps until the token is woken or, when the fiber is interruptible,
// until it is interrupted. It does not allocate.
func (f *Fiber) Block(t Token, on *Waiting) Parked {
	interruptible := f.flags.Load() & flagInterruptible
	next := t.wait<<parkShift | phaseBlocked
	if interruptible != 0 {
		next |= parkInterruptible
	}
	f.host.wait = on
	f.rt.prepare(f)
	if !f.park.CompareAndSwap(t.wait<<parkShift|phaseArmed, next) {
		f.rt.cancel(f)
		f.awake(t)
		return Parked{}
	}
	// An interrupter that set pending before the swap above did not see this
	// wait; one that sets it later does. Whoever wins the swap below decides,
	// and when it is not this fiber, its signal is on the way.
	if interruptible != 0 && f.flags.Load()&flagPending != 0 &&
		f.park.CompareAndSwap(next, t.wait<<parkShift|phaseInterrupted) {
		f.rt.cancel(f)
		f.awake(t)
		return Parked{Cause: f.takePending()}
	}
	f.rt.block(f)
	if f.awake(t) == phaseInterrupted {
		return Parked{Cause: f.takePending(), Slept: true}
	}
	return Parked{Slept: true}
}

// BlockFirmly is Block that an interruption does not end; it is noticed after.
func (f *Fiber) BlockFirmly(t Token, on *Waiting) {
	f.host.wait = on
	f.rt.prepare(f)
	if !f.park.CompareAndSwap(t.wait<<parkShift|phaseArmed, t.wait<<parkShift|phaseBlocked) {
		f.rt.cancel(f)
	} else {
		f.rt.block(f)
	}
	f.awake(t)
}

func (f *Fiber) awake(t Token) (phase uint64) {
	phase = f.park.Load() & phaseMask
	f.park.Store(t.wait << parkShift) // phaseRunning is 0
	f.host.wait = nil
	return phase
}

// unparkInterrupted wakes the fiber if it is in a wait that may be interrupted.
func (f *Fiber) unparkInterrupted() {
	for {
		w := f.park.Load()
		if w&phaseMask != phaseBlocked || w&parkInterruptible == 0 {
			return
		}
		// The fiber may have noticed the interruption by itself, and sleep in a wait
		// that came after. It cannot notice while w stands.
		if f.flags.Load()&flagPending == 0 {
			return
		}
		if f.park.CompareAndSwap(w, w>>parkShift<<parkShift|phaseInterrupted) {
			f.rt.unblock(f)
			return
		}
	}
}

// Settle ends a wait that has a cleanup, by the rules of TypeScript's callback:
// the cleanup runs, masked, when the wait's result c contains an interruption;
// a failed cleanup joins the cause; and an interruption that is outstanding
// when the mask is left replaces a success. The cleanup must not run code of the
// program's, nor wait for a fiber that it has not interrupted.
func (f *Fiber) Settle(c *Cause, cleanup func() *Cause) *Cause {
	const both = flagInterruptible | flagInterrupted
	if c == nil && f.flags.Load()&both != both {
		return nil
	}
	return f.briefly(c, func(c *Cause) *Cause { return f.cleanUp(c, cleanup) })
}

// SettleForeign is Settle whose cleanup is the program's.
func (f *Fiber) SettleForeign(c *Cause, cleanup func() *Cause) *Cause {
	return f.inMask(c, func(c *Cause) *Cause { return f.cleanUp(c, cleanup) })
}

func (f *Fiber) cleanUp(c *Cause, cleanup func() *Cause) *Cause {
	if cleanup != nil && c.HasInterrupts() {
		c = CombineFinalizer(c, f.Guard(cleanup))
	}
	return c
}

// CombineFinalizer is the cause of what ended with c and whose finalizer ended
// with d: after a success the finalizer's, after a failure both, structurally
// equal reasons once, with defects taking precedence.
func CombineFinalizer(c, d *Cause) *Cause {
	if c == nil || d == nil {
		return c.Combine(d)
	}
	return c.Combine(d).ElectDefects()
}

// Guard runs fn and turns a panic into a defect. The fiber's depth is as it was
// before. It does not stop a Goexit.
func (f *Fiber) Guard(fn func() *Cause) (c *Cause) {
	mark := f.Mark()
	defer func() {
		if r := recover(); r != nil {
			f.Reset(mark)
			c = f.Raised(r)
		}
	}()
	return fn()
}
