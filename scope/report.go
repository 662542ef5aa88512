package scope

import (
	"fmt"
	"runtime"
	"strings"
	"time"
)

// Report is what a deterministic run ended with.
type Report struct {
	// Main is the main fiber, and Ended tells whether it ended.
	Main  *Fiber
	Ended bool
	// Now is how far the clock went.
	Now time.Duration
	// Steps is the number of steps.
	Steps int
	// StepLimit tells that the run was cut off at MaxSteps.
	StepLimit bool
	// Stuck are the fibers that were still waiting, by number.
	Stuck []Stuck
	// Unheard are the fibers that ended with a defect which nobody looked at: see
	// NewBystander. The parallel runtime logs them.
	Unheard []Unheard
}

// Unheard is a fiber that ended with a defect which nobody observed.
type Unheard struct {
	Fiber FiberID
	Cause *Cause
}

// Stuck is a fiber that waits for something that can no longer come.
type Stuck struct {
	Fiber FiberID
	// On says what it waits for.
	On string
	// At is where in the source it parked, innermost call first; calls inside
	// this module come after the program's own.
	At []string
}

// String is one line for each stuck fiber.
func (r Report) String() string {
	var b strings.Builder
	if r.StepLimit {
		fmt.Fprintf(&b, "stopped after %d steps\n", r.Steps)
	}
	for _, s := range r.Stuck {
		fmt.Fprintf(&b, "fiber #%d waits for %s", s.Fiber, s.On)
		if len(s.At) > 0 {
			fmt.Fprintf(&b, " at %s", s.At[0])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (d *Deterministic) report(main *Fiber) Report {
	r := Report{Main: main, Now: d.clock.now, Steps: d.steps, StepLimit: d.halted, Unheard: d.defects}
	for _, f := range d.alive() {
		on := "its turn"
		if w := f.host.wait; w != nil {
			on = w.What
			if w.Fiber != nil {
				on = fmt.Sprintf("fiber #%d", w.Fiber.id)
			}
		}
		r.Stuck = append(r.Stuck, Stuck{Fiber: f.id, On: on, At: frames(f.host.co.where)})
	}
	return r
}

func frames(pcs []uintptr) []string {
	if len(pcs) == 0 {
		return nil
	}
	var own, rest []string
	it := runtime.CallersFrames(pcs)
	for {
		fr, more := it.Next()
		line := fmt.Sprintf("%s:%d (%s)", fr.File, fr.Line, fr.Function)
		if kernels(fr.Function) || strings.HasPrefix(fr.Function, "iter.") || strings.HasPrefix(fr.Function, "runtime.") {
			rest = append(rest, line)
		} else {
			own = append(own, line)
		}
		if !more {
			return append(own, rest...)
		}
	}
}
