package proptest

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// tracing is a run that is made anew, with its steps written down, when somebody
// prints it.
type tracing[A any] struct {
	program  func() effect.Effect[A]
	settings checkSettings
	schedule Schedule
}

func (r tracing[A]) String() string {
	var t trace
	o := r.settings.deterministic(r.schedule.Chooser())
	o.OnStep = t.step
	out := runOnce(r.program, o)
	exit := "it did not end"
	if e, ended := out.Exit.Get(); ended {
		exit = e.String()
	}
	return fmt.Sprintf("schedule %v, step by step:\n%sended at %v: %s\n", r.schedule, t.String(), out.Now, exit)
}

// trace is the steps of a run, those in a row of one fiber at one place together.
type trace struct{ runs []stretch }

type stretch struct {
	from, to int
	fiber    scope.FiberID
	at       time.Duration
	place    string
}

// step is an OnStep hook: it is called on the fiber's own stack.
func (t *trace) step(n int, f *scope.Fiber) {
	s := stretch{n, n, f.ID(), f.Clock().Monotonic(), place()}
	if len(t.runs) > 0 {
		last := &t.runs[len(t.runs)-1]
		if last.fiber == s.fiber && last.at == s.at && (last.place == s.place || s.place == "") {
			last.to = n
			return
		}
	}
	t.runs = append(t.runs, s)
}

// traced is how much of a long trace is printed, from its end.
const traced = 200

func (t *trace) String() string {
	var b strings.Builder
	runs := t.runs
	if len(runs) > traced {
		fmt.Fprintf(&b, "  ... %d lines before\n", len(runs)-traced)
		runs = runs[len(runs)-traced:]
	}
	var fiber scope.FiberID
	for _, r := range runs {
		switched := " "
		if r.fiber != fiber {
			switched, fiber = "*", r.fiber
		}
		steps := fmt.Sprint(r.from)
		if r.to > r.from {
			steps += fmt.Sprintf("-%d", r.to)
		}
		fmt.Fprintf(&b, " %s fiber #%-3d step %-9s %-8v %s\n", switched, r.fiber, steps, r.at, r.place)
	}
	return b.String()
}

// place is where the running fiber is in the program's own source, or "" when
// only the library's calls are on its stack.
func place() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		frame, more := frames.Next()
		if frame.Function != "" && !inside(frame.Function) {
			_, name, _ := strings.Cut(filepath.Base(frame.Function), ".")
			return fmt.Sprintf("%s:%d (%s)", filepath.Base(frame.File), frame.Line, name)
		}
		if !more {
			return ""
		}
	}
}

func inside(function string) bool {
	for _, prefix := range []string{
		"github.com/rivus/tether/scope.", "github.com/rivus/tether/effect.", "github.com/rivus/tether/proptest.", "iter.", "runtime.",
	} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return false
}
