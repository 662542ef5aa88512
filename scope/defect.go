package scope

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strconv"
	"strings"

	"github.com/sourcegraph/conc/panics"
)

// Defect is the error that stands for a Die when a program ends with one. As text it
// is "defect: ", the value and, when a panic raised it, the line; %+v adds the stack,
// and slog gets all three.
type Defect struct {
	// Value is what was raised.
	Value any
	// Panic is what was recovered, or nil when no panic raised the value.
	Panic *panics.Recovered
}

// Error is "defect: ", the value's text and where it was raised, in parentheses.
func (d *Defect) Error() string {
	if at := d.At(); at != "" {
		return fmt.Sprintf("defect: %v (%s)", d.Value, at)
	}
	return fmt.Sprintf("defect: %v", d.Value)
}

// Unwrap is the value when that is an error.
func (d *Defect) Unwrap() error {
	err, _ := d.Value.(error)
	return err
}

// At is where the panic was raised, as FILE:LINE, or "" when none was.
func (d *Defect) At() string { return raisedAt(d.Panic) }

// Stack is the stack from the panic on, as Go prints it, or nil.
func (d *Defect) Stack() []byte { return raisedStack(d.Panic) }

// Format implements fmt.Formatter: %+v is the error and the stack.
func (d *Defect) Format(s fmt.State, verb rune) {
	text := d.Error()
	switch {
	case verb == 'v' && s.Flag('+'):
		_, _ = io.WriteString(s, text)
		if stack := d.Stack(); stack != nil {
			_, _ = fmt.Fprintf(s, "\n\n%s", stack)
		}
	case verb == 'v', verb == 's':
		_, _ = io.WriteString(s, text)
	default:
		_, _ = fmt.Fprintf(s, fmt.FormatString(s, verb), text)
	}
}

// LogValue implements slog.LogValuer: defect, at and stack.
func (d *Defect) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("defect", fmt.Sprint(d.Value))}
	if at := d.At(); at != "" {
		attrs = append(attrs, slog.String("at", at), slog.String("stack", string(d.Stack())))
	}
	return slog.GroupValue(attrs...)
}

// raisedAt is the first line of the program's own, from the panic on; a line of this
// module's kernel only where there is no other.
func raisedAt(p *panics.Recovered) string {
	if p == nil {
		return ""
	}
	frames, panicked, nearest := runtime.CallersFrames(p.Callers), false, ""
	for {
		fr, more := frames.Next()
		switch {
		case fr.Function == "runtime.gopanic":
			panicked = true
		case !panicked || strings.HasPrefix(fr.Function, "runtime."):
			// What recovered it, or the runtime that raised it.
		case !kernels(fr.Function):
			return fr.File + ":" + strconv.Itoa(fr.Line)
		case nearest == "":
			nearest = fr.File + ":" + strconv.Itoa(fr.Line)
		}
		if !more {
			return nearest
		}
	}
}

// kernels tells whether a function is of the packages that run programs.
func kernels(function string) bool {
	return strings.HasPrefix(function, "github.com/rivus/tether/scope.") ||
		strings.HasPrefix(function, "github.com/rivus/tether/effect.")
}

// raisedStack is the stack without what recovered the panic, and without the runtime
// that raised it.
func raisedStack(p *panics.Recovered) []byte {
	if p == nil {
		return nil
	}
	head, rest, ok := bytes.Cut(p.Stack, []byte("\n"))
	if !ok {
		return p.Stack
	}
	lines := bytes.SplitAfter(rest, []byte("\n"))
	panicked := false
	// A call is two lines: the function, and where it is.
	for i := 0; i+1 < len(lines); i += 2 {
		switch {
		case bytes.HasPrefix(lines[i], []byte("panic(")):
			panicked = true
		case panicked && !bytes.HasPrefix(lines[i], []byte("runtime.")):
			return bytes.Join(append([][]byte{head, []byte("\n")}, lines[i:]...), nil)
		}
	}
	return p.Stack
}
