// Package vectors runs the programs of the conformance format: effect programs
// as data, whose outcome on effect@4.1.0 is known. Tests compare this library
// with that.
//
// An expression compiles to an effect.Effect[any], one operation to what the
// library calls it, so that a difference in a trace is a difference of the
// library. Names are looked up when an operation runs.
package vectors

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/scope"
)

// Result is what a program did.
type Result struct {
	// Trace is what was logged, in order, with "#done" for the main fiber's end.
	Trace []string `json:"trace"`
	// Exit is the main fiber's exit as JSON without spaces, or "pending".
	Exit json.RawMessage `json:"exit"`
	// Now is the final virtual time in milliseconds.
	Now int64 `json:"now"`
}

// Vector is a program with what effect@4.1.0 did.
type Vector struct {
	Name    string `json:"name"`
	Program any    `json:"program"`
	Expect  Result `json:"expect"`
}

// E is what expressions compile to.
type E = effect.Effect[any]

// ProgramError says that a text is not a program of the format.
type ProgramError struct{ Reason string }

func (p *ProgramError) Error() string { return "not a program: " + p.Reason }

// StepLimit is the number of steps after which Run gives a program up.
const StepLimit = 200_000

// ErrEndless says that a program was given up.
var ErrEndless = fmt.Errorf("the program took more than %d steps", StepLimit)

// Run runs a program (decoded JSON) in the effect order on a virtual clock.
func Run(program any) (Result, error) {
	r, _, err := RunWith(program, scope.DeterministicConfig{MaxSteps: StepLimit})
	return r, err
}

// RunWith is Run with a config of the caller's, but for its OnEnd. It also gives the run's report.
func RunWith(program any, c scope.DeterministicConfig) (r Result, report scope.Report, err error) {
	in := &interp{names: map[string]any{}, counters: map[string]int{}, pause: effect.YieldNow()}
	main, err := in.program(program)
	if err != nil {
		return Result{}, scope.Report{}, err
	}
	c.OnEnd = func(*scope.Fiber) { in.log(nil, "#done") }
	out := effect.RunDeterministic(main, c)
	if out.StepLimit {
		return Result{}, out.Report, ErrEndless
	}
	exit := `"pending"`
	if e, ok := out.Exit.Get(); ok {
		exit = exitText(e)
	}
	return Result{Trace: in.lines(), Exit: json.RawMessage(exit), Now: out.Now.Milliseconds()}, out.Report, nil
}

// Line is one line of a trace and the fiber that logged it; 0 for none.
type Line struct {
	Fiber scope.FiberID
	Text  string
}

// Compile gives the program's effect, for running it elsewhere. heard is told
// each line as it is logged, one call at a time. pause is what lets everything
// else that is ready run, which YieldNow promises on a serial runtime only.
// fibers are those that names are bound to when it is called.
func Compile(program any, heard func(Line), pause effect.Effect[effect.Unit]) (main E, fibers func() []effect.AnyFiber, err error) {
	in := &interp{names: map[string]any{}, counters: map[string]int{}, heard: heard, pause: pause}
	main, err = in.program(program)
	return main, func() (out []effect.AnyFiber) {
		in.mu.Lock()
		defer in.mu.Unlock()
		for _, v := range in.names {
			if f, ok := v.(effect.AnyFiber); ok {
				out = append(out, f)
			}
		}
		return out
	}, err
}

// ExitText is an exit in the format's form.
func ExitText(e scope.Exit[any]) string { return exitText(e) }

// interp is one run. On the parallel runtime fibers share it.
type interp struct {
	mu       sync.Mutex
	trace    []Line
	names    map[string]any
	counters map[string]int
	heard    func(Line)
	pause    effect.Effect[effect.Unit]
}

func (in *interp) program(program any) (e E, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, ok := r.(*ProgramError)
			if !ok {
				panic(r)
			}
			err = p
		}
	}()
	return in.compile(program, nil), nil
}

func (in *interp) log(f *scope.Fiber, line string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	id := scope.FiberID(0)
	if f != nil {
		id = f.ID()
	}
	in.trace = append(in.trace, Line{id, line})
	if in.heard != nil {
		in.heard(Line{id, line})
	}
}

func (in *interp) lines() []string {
	out := make([]string, len(in.trace))
	for i, l := range in.trace {
		out[i] = l.Text
	}
	return out
}

// Unbound is the defect of a name that nothing is bound to.
type Unbound struct{ Name string }

func (u Unbound) Error() string { return "unbound " + u.Name }

func (in *interp) lookup(name string) any {
	in.mu.Lock()
	defer in.mu.Unlock()
	v, ok := in.names[name]
	if !ok {
		panic(Unbound{name})
	}
	return v
}

func (in *interp) bind(name string, v any) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.names[name] = v
}

// with looks a name up when it runs and goes on with what use makes of it.
func with[T any](in *interp, name string, use func(T) E) E {
	return effect.Suspend(func() E { return use(as[T](in, name)) })
}

