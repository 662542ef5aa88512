package scope

import (
	"fmt"
	"strings"

	"github.com/sourcegraph/conc/panics"
)

// FiberID names a fiber within its runtime. The first fiber is 1; 0 stands for
// an interruption from outside any fiber (TypeScript: undefined).
type FiberID uint64

// Reason is why something failed: a Fail, a Die or an Interrupt. No other
// types implement it.
type Reason interface {
	fmt.Stringer
	reason()
}

// Fail is an expected failure.
type Fail struct{ Err error }

// Die is a defect: a panic, or a bug that a program reported with Die.
type Die struct {
	// Defect is the panic's value.
	Defect any
	// Panic is what was recovered, with the callers and the stack; nil for a defect
	// that no panic raised.
	Panic *panics.Recovered
}

// At is where the panic was raised, as FILE:LINE, or "" when none was.
func (r Die) At() string { return raisedAt(r.Panic) }

// Stack is the stack from the panic on, as Go prints it, or nil.
func (r Die) Stack() []byte { return raisedStack(r.Panic) }

// Interrupt is an interruption, and who asked for it.
type Interrupt struct{ By FiberID }

func (Fail) reason()      {}
func (Die) reason()       {}
func (Interrupt) reason() {}

func (r Fail) String() string      { return fmt.Sprintf("Fail(%v)", r.Err) }
func (r Die) String() string       { return fmt.Sprintf("Die(%v)", r.Defect) }
func (r Interrupt) String() string { return fmt.Sprintf("Interrupt(#%d)", r.By) }

// Cause is everything that went wrong, as a flat list of reasons in the order
// in which they arose. It is immutable. A nil *Cause means that nothing did.
type Cause struct {
	reasons []Reason
}

// one lets a cause of a single reason be one allocation.
type one struct {
	cause  Cause
	reason [1]Reason
}

func causeOf(r Reason) *Cause {
	o := &one{reason: [1]Reason{r}}
	o.cause.reasons = o.reason[:]
	return &o.cause
}

// The makers of causes are not inlined: a cause is rare, and what it takes to make one
// would be part of the frame of each evaluation that may fail.

// CauseFail is the cause of one expected failure.
//
//go:noinline
func CauseFail(err error) *Cause { return causeOf(Fail{err}) }

// CauseDie is the cause of one defect.
//
//go:noinline
func CauseDie(defect any) *Cause { return causeOf(Die{Defect: defect}) }

// CauseInterrupt is the cause of one interruption.
//
//go:noinline
func CauseInterrupt(by FiberID) *Cause { return causeOf(Interrupt{by}) }

// CauseFromReasons is the cause with these reasons as they are; nil for none.
func CauseFromReasons(reasons ...Reason) *Cause {
	if len(reasons) == 0 {
		return nil
	}
	return &Cause{reasons: reasons}
}

// Reasons is the list, which must not be changed. A nil cause has none.
func (c *Cause) Reasons() []Reason {
	if c == nil {
		return nil
	}
	return c.reasons
}

// Failure is the first expected failure.
func (c *Cause) Failure() (error, bool) {
	for _, r := range c.Reasons() {
		if fail, ok := r.(Fail); ok {
			return fail.Err, true
		}
	}
	return nil, false
}

// Defect is the first defect.
func (c *Cause) Defect() (Die, bool) {
	for _, r := range c.Reasons() {
		if die, ok := r.(Die); ok {
			return die, true
		}
	}
	return Die{}, false
}

// HasFails tells whether any reason is a Fail.
func (c *Cause) HasFails() bool { return has[Fail](c) }

// HasDies tells whether any reason is a Die.
func (c *Cause) HasDies() bool { return has[Die](c) }

// HasInterrupts tells whether any reason is an Interrupt.
func (c *Cause) HasInterrupts() bool { return has[Interrupt](c) }

// HasInterruptsOnly tells whether there are reasons and all are Interrupts.
func (c *Cause) HasInterruptsOnly() bool {
	if c == nil {
		return false
	}
	for _, r := range c.reasons {
		if _, ok := r.(Interrupt); !ok {
			return false
		}
	}
	return true
}

func has[R Reason](c *Cause) bool {
	for _, r := range c.Reasons() {
		if _, ok := r.(R); ok {
			return true
		}
	}
	return false
}

