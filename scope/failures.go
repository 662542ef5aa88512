package scope

import (
	"context"
	"fmt"
	"runtime/debug"
)

// Defect is the error that stands for a Die when a program ends with one.
type Defect struct {
	// Value is what was raised.
	Value any
	// Stack is where, or nil when no panic raised it.
	Stack []byte
}

// Error is "defect: " and the value's text.
func (d *Defect) Error() string { return fmt.Sprintf("defect: %v", d.Value) }

// Unwrap is the value when that is an error.
func (d *Defect) Unwrap() error {
	err, _ := d.Value.(error)
	return err
}

// Interruption is the error that stands for an interruption when a program
// ends with one. errors.Is(err, context.Canceled) holds.
type Interruption struct {
	// By are the fibers that interrupted, as far as known.
	By []FiberID
}

// Error names the fibers.
func (i *Interruption) Error() string {
	if len(i.By) == 0 {
		return "interrupted"
	}
	return fmt.Sprintf("interrupted by fiber %v", i.By)
}

// Is makes an interruption a context.Canceled.
func (i *Interruption) Is(target error) bool { return target == context.Canceled }

// Err squashes the cause into one error (TypeScript: Cause.squash): the first
// failure as it is; else *Defect for the first defect; else *Interruption. It
// is nil for a nil cause, which is a success (in TypeScript: an Error "Empty cause").
func (c *Cause) Err() error {
	if c == nil {
		return nil
	}
	if err, ok := c.Failure(); ok {
		return err
	}
	if die, ok := c.Defect(); ok {
		return &Defect{Value: die.Defect, Stack: die.Stack}
	}
	return &Interruption{By: c.Interruptors()}
}

// Exited is the defect of code that called runtime.Goexit on a fiber.
type Exited struct{}

func (Exited) Error() string { return "runtime.Goexit was called on a fiber" }

// TooDeep is the defect of effects nested deeper than the runtime allows.
type TooDeep struct{ Limit int }

func (e TooDeep) Error() string {
	return fmt.Sprintf("effects are nested %d levels deep; make the recursion a tail call (the last step of a FlatMap), or loop in Gen", e.Limit)
}

// abandoned is panicked through a fiber that a deterministic run leaves behind,
// so that its goroutine ends and its Go defers run. No frame may turn it into
// a failure.
type abandoned struct{}

// carried is a panic on its way from a stack segment to the segment below it.
type carried struct {
	value any
	stack []byte
}

// Recovered is what a panic's recover() gave, without the wrapping that carries
// it from one stack segment to the next.
func Recovered(r any) any {
	if c, ok := r.(carried); ok {
		return c.value
	}
	return r
}

// CauseRecovered is the cause for the result of a recover() that was not nil.
// It raises the panic again when that is the runtime's own and no frame may
// hold it up.
func CauseRecovered(r any) *Cause {
	switch r := r.(type) {
	case abandoned:
		panic(r)
	case carried:
		if _, ok := r.value.(abandoned); ok {
			panic(r.value)
		}
		return causeOf(Die{Defect: r.value, Stack: r.stack})
	}
	return causeOf(Die{Defect: r, Stack: debug.Stack()})
}
