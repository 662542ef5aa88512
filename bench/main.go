// Command bench measures Tether side by side with what people would use instead:
// Go's own means and the effect package on node, all in one run, in turn. It writes
// docs/performance.md and its plots.
//
//	go run . [-full] [-run REGEXP]
//
// The Go side alone runs as benchmarks, too:
//
//	go test -run '^$' -bench REGEXP -count 7 .
//
// It is a module of its own, so that the references are no dependencies of Tether's.
package main

import (
	"flag"
	"fmt"
	"log"
	"regexp"
	"time"
)

// groups are the sections of the table.
func groups() []Group {
	return []Group{sequences(), fibers(), scopes(), syncs(), forEach(), memory(), lanesGroup(), leases(), processLocks()}
}

func main() {
	log.SetFlags(0)
	full := flag.Bool("full", false, "more rounds, and longer samples")
	only := flag.String("run", "", "measure just the rows whose names match, and print them")
	weighs := flag.String("weigh", "", "")
	count := flag.Int("count", 1, "")
	flag.Parse()
	if *weighs != "" {
		weigh(*weighs, *count)
		return
	}
	s := Session{Rounds: 7, Target: 50 * time.Millisecond, Only: regexp.MustCompile(*only)}
	if *full {
		s.Rounds, s.Target = 15, 200*time.Millisecond
	}
	var err error
	if s.Node, err = startNode("node"); err != nil {
		log.Printf("effect is left out: %v", err)
		s.WithoutNode = err.Error()
	}
	defer s.Node.stop()
	for _, g := range groups() {
		for _, r := range g.Rows {
			result, measured := s.measure(r)
			if !measured {
				continue
			}
			for _, c := range result.Comparisons {
				fmt.Printf("%-22s %6.2f [%.2f-%.2f] goal %v | %.1f (%.1f allocs %.0f B) vs %.1f (%.1f allocs %.0f B) %s\n", r.Name,
					c.Ratio.Median, c.Ratio.Low, c.Ratio.High, c.Goal, result.Ours.Cost, result.Ours.Allocs, result.Ours.Bytes, c.Theirs.Cost, c.Theirs.Allocs, c.Theirs.Bytes, c.Name)
			}
		}
	}
}
