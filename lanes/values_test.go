package lanes_test

import (
	"errors"

	"github.com/rivus/tether/scope"
)

type exit = scope.Exit[any]

func causeFail(text string) *scope.Cause { return scope.CauseFail(errors.New(text)) }
