// Command program prints a program of the generator, the one that a report names.
//
//	go run ./cmd/program -kind adversarial -seed 1 -index 305 | go run ./cmd/oracle -
package main

import (
	"flag"
	"fmt"

	"github.com/rivus/tether/conformance"
	"github.com/rivus/tether/conformance/generate"
)

func main() {
	kind := flag.String("kind", string(generate.Adversarial), "tame or adversarial")
	seed := flag.Uint64("seed", 1, "the seed")
	index := flag.Uint64("index", 0, "the index")
	flag.Parse()
	fmt.Println(conformance.Encode(generate.Program(generate.Kind(*kind), *seed, *index)))
}
