package main

import (
	"math"
	"slices"
)

// Spread is a median with the least and the greatest value.
type Spread struct{ Median, Low, High float64 }

func spreadOf(values []float64) Spread {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return Spread{math.NaN(), math.NaN(), math.NaN()}
	}
	return Spread{medianOf(sorted), sorted[0], sorted[len(sorted)-1]}
}

func medianOf(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// column is one figure of all the samples.
func column(samples []Sample, figure func(Sample) float64) []float64 {
	out := make([]float64, len(samples))
	for i, s := range samples {
		out[i] = figure(s)
	}
	return out
}

func cost(s Sample) float64   { return s.Cost }
func allocs(s Sample) float64 { return s.Allocs }
func bytesOf(s Sample) float64 {
	return s.Bytes
}

// ratios are those of the samples of the same rounds, so that what disturbs the
// machine for longer than a round disturbs both.
func ratios(ours, theirs []Sample) []float64 {
	out := make([]float64, len(ours))
	for i := range ours {
		out[i] = ours[i].Cost / theirs[i].Cost
	}
	return out
}
