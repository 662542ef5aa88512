package conformance_test

import "github.com/rivus/tether/conformance"

// subject is tether's side of the comparison: its interpreter of programs on the deterministic runtime, in effect order.
var subject conformance.Runner
