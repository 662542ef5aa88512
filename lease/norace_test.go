//go:build !race

package lease_test

// raced tells that the race detector, which slows everything down, is on.
const raced = false
