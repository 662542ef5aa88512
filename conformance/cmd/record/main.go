// Command record makes fresh vectors: programs from a seed, with what effect@4.1.0 did.
//
//	go run ./cmd/record -seed 7 -count 3000 -out /tmp/fresh          # tame-N.json and adversarial-N.json
//	go run ./cmd/record -kind adversarial -seed 7 -count 500 -stats  # what the generator makes, without files
package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rivus/tether/conformance"
	"github.com/rivus/tether/conformance/generate"
	"github.com/rivus/tether/conformance/grammar"
)

func main() {
	var c command
	flag.StringVar(&c.kind, "kind", "", "tame or adversarial; both if left out")
	flag.Uint64Var(&c.seed, "seed", 1, "the seed of the programs")
	flag.IntVar(&c.count, "count", 1000, "the number of vectors of each kind")
	flag.IntVar(&c.perFile, "per-file", 1000, "the number of vectors in a file")
	flag.StringVar(&c.out, "out", "", "the folder for the files; none are written if left out")
	flag.BoolVar(&c.stats, "stats", false, "print how often each operation occurs and how the programs end")
	flag.Parse()
	if err := c.run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type command struct {
	kind           string
	seed           uint64
	count, perFile int
	out            string
	stats          bool
}

func (c command) run() (err error) {
	kinds := generate.Kinds()
	if c.kind != "" {
		kinds = []generate.Kind{generate.Kind(c.kind)}
	}
	oracle, err := conformance.OpenOracle()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, oracle.Close()) }()
	for _, kind := range kinds {
		vectors, err := conformance.Record(oracle, kind, c.seed, c.count)
		if err != nil {
			return err
		}
		if c.stats {
			printStats(kind, vectors)
		}
		if c.out == "" {
			continue
		}
		if err := c.write(kind, vectors); err != nil {
			return err
		}
	}
	return nil
}

func (c command) write(kind generate.Kind, vectors []conformance.Vector) error {
	if err := os.MkdirAll(c.out, 0o755); err != nil {
		return err
	}
	number := 0
	for chunk := range slices.Chunk(vectors, max(c.perFile, 1)) {
		number++
		file, err := os.Create(filepath.Join(c.out, fmt.Sprintf("%s-%d.json", kind, number)))
		if err != nil {
			return err
		}
		if err := errors.Join(conformance.WriteVectors(file, chunk), file.Close()); err != nil {
			return err
		}
	}
	return nil
}

func printStats(kind generate.Kind, vectors []conformance.Vector) {
	uses := map[string]int{}
	for _, name := range grammar.Operations() {
		uses[name] = 0
	}
	var size, lines, pending, failed, outlived, interrupted, silent int
	for _, vector := range vectors {
		size += len(conformance.Encode(vector.Program))
		lines += len(vector.Expect.Trace)
		grammar.Walk(vector.Program, func(expression []any) { uses[expression[0].(string)]++ })
		exit := string(vector.Expect.Exit)
		trace := strings.Join(vector.Expect.Trace, "\n")
		count(&pending, exit == conformance.Pending)
		count(&failed, strings.HasPrefix(exit, `{"failure"`))
		count(&outlived, strings.Contains(trace, "#done\n"))
		count(&interrupted, strings.Contains(trace, `["interrupt"]`))
		count(&silent, len(vector.Expect.Trace) <= 1)
	}
	n := len(vectors)
	share := func(part int) float64 { return 100 * float64(part) / float64(max(n, 1)) }
	fmt.Printf("%s: %d programs of %d bytes, %.1f lines of trace each\n", kind, n, size/max(n, 1), float64(lines)/float64(max(n, 1)))
	fmt.Printf("  pending %.1f %%, failed %.1f %%, go on past the main fiber %.1f %%, show an interruption %.1f %%, show nothing %.1f %%\n",
		share(pending), share(failed), share(outlived), share(interrupted), share(silent))
	names := slices.SortedFunc(maps.Keys(uses), func(a, b string) int {
		if uses[a] != uses[b] {
			return uses[b] - uses[a]
		}
		return strings.Compare(a, b)
	})
	for line := range slices.Chunk(names, 8) {
		for _, name := range line {
			fmt.Printf("  %s %d", name, uses[name])
		}
		fmt.Println()
	}
}

func count(n *int, yes bool) {
	if yes {
		*n++
	}
}
