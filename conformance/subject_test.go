package conformance_test

import "github.com/rivus/tether/conformance"

// subject is tether's side of the comparison: its interpreter of programs, on the deterministic runtime in effect order.
// Its step limit should lie well above the oracle's 5,000 steps, since the two count differently; what the oracle gives up
// on is not compared.
//
// Until internal/vectors exists there is none, and the differential test is skipped. Then this becomes a
// conformance.RunnerFunc around vectors.Run, and go.mod requires github.com/rivus/tether.
var subject conformance.Runner
