package main

import (
	_ "embed"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed performance.md.tmpl
var page string

// Report is what docs/performance.md is made of.
type Report struct {
	Machine     Machine
	Session     *Session
	Command     string
	Groups      []GroupReport
	Missed      []Result
	Plots       []Plot
	Met, Judged int
}

// GroupReport is a section with what was measured of it.
type GroupReport struct {
	Title   string
	Results []Result
}

func (r *Report) add(title string, results []Result) {
	r.Groups = append(r.Groups, GroupReport{title, results})
	for _, result := range results {
		missed := false
		for _, c := range result.Comparisons {
			if c.judged() {
				r.Judged++
				if c.Met(result.Ours) {
					r.Met++
				} else {
					missed = true
				}
			}
		}
		if result.NoAllocs {
			r.Judged++
			if result.AllocsMet() {
				r.Met++
			} else {
				missed = true
			}
		}
		if missed {
			r.Missed = append(r.Missed, result)
		}
	}
}

// write makes the page and its plots below dir.
func (r *Report) write(dir string) {
	t := template.Must(template.New("performance.md").Parse(page))
	var b strings.Builder
	check(t.Execute(&b, r))
	check(os.WriteFile(filepath.Join(dir, "performance.md"), []byte(b.String()), 0o644))
	plots := filepath.Join(dir, "performance")
	check(os.MkdirAll(plots, 0o755))
	for _, p := range r.Plots {
		check(os.WriteFile(filepath.Join(plots, p.File), []byte(p.svg()), 0o644))
	}
}

func (c Comparison) judged() bool { return c.Goal > 0 && !c.Missing }

// Met is that the median is at most the goal.
func (c Comparison) Met(ours Sample) bool {
	if c.Absolute {
		return ours.Cost <= c.Goal
	}
	// As it is printed.
	return math.Round(c.Ratio.Median*100) <= math.Round(c.Goal*100)
}

// AllocsMet is that nothing was allocated, but for what the measuring itself and the
// beginning of a run do.
func (r Result) AllocsMet() bool { return r.Ours.Allocs < 0.01 }

// Lines are the row's lines in the table.
func (r Result) Lines() []string {
	var lines []string
	for i, c := range r.Comparisons {
		work := r.Work + ", per " + r.Unit
		if r.NoAllocs {
			work += "; goal 0 allocs: " + verdict(r.AllocsMet())
		}
		ours := r.describe(r.Ours)
		if i > 0 {
			work, ours = "", ""
		}
		ratio, goal, judgement := "not measured", "", ""
		if !c.Missing {
			ratio = fmt.Sprintf("**%.2f** (%.2f – %.2f)", c.Ratio.Median, c.Ratio.Low, c.Ratio.High)
		}
		switch {
		case c.Goal > 0 && c.Absolute:
			goal = "0 B"
		case c.Goal > 0:
			goal = fmt.Sprintf("%g", c.Goal)
		}
		if c.judged() {
			judgement = verdict(c.Met(r.Ours))
		}
		theirs := ""
		if !c.Missing {
			theirs = r.describe(c.Theirs)
		}
		lines = append(lines, "| "+strings.Join([]string{work, c.Name, ratio, goal, judgement, ours, theirs}, " | ")+" |")
	}
	return lines
}

// Summary is the row's misses, for the text.
func (r Result) Summary() string {
	var parts []string
	for _, c := range r.Comparisons {
		if c.judged() && !c.Met(r.Ours) {
			parts = append(parts, fmt.Sprintf("%.2f of %s, goal %g", c.Ratio.Median, c.Name, c.Goal))
		}
	}
	if r.NoAllocs && !r.AllocsMet() {
		parts = append(parts, fmt.Sprintf("%.1f allocs, goal 0", r.Ours.Allocs))
	}
	return strings.Join(parts, "; ")
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "**missed**"
}

// describe is a sample for people.
func (r Result) describe(s Sample) string {
	if strings.HasSuffix(r.Unit, "in bytes") {
		return quantity(s.Cost) + " B"
	}
	text := duration(s.Cost)
	if s.Known {
		text += fmt.Sprintf(", %s allocs, %s B", quantity(s.Allocs), quantity(s.Bytes))
	}
	return text
}

func duration(ns float64) string {
	switch {
	case ns >= 1e6:
		return quantity(ns/1e6) + " ms"
	case ns >= 1e3:
		return quantity(ns/1e3) + " µs"
	default:
		return quantity(ns) + " ns"
	}
}

func quantity(v float64) string {
	switch {
	case math.Abs(v) < 0.05:
		return "0"
	case v < 10:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
	default:
		return fmt.Sprintf("%.0f", v)
	}
}
