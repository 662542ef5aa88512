package conformance_test

import (
	"errors"

	"github.com/rivus/tether/conformance"
	"github.com/rivus/tether/internal/vectors"
)

// subject is tether's side of the comparison: its interpreter of programs, on
// the deterministic runtime in effect order. Its step limit lies well above the
// oracle's, since the two count differently; what the oracle gives up on is not
// compared.
var subject conformance.Runner = conformance.RunnerFunc(func(program any) (conformance.Result, error) {
	r, err := vectors.Run(program)
	var bad *vectors.ProgramError
	switch {
	case errors.Is(err, vectors.ErrEndless):
		return conformance.Result{}, conformance.ErrStepLimit
	case errors.As(err, &bad):
		return conformance.Result{}, errors.Join(conformance.ErrProgram, err)
	case err != nil:
		return conformance.Result{}, err
	}
	return conformance.Result(r), nil
})