func as[T any](in *interp, name string) T {
	found := in.lookup(name)
	v, ok := found.(T)
	if !ok && found != nil {
		panic(fmt.Errorf("%s is bound to something else", name))
	}
	return v
}

// make binds what e makes to a name and gives no value.
func bindTo[T any](in *interp, name string, e effect.Effect[T]) E {
	return e.Map(func(v T) any {
		in.bind(name, v)
		return nil
	})
}

// void drops a result.
func void[T any](e effect.Effect[T]) E { return e.Map(func(T) any { return nil }) }

// widen makes a result a value of the format.
func widen[T any](e effect.Effect[T]) E { return e.Map(func(v T) any { return v }) }

// logged logs a line, then is e.
func (in *interp) logged(line func() string, e E) E {
	return effect.WithFiber(func(f *scope.Fiber) E {
		in.log(f, line())
		return e
	})
}

func (in *interp) say(line func() string) E {
	return effect.Direct(func(f *scope.Fiber) (any, *scope.Cause) {
		in.log(f, line())
		return nil, nil
	})
}

// args are an operation's arguments.
type args struct {
	in  *interp
	all []any
	// restore is what the innermost enclosing mask of the text hands out.
	restore *effect.Restore
}

func bad(format string, a ...any) any { panic(&ProgramError{fmt.Sprintf(format, a...)}) }

func (a args) at(i int) any {
	if i >= len(a.all) {
		return nil
	}
	return a.all[i]
}

func (a args) has(i int) bool { return i < len(a.all) && a.all[i] != nil }

func (a args) str(i int) string {
	s, ok := a.at(i).(string)
	if !ok {
		bad("argument %d is no string: %v", i+1, a.at(i))
	}
	return s
}

func (a args) num(i int) float64 {
	n, ok := a.at(i).(float64)
	if !ok {
		bad("argument %d is no number: %v", i+1, a.at(i))
	}
	return n
}

func (a args) int(i int) int { return int(a.num(i)) }

func (a args) ms(i int) time.Duration { return millis(a.num(i)) }

func millis(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

func (a args) list(i int) []any {
	l, ok := a.at(i).([]any)
	if !ok {
		bad("argument %d is no list: %v", i+1, a.at(i))
	}
	return l
}

func (a args) object(i int) map[string]any {
	m, _ := a.at(i).(map[string]any)
	return m
}

// of compiles argument i.
func (a args) of(i int) E { return a.in.compile(a.at(i), a.restore) }

// each compiles the expressions in argument i.
func (a args) each(i int) []E {
	list := a.list(i)
	out := make([]E, len(list))
	for j, e := range list {
		out[j] = a.in.compile(e, a.restore)
	}
	return out
}

// concurrency is argument i as TypeScript's concurrency option.
func (a args) concurrency(i int) effect.Concurrency {
	switch n := a.at(i).(type) {
	case nil:
		return effect.One
	case float64:
		return effect.Concurrency(n)
	case string:
		return effect.Unbounded
	}
	return effect.One
}

// operation builds the effect of one operation.
type operation func(a args) E

var operations = map[string]operation{}

// register adds operations; each file of them calls it once.
func register(more map[string]operation) struct{} {
	for name, op := range more {
		operations[name] = op
	}
	return struct{}{}
}

func (in *interp) compile(x any, restore *effect.Restore) E {
	list, ok := x.([]any)
	if !ok || len(list) == 0 {
		bad("%v is no expression", x)
	}
	name, _ := list[0].(string)
	op, ok := operations[name]
	if !ok {
		bad("unknown operation %v", list[0])
	}
	return op(args{in: in, all: list[1:], restore: restore})
}

// Diff is a readable comparison of two results, or "" when they are equal.
func Diff(want, got Result) string {
	var b strings.Builder
	n := max(len(want.Trace), len(got.Trace))
	first := -1
	for i := range n {
		if at(want.Trace, i) != at(got.Trace, i) {
			first = i
			break
		}
	}
	if first >= 0 {
		fmt.Fprintf(&b, "  traces differ at %d of %d/%d:\n", first, len(want.Trace), len(got.Trace))
		for i := max(0, first-3); i < min(n, first+6); i++ {
			mark := " "
			if at(want.Trace, i) != at(got.Trace, i) {
				mark = "!"
			}
			fmt.Fprintf(&b, "  %s want %-44s got %s\n", mark, at(want.Trace, i), at(got.Trace, i))
		}
	}
	if string(want.Exit) != string(got.Exit) {
		fmt.Fprintf(&b, "  exit: want %s\n         got %s\n", want.Exit, got.Exit)
	}
	if want.Now != got.Now {
		fmt.Fprintf(&b, "  now: want %d, got %d\n", want.Now, got.Now)
	}
	return b.String()
}

func at(trace []string, i int) string {
	if i < len(trace) {
		return trace[i]
	}
	return "-"
}
