// Command mutants proves that the tests notice faults. A mutant is one small
// wrong change of this module's code, kept as a patch; the tests that are mapped
// to it must fail with it.
//
//	go run ./internal/mutants                    # all of them
//	go run ./internal/mutants -short             # without those that need node
//	go run ./internal/mutants kernel/one-fifo    # these
//	go run ./internal/mutants -list
//	go run ./internal/mutants -random 100 -seed 7  # generated ones, and how many were caught
//	go run ./internal/mutants -table             # all, and the tables in docs/ anew
//	go run ./internal/mutants -overlay DIR NAME  # writes DIR/overlay.json for go test -overlay
//
// A patch is a file GROUP/NAME.patch beside this one: two lines of header, an
// empty line and a unified diff.
//
//	Rule: Each fiber has its own dispatcher: one FIFO for all instead.
//	Fails: ./effect TestVectors
//
// Fails is a package and a -run pattern; or "differential SEED COUNT", which is
// so many fresh programs of conformance/generate, with the answers of
// effect@4.1.0. The numbers in a diff's @@ lines do not matter: the lines of each
// hunk must occur exactly once in the file. So patches outlive most changes
// around them, and one that does not is an error that names it.
//
// The product's code has no switches. They stand in the overlay alone: compiling
// a test package takes longer than running it, so all mutants are compiled into
// one test program (see splice), and an environment variable picks the one that
// is active. For this a patch may change the bodies of functions and the imports,
// nothing else.
//
// A random mutant changes one operator, condition, number, result or statement of the
// logic in scope, effect, lanes, lease and processlock. It is caught when a test fails
// by an assertion; a crash and a test that does not end are counted apart.
package main
