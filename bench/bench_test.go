package main

import "testing"

// BenchmarkRows has Tether and the Go references as sub-benchmarks of each row. An
// op is an iteration, of which a row may count many units.
func BenchmarkRows(b *testing.B) {
	for _, g := range groups() {
		for _, r := range g.Rows {
			b.Run(r.Name, func(b *testing.B) {
				bench(b, r.Ours)
				for _, reference := range r.Against {
					bench(b, reference.Subject)
				}
			})
		}
	}
}

func bench(b *testing.B, s Subject) {
	if s.Open == nil {
		return
	}
	b.Run(s.Name, func(b *testing.B) {
		work, end := s.Open()
		if end != nil {
			defer end()
		}
		b.ReportAllocs()
		b.ResetTimer()
		work(b.N, b)
		b.ReportMetric(float64(b.Elapsed())/float64(b.N)/s.per(), "ns/unit")
	})
}
