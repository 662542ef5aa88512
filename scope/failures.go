package scope

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/sourcegraph/conc/panics"
)

// Interruption is the error that stands for an interruption when a program
// ends with one. errors.Is(err, context.Canceled) holds.
type Interruption struct {
	// By are the fibers that interrupted, as far as known.
	By []FiberID
}

// Error says who asked.
func (i *Interruption) Error() string {
	switch {
	case len(i.By) == 0:
		return "interrupted from outside"
	case len(i.By) == 1 && i.By[0] == collectionFiber:
		return "interrupted by its FiberMap, FiberSet or FiberHandle"
	}
	names := make([]string, len(i.By))
	for n, id := range i.By {
		names[n] = fmt.Sprintf("#%d", id)
	}
	if len(names) == 1 {
		return "interrupted by fiber " + names[0]
	}
	return "interrupted by fibers " + strings.Join(names, ", ")
}

// collectionFiber is effect.CollectionFiber.
const collectionFiber FiberID = math.MaxUint64

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
		return &Defect{Value: die.Defect, Panic: die.Panic}
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
type carried struct{ raised *panics.Recovered }

// recovered is what is known of a panic that this goroutine recovered.
func recovered(r any) *panics.Recovered {
	raised := panics.NewRecovered(1, r)
	return &raised
}

// Recovered is what a panic's recover() gave, without the wrapping that carries
// it from one stack segment to the next.
func Recovered(r any) any {
	if c, ok := r.(carried); ok {
		return c.raised.Value
	}
	return r
}

// CauseRecovered is the cause for the result of a recover() that was not nil.
// It raises the panic again when that is the runtime's own and no frame may
// hold it up. What conc raises again is the panic that conc recovered.
func CauseRecovered(r any) *Cause {
	var raised *panics.Recovered
	switch r := r.(type) {
	case abandoned:
		panic(r)
	case carried:
		raised = r.raised
	default:
		raised = recovered(r)
	}
	switch value := raised.Value.(type) {
	case abandoned:
		panic(value)
	case *panics.Recovered:
		raised = value
	}
	return causeOf(Die{Defect: raised.Value, Panic: raised})
}
