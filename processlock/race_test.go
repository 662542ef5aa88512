//go:build race

package processlock_test

// raced tells that the race detector, which slows everything down, is on.
const raced = true
