package proptest_test

import "github.com/rivus/tether/scope"

type exit = scope.Exit[any]
