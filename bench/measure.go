package main

import (
	"runtime"
	"time"
)

// Sample is one measurement of one subject, for a unit.
type Sample struct {
	// Cost is nanoseconds, or bytes for rows about memory.
	Cost float64
	// Allocs and Bytes are what was allocated; of node they are not known.
	Allocs, Bytes float64
	Known         bool
}

// Meter measures one subject again and again.
type Meter struct {
	subject Subject
	target  time.Duration
	node    *Node
	work    Work
	close   func()
	n       int
}

func newMeter(s Subject, target time.Duration, node *Node) *Meter {
	m := &Meter{subject: s, target: target, node: node, n: 1}
	if s.Open != nil {
		m.work, m.close = s.Open()
		m.calibrate()
	}
	if s.Node != "" {
		// Compiling takes node some time, and what it does first is no measure.
		node.sample(s.Node, target, max(10*target, time.Second))
	}
	return m
}

func (m *Meter) end() {
	if m.close != nil {
		m.close()
	}
}

// calibrate finds how many iterations take as long as a sample should; it also
// warms up.
func (m *Meter) calibrate() {
	for {
		took := m.run().took
		if took >= m.target*4/5 || m.n >= 1<<40 {
			return
		}
		// Slowly, as long as little is known.
		more := 10 * float64(m.n)
		if took > 0 {
			more = min(more, 1.1*float64(m.n)*float64(m.target)/float64(took))
		}
		m.n = max(m.n+1, int(more))
	}
}

func (m *Meter) sample() Sample {
	switch {
	case m.subject.Node != "":
		return Sample{Cost: m.node.sample(m.subject.Node, m.target, 0)}
	case m.subject.Measure != nil:
		return Sample{Cost: m.subject.Measure()}
	}
	// One subject does not pay for another one's garbage.
	runtime.GC()
	w := m.run()
	units := float64(m.n) * m.subject.per()
	return Sample{
		Cost: float64(w.took) / units, Known: true,
		Allocs: float64(w.allocs) / units, Bytes: float64(w.bytes) / units,
	}
}

func (m *Meter) run() *watch {
	w := &watch{}
	w.StartTimer()
	m.work(m.n, w)
	w.StopTimer()
	return w
}

// watch implements Timer and counts allocations.
type watch struct {
	running       bool
	from          time.Time
	before, after runtime.MemStats
	took          time.Duration
	allocs, bytes uint64
}

func (w *watch) StartTimer() {
	if !w.running {
		w.running = true
		runtime.ReadMemStats(&w.before)
		w.from = time.Now()
	}
}

func (w *watch) StopTimer() {
	if w.running {
		w.took += time.Since(w.from)
		runtime.ReadMemStats(&w.after)
		w.running = false
		w.allocs += w.after.Mallocs - w.before.Mallocs
		w.bytes += w.after.TotalAlloc - w.before.TotalAlloc
	}
}
