package scope

import (
	"cmp"
	"slices"
	"sync/atomic"
)

// machine runs fibers one at a time, in the order of effect@4.1.0: whoever wakes a
// fiber runs it at once, until it waits again; what fibers hand over when they let go
// waits in batches, one for each fiber. The deterministic and the serial runtime are
// machines; they differ in their clocks and in where work comes from.
type machine struct {
	// ready are the batches that wait for their turn, and batch is the one whose turn
	// it is, while there is something left in it.
	ready ring[*batch]
	batch *batch
	spare []*batch
	// foreign are completions of work that was done elsewhere. They wait until nothing
	// is ready.
	foreign ring[task]

	// coroutines are all, idle those without a fiber. live is the number of fibers that
	// have one.
	coroutines []*coroutine
	idle       []*coroutine
	live       int
	// running is the goroutine that runs at the moment. Any goroutine may read it.
	running atomic.Uintptr
	// current is the fiber that runs, nil between two. Any goroutine may read it.
	current atomic.Pointer[Fiber]

	// onRun hears of each switch to a fiber.
	onRun func(f *Fiber)
	// halted: nothing more is run.
	halted bool
	// abandoned: the fibers that are left are torn down.
	abandoned bool
}

// batch is what was handed to one fiber's dispatcher since it last ran.
type batch struct {
	// owner is nil for a task that is no fiber's.
	owner *Fiber
	tasks []task
	// done is how many of them have been begun.
	done int
}

// task is something to do when its turn comes: to call fn, or else to end the wait of
// that number of fiber, or to start it.
type task struct {
	fn    func()
	fiber *Fiber
	wait  uint64
}

// Waits are numbered from 1.
const (
	startFiber uint64 = 0
	// resumeFiber switches to a fiber whose wait somebody has ended already.
	resumeFiber = ^uint64(0)
)

func call(fn func()) task                  { return task{fn: fn} }
func wake(t Token) task                    { return task{fiber: t.fiber, wait: t.wait} }
func startTask(f *Fiber) task              { return task{fiber: f, wait: startFiber} }
func resumeTask(f *Fiber) task             { return task{fiber: f, wait: resumeFiber} }
func (t task) starts() bool                { return t.fn == nil && t.wait == startFiber }
func (m *machine) serial() bool            { return true }
func (m *machine) abandoning() bool        { return m.abandoned }
func (m *machine) leave(*Fiber)            {}
func (m *machine) prepare(*Fiber)          {}
func (m *machine) cancel(*Fiber)           {}
func (m *machine) moved()                  { m.running.Store(self()) }
func (m *machine) start(f *Fiber)          { m.begin(f) }
func (m *machine) startLater(by, f *Fiber) { m.dispatch(by, startTask(f)) }
func (m *machine) dispatch(on *Fiber, t task) {
	b := on.host.batch
	if b == nil {
		b = m.newBatch(on)
		on.host.batch = b
		m.ready.push(b)
	}
	b.tasks = append(b.tasks, t)
}

func (m *machine) do(t task) {
	switch {
	case t.fn != nil:
		t.fn()
	case t.wait == startFiber:
		m.begin(t.fiber)
	case t.wait == resumeFiber:
		m.run(t.fiber)
	default:
		Token{t.fiber, t.wait}.Wake()
	}
}

// begin starts f here and now, unless it was ended before.
func (m *machine) begin(f *Fiber) {
	if m.abandoned || !f.begin() {
		return
	}
	co := m.acquire()
	co.fiber = f
	f.host.co = co
	m.live++
	m.run(f)
}

// run switches to f, which comes back when it waits or has ended.
func (m *machine) run(f *Fiber) {
	if m.onRun != nil {
		m.onRun(f)
	}
	here, before, co := m.running.Load(), m.current.Load(), f.host.co
	m.current.Store(f)
	co.next()
	m.current.Store(before)
	m.running.Store(here)
	if co.dying {
		m.bury(co)
	}
}

// yield switches from f back to who switched to it.
func (m *machine) yield(f *Fiber) {
	here := m.running.Load()
	if !f.host.co.yield(struct{}{}) || m.abandoned {
		panic(abandoned{})
	}
	m.running.Store(here)
}

func (m *machine) unblock(f *Fiber) {
	if !m.abandoned {
		m.run(f)
	}
}

// runNext runs the ready batch at i, or what is left of the one before when that was
// cut short. There must be one.
func (m *machine) runNext(i int) {
	b := m.batch
	if b == nil {
		b = m.ready.remove(i)
		if b.owner != nil {
			b.owner.host.batch = nil
		}
		m.batch = b
	}
	for b.done < len(b.tasks) {
		if m.halted {
			return
		}
		t := b.tasks[b.done]
		b.tasks[b.done] = task{}
		b.done++
		m.do(t)
	}
	m.batch = nil
	m.recycle(b)
}

// somethingReady tells whether runNext has anything to run.
func (m *machine) somethingReady() bool { return m.batch != nil || m.ready.len() > 0 }

const (
	// maxSpare and maxSpareTasks bound what is kept for use again.
	maxSpare      = 64
	maxSpareTasks = 1024
)

func (m *machine) newBatch(owner *Fiber) *batch {
	n := len(m.spare)
	if n == 0 {
		return &batch{owner: owner}
	}
	b := m.spare[n-1]
	m.spare[n-1] = nil
	m.spare = m.spare[:n-1]
	b.owner = owner
	return b
}

func (m *machine) recycle(b *batch) {
	if len(m.spare) < maxSpare && cap(b.tasks) <= maxSpareTasks {
		*b = batch{tasks: b.tasks[:0]}
		m.spare = append(m.spare, b)
	}
}

// alive are the fibers that have a coroutine, by number.
func (m *machine) alive() []*Fiber {
	fibers := make([]*Fiber, 0, m.live)
	for _, co := range m.coroutines {
		if co.fiber != nil {
			fibers = append(fibers, co.fiber)
		}
	}
	slices.SortFunc(fibers, func(a, b *Fiber) int { return cmp.Compare(a.id, b.id) })
	return fibers
}
