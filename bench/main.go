// Command bench measures Tether side by side with what people would use instead:
// Go's own means and the effect package on node, all in one run, in turn. It writes
// docs/performance.md and its plots, unless it measures just some rows.
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
	"path/filepath"
	"regexp"
	"time"
)

// groups are the sections of the table.
func groups() []Group {
	return []Group{
		sequences(), fibers(), scopes(), syncs(), forEach(), memory(), lanesGroup(), leases(), processLocks(), compiling(),
	}
}

func main() {
	log.SetFlags(log.Ltime)
	full := flag.Bool("full", false, "more rounds, and longer samples")
	only := flag.String("run", "", "measure just the rows and plots whose names match, and print the table")
	out := flag.String("out", filepath.Join("..", "docs"), "the `directory` for the page")
	flag.StringVar(&diskDir, "dir", "", "the `directory` for databases, on a disk; else that for temporary files")
	// What follows makes this a process of a measurement.
	weighs := flag.String("weigh", "", "")
	works, path, index := flag.String("work", "", ""), flag.String("path", "", ""), flag.Int("index", 0, "")
	count := flag.Int("count", 1, "")
	flag.Parse()
	switch {
	case *weighs != "":
		weigh(*weighs, *count)
		return
	case *works != "":
		work(*works, *path, *index, *count)
		return
	}
	s := &Session{Rounds: 7, ScaleRounds: 3, Target: 50 * time.Millisecond, Only: regexp.MustCompile(*only)}
	report := &Report{Command: "make bench", Session: s}
	if *full {
		s.Rounds, s.ScaleRounds, s.Target = 15, 7, 200*time.Millisecond
		report.Command = "make bench-full"
	}
	load := loadOfOthers() // before node, which starts with some work of its own
	var err error
	if s.Node, err = startNode("node"); err != nil {
		log.Printf("effect is left out: %v", err)
		s.WithoutNode = err.Error()
	}
	defer s.Node.stop()
	report.Machine = machine(s, load)
	for _, g := range groups() {
		var results []Result
		for _, r := range g.Rows {
			if result, measured := s.measure(r); measured {
				results = append(results, result)
			}
		}
		report.add(g.Title, results)
	}
	for _, sc := range scales() {
		if p, measured := s.plot(sc); measured {
			report.Plots = append(report.Plots, p)
		}
	}
	if *only == "" {
		report.write(*out)
	}
	for _, g := range report.Groups {
		for _, r := range g.Results {
			for _, line := range r.Lines() {
				fmt.Println(line)
			}
		}
	}
}
