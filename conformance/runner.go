package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// A Runner runs programs. Run must be safe for concurrent use.
//
// An error means that there is no result to compare: a program that does not end (ErrStepLimit) or is none (ErrProgram), or
// a runner that broke. A program that fails or dies has a result, which says so.
type Runner interface {
	Run(program any) (Result, error)
}

// RunnerFunc is a Runner from a function.
type RunnerFunc func(program any) (Result, error)

// Run calls f.
func (f RunnerFunc) Run(program any) (Result, error) { return f(program) }

var (
	// ErrStepLimit says that a program went on past the limit, so that nothing is known of how it would end.
	ErrStepLimit = errors.New("step limit")
	// ErrLeft says that a program did what no Go program can do: a fiber was forked in the name of one that had ended, whose
	// clock and scheduler are gone, or a list changed after it was given.
	ErrLeft = errors.New("left the world")
	// ErrProgram says that a text is no program: an unknown operation, or wrong arguments.
	ErrProgram = errors.New("not a program")
)

// Result is what a program did, in the form that the vectors have.
type Result struct {
	// Trace is what was logged, in order.
	Trace []string `json:"trace"`
	// Exit is the main fiber's exit as JSON without spaces, or the JSON string "pending".
	Exit json.RawMessage `json:"exit"`
	// Now is the final virtual time in milliseconds.
	Now int64 `json:"now"`
}

// Pending is the exit of a main fiber that never ended.
const Pending = `"pending"`

// Equal reports whether two runs did exactly the same.
func (r Result) Equal(other Result) bool {
	return r.Now == other.Now && string(r.Exit) == string(other.Exit) && slices.Equal(r.Trace, other.Trace)
}

// Encode gives a program as one line of JSON.
func Encode(program any) string {
	text, err := json.Marshal(program)
	if err != nil {
		// Programs come from JSON or from the generator, which makes nothing else.
		panic(fmt.Sprintf("conformance: program is not JSON: %v", err))
	}
	return string(text)
}

// Decode reads a program.
func Decode(text []byte) (any, error) {
	var program any
	if err := json.Unmarshal(text, &program); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProgram, err)
	}
	return program, nil
}
