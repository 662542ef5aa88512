// Package child runs the test binary again as another process, and drives it: a
// command goes into its standard input and a reply comes out of its standard output,
// each a value of JSON. Its TestMain sees by an environment variable that it is one.
//
// The package has functions on Linux only.
package child
