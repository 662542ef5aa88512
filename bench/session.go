package main

import (
	"log"
	"regexp"
	"time"
)

// Session is one run of the program.
type Session struct {
	// Rounds is how many samples each subject gives, and ScaleRounds how many each
	// point of a plot is made of.
	Rounds, ScaleRounds int
	// Target is how long a sample takes, about.
	Target time.Duration
	Only   *regexp.Regexp
	// Node is nil when effect cannot be measured; WithoutNode says why.
	Node        *Node
	WithoutNode string
}

// Result is what was measured of a row.
type Result struct {
	Row
	Ours        Sample // medians
	Comparisons []Comparison
}

// Comparison is ours against one reference.
type Comparison struct {
	Reference
	Theirs Sample // medians
	Ratio  Spread
	// Missing is that the reference cannot be measured here.
	Missing bool
}

// measure takes the row's samples in turn: ours, reference, reference, ours, ...
func (s *Session) measure(r Row) (Result, bool) {
	if !s.Only.MatchString(r.Name) {
		return Result{}, false
	}
	log.Print(r.Name)
	result := Result{Row: r}
	meters := []*Meter{newMeter(r.Ours, s.Target, s.Node)}
	for _, reference := range r.Against {
		c := Comparison{Reference: reference, Missing: reference.Node != "" && s.Node == nil}
		var m *Meter
		if !c.Missing {
			m = newMeter(reference.Subject, s.Target, s.Node)
		}
		meters = append(meters, m)
		result.Comparisons = append(result.Comparisons, c)
	}
	samples := make([][]Sample, len(meters))
	for range s.Rounds {
		for i, m := range meters {
			if m != nil {
				samples[i] = append(samples[i], m.sample())
			}
		}
	}
	result.Ours = medians(samples[0])
	for i := range result.Comparisons {
		if c := &result.Comparisons[i]; !c.Missing {
			c.Theirs = medians(samples[i+1])
			c.Ratio = spreadOf(ratios(samples[0], samples[i+1]))
		}
	}
	for _, m := range meters {
		if m != nil {
			m.end()
		}
	}
	return result, true
}

func medians(samples []Sample) Sample {
	return Sample{
		Cost:   spreadOf(column(samples, cost)).Median,
		Allocs: spreadOf(column(samples, allocs)).Median,
		Bytes:  spreadOf(column(samples, bytesOf)).Median,
		Known:  samples[0].Known,
	}
}
