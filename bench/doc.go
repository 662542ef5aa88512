// Package bench measures Tether side by side with what people would use instead.
// It is a module of its own, so that the references are no dependencies of
// Tether's.
//
//	go test -run '^$' -bench ProcessLock -count 7 .
//
// A benchmark's sub-benchmarks are one piece of work done by Tether ("tether...")
// and by references; what counts is the ratio of their medians, since machines
// differ and are noisy.
package bench