// Interruptors are the distinct known fibers that interrupted, in order.
func (c *Cause) Interruptors() []FiberID {
	var ids []FiberID
next:
	for _, r := range c.Reasons() {
		i, ok := r.(Interrupt)
		if !ok || i.By == 0 {
			continue
		}
		for _, id := range ids {
			if id == i.By {
				continue next
			}
		}
		ids = append(ids, i.By)
	}
	return ids
}

// MapErrors replaces every expected failure.
func (c *Cause) MapErrors(f func(error) error) *Cause {
	if !c.HasFails() {
		return c
	}
	out := make([]Reason, len(c.reasons))
	for i, r := range c.reasons {
		if fail, ok := r.(Fail); ok {
			r = Fail{f(fail.Err)}
		}
		out[i] = r
	}
	return &Cause{out}
}

// Combine is c's reasons and then that's, structurally equal ones once
// (TypeScript: Cause.combine).
func (c *Cause) Combine(that *Cause) *Cause {
	if c == nil {
		return that
	}
	if that == nil {
		return c
	}
	out := make([]Reason, 0, len(c.reasons)+len(that.reasons))
	for _, list := range [2][]Reason{c.reasons, that.reasons} {
	next:
		for _, r := range list {
			for _, seen := range out {
				if sameReason(seen, r) {
					continue next
				}
			}
			out = append(out, r)
		}
	}
	return &Cause{out}
}

// ElectDefects turns every Fail into a Die when there is a Die beside it: a
// defect takes precedence, and no handler of failures may swallow it. A *Done
// stays a Fail, since it is no error.
func (c *Cause) ElectDefects() *Cause {
	if !c.HasDies() || !c.HasFails() {
		return c
	}
	out := make([]Reason, len(c.reasons))
	for i, r := range c.reasons {
		if fail, ok := r.(Fail); ok && !IsDone(fail.Err) {
			r = Die{Defect: fail.Err}
		}
		out[i] = r
	}
	return &Cause{out}
}

// Recoverable is the failure that a handler of failures may see. With a defect
// in the cause there is none, and rest is what travels on.
//
//lint:ignore ST1008 the error is what was asked for, not how the call failed
func (c *Cause) Recoverable() (err error, rest *Cause, ok bool) {
	if c.HasDies() {
		return nil, c.ElectDefects(), false
	}
	if err, ok = c.Failure(); ok {
		return err, nil, true
	}
	return nil, c, false
}

// AddInterrupts appends the interruptions of that which c has not got yet.
func (c *Cause) AddInterrupts(that *Cause) *Cause {
	if c == nil {
		return that
	}
	var out []Reason
next:
	for _, r := range that.Reasons() {
		i, ok := r.(Interrupt)
		if !ok {
			continue
		}
		have := c.reasons
		if out != nil {
			have = out
		}
		for _, seen := range have {
			if seen == Reason(i) {
				continue next
			}
		}
		if out == nil {
			out = append(make([]Reason, 0, len(c.reasons)+len(that.reasons)), c.reasons...)
		}
		out = append(out, i)
	}
	if out == nil {
		return c
	}
	return &Cause{out}
}

// WithoutFails is c with every Fail dropped; nil when nothing is left.
func (c *Cause) WithoutFails() *Cause {
	return c.filter(func(r Reason) bool { _, ok := r.(Fail); return !ok })
}

// WithoutInterrupts is c with every Interrupt dropped; nil when nothing is left.
func (c *Cause) WithoutInterrupts() *Cause {
	return c.filter(func(r Reason) bool { _, ok := r.(Interrupt); return !ok })
}

func (c *Cause) filter(keep func(Reason) bool) *Cause {
	var out []Reason
	for _, r := range c.Reasons() {
		if keep(r) {
			out = append(out, r)
		}
	}
	if len(out) == len(c.Reasons()) {
		return c
	}
	return CauseFromReasons(out...)
}

// String lists the reasons.
func (c *Cause) String() string {
	if c == nil {
		return "Cause()"
	}
	parts := make([]string, len(c.reasons))
	for i, r := range c.reasons {
		parts[i] = r.String()
	}
	return "Cause(" + strings.Join(parts, ", ") + ")"
}

func sameReason(a, b Reason) bool {
	switch a := a.(type) {
	case Interrupt:
		b, ok := b.(Interrupt)
		return ok && a == b
	case Fail:
		b, ok := b.(Fail)
		return ok && sameValue(a.Err, b.Err)
	case Die:
		b, ok := b.(Die)
		return ok && sameValue(a.Defect, b.Defect)
	}
	return false
}
