package main

import (
	"context"
	"log"
	"slices"
	"time"

	"github.com/rivus/tether/effect"
)

// Scale is a plot of costs against sizes. Costs are relative to that of one
// reference at the smallest size, so that the machine's speed does not matter.
type Scale struct {
	Name, Title, XLabel string
	Series              []Series
	// One is the curve, a reference's, whose first cost is 1.
	One string
}

// Series is one subject, at several sizes; a sample gives a point of each of its
// curves.
type Series struct {
	Curves []string
	Ours   bool
	Node   bool
	Sizes  []int
	// Open gives what takes a sample: the nanoseconds for a unit, for each curve.
	Open func(s *Session, size int) (sample func() []float64, close func())
}

// plot measures the series, size by size and in turn. ok is false when it is not
// wanted.
func (s *Session) plot(sc Scale) (p Plot, ok bool) {
	if !s.Only.MatchString(sc.Name) {
		return p, false
	}
	p = Plot{File: sc.Name + ".svg", Title: sc.Title, XLabel: sc.XLabel, YLabel: "cost; 1 is the first point of: " + sc.One}
	lines := make(map[string]*Line)
	for _, series := range sc.Series {
		for _, name := range series.Curves {
			lines[name] = &Line{Name: name, Dashed: !series.Ours}
		}
	}
	for _, size := range sizesOf(sc.Series) {
		log.Printf("%s at %d", sc.Name, size)
		s.sizes(sc.Series, size, lines)
	}
	one := lines[sc.One].Y[0]
	for _, series := range sc.Series {
		for _, name := range series.Curves {
			if l := lines[name]; len(l.X) > 0 {
				for i := range l.Y {
					l.Y[i] /= one
				}
				p.Lines = append(p.Lines, *l)
			}
		}
	}
	return p, true
}

// sizes adds the points of one size to the lines.
func (s *Session) sizes(all []Series, size int, lines map[string]*Line) {
	type open struct {
		Series
		sample func() []float64
		close  func()
		costs  [][]float64
	}
	var measured []*open
	for _, series := range all {
		if slices.Contains(series.Sizes, size) && (!series.Node || s.Node != nil) {
			o := &open{Series: series, costs: make([][]float64, len(series.Curves))}
			o.sample, o.close = series.Open(s, size)
			measured = append(measured, o)
		}
	}
	for range s.ScaleRounds {
		for _, o := range measured {
			for i, cost := range o.sample() {
				o.costs[i] = append(o.costs[i], cost)
			}
		}
	}
	for _, o := range measured {
		o.close()
		for i, name := range o.Curves {
			l := lines[name]
			l.X, l.Y = append(l.X, float64(size)), append(l.Y, spreadOf(o.costs[i]).Median)
		}
	}
}

// sizesOf are all sizes: those of the longest list.
func sizesOf(series []Series) (sizes []int) {
	for _, s := range series {
		if len(s.Sizes) > len(sizes) {
			sizes = s.Sizes
		}
	}
	return sizes
}

// oneCurve is a series with one curve, of a subject that is made for each size.
func oneCurve(name string, ours bool, sizes []int, at func(size int) Subject) Series {
	return Series{Curves: []string{name}, Ours: ours, Sizes: sizes, Open: func(s *Session, size int) (func() []float64, func()) {
		m := newMeter(at(size), s.Target, s.Node)
		return func() []float64 { return []float64{m.sample().Cost} }, m.end
	}}
}

// fiberPhases is a series about fibers: they are forked and park, then each is
// interrupted and awaited.
func fiberPhases(name string, ours bool, sizes []int, cycle func(size int, parked func())) Series {
	curves := []string{name + ": fork and park", name + ": interrupt and await"}
	return Series{Curves: curves, Ours: ours, Sizes: sizes, Open: func(s *Session, size int) (func() []float64, func()) {
		return func() []float64 {
			var fork, interrupt time.Duration
			units := 0
			for fork+interrupt < s.Target {
				from := time.Now()
				cycle(size, func() {
					fork += time.Since(from)
					from = time.Now()
				})
				interrupt += time.Since(from)
				units += size
			}
			return []float64{float64(fork) / float64(units), float64(interrupt) / float64(units)}
		}, func() {}
	}}
}

func effectPhases(sizes []int) Series {
	curves := []string{"effect: fork and park", "effect: interrupt and await"}
	return Series{Curves: curves, Node: true, Sizes: sizes, Open: func(s *Session, size int) (func() []float64, func()) {
		cases := []string{sized("park", size), sized("interrupt", size)}
		for _, c := range cases {
			s.Node.sample(c, s.Target, 10*s.Target)
		}
		return func() []float64 {
			return []float64{s.Node.sample(cases[0], s.Target, 0), s.Node.sample(cases[1], s.Target, 0)}
		}, func() {}
	}}
}

func fiberScale() Scale {
	sizes := []int{1_000, 3_000, 10_000, 30_000, 100_000}
	return Scale{
		Name: "fibers", Title: "Fibers that are parked at the same time", XLabel: "fibers",
		One: "goroutine: fork and park",
		Series: []Series{
			fiberPhases("tether", true, sizes, func(size int, parked func()) {
				must(effect.Run(context.Background(), interruptMany(size, parked)))
			}),
			fiberPhases("goroutine", false, sizes, goInterruptMany),
			effectPhases(sizes),
		},
	}
}

func laneScale() Scale {
	sizes := []int{1_000, 10_000, 100_000, 1_000_000}
	const queue = "client-go workqueue"
	return Scale{
		Name: "lanes", Title: "Wake to activation, saturated, 4 slots", XLabel: "keys", One: queue,
		Series: []Series{
			oneCurve("tether", true, sizes, saturatedLanes),
			oneCurve(queue, false, sizes, saturatedQueue),
			// A million would take gigabytes of stacks.
			oneCurve("a goroutine per key", false, sizes[:3], goroutinePerKey),
		},
	}
}

func scales() []Scale { return []Scale{fiberScale(), laneScale(), leaseScale()} }
