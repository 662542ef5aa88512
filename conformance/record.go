package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/rivus/tether/conformance/generate"
)

// Vector is a recorded program.
type Vector struct {
	Name    string `json:"name"`
	Program any    `json:"program"`
	Expect  Result `json:"expect"`
}

// Record gives count vectors of a kind. It leaves out programs that do not end and those that run so long without a pause
// that Effect would have made them yield: so their indices, which are part of their names, have gaps.
func Record(oracle *Oracle, kind generate.Kind, seed uint64, count int) ([]Vector, error) {
	const workers = 16
	vectors := make([]Vector, 0, count)
	// Rounds, since only the answers tell how many programs are usable.
	for index := uint64(0); len(vectors) < count; {
		size := count - len(vectors)
		batch := make([]Vector, size)
		failures := make([]error, size)
		each(size, workers, func(i int) {
			at := index + uint64(i)
			program := generate.Program(kind, seed, at)
			measured, err := oracle.Measure(program)
			switch {
			case errors.Is(err, ErrStepLimit), errors.Is(err, ErrLeft), measured.Longest > AutomaticYield:
			case err != nil:
				failures[i] = fmt.Errorf("%s program %d of seed %d: %w", kind, at, seed, err)
			default:
				batch[i] = Vector{Name: fmt.Sprintf("%s/%d/%d", kind, seed, at), Program: program, Expect: measured.Result}
			}
		})
		if err := errors.Join(failures...); err != nil {
			return nil, err
		}
		for _, vector := range batch {
			if vector.Name != "" {
				vectors = append(vectors, vector)
			}
		}
		index += uint64(size)
	}
	return vectors, nil
}

// WriteVectors writes vectors in the form that the recorded ones have: one array, a vector a line.
func WriteVectors(to io.Writer, vectors []Vector) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	for i, vector := range vectors {
		text.WriteString(map[bool]string{true: "[\n", false: ","}[i == 0])
		if err := encoder.Encode(vector); err != nil {
			return err
		}
	}
	text.WriteString(map[bool]string{true: "[]\n", false: "]\n"}[len(vectors) == 0])
	_, err := text.WriteTo(to)
	return err
}
