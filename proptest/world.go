package proptest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/scope"
)

// World is a simulated machine: a disk, pids, locks, and processes that run one
// at a time, when the test says so. Everything that happens in it depends on the
// program and the chooser alone, so one seed replays it.
//
//	start ──► running ◄──Stop, Resume──► stopped
//	             │ main ends, Kill, PowerCut  │
//	             └────────────► gone ◄────────┘
//
// Time is the world's. A process has clocks of its own: the monotonic one runs at
// the process's Rate, the wall clock can jump. A process that is stopped finds its
// clock moved on and its timers overdue, as real ones do.
//
// What stands in: the platform's FS, Process and Clock are simulated as a whole.
// Of SQLite only the lock on a file is (TryLock, Probe: what processlock uses); a
// database cannot be opened, ReasonUnsupported. Records of leases live in files
// (lease.NewFileRepository) or in a Store.
//
// A World is used by one goroutine.
type World struct {
	choose scope.Chooser

	// mu guards the disk and the table of processes: Go code under Blocking runs
	// beside its process.
	mu    sync.Mutex
	disk  *disk
	procs map[int64]*Process // those that run or are stopped, by pid
	boot  int
	ticks int64 // start times given out

	now     time.Duration
	quantum time.Duration
	fault   func(Op) error
	started []*Process
	log     []string
}

// NewWorld makes a world whose every choice is choose's: rapid's, a seed's, or a
// recorded schedule's. nil always chooses the first.
func NewWorld(choose scope.Chooser) *World {
	if choose == nil {
		choose = Schedule(nil).Chooser()
	}
	return &World{
		choose: choose, disk: newDisk(), procs: map[int64]*Process{}, boot: 1, quantum: time.Second,
	}
}

// SeededWorld is NewWorld with choices that follow from seed.
func SeededWorld(seed uint64) *World { return NewWorld(rand.New(rand.NewPCG(seed, 0)).IntN) }

// Choose picks one of n by the world's chooser, for the test's own choices.
func (w *World) Choose(n int) int {
	if n < 2 {
		return 0
	}
	return w.choose(n)
}

// Now is the time since the world began.
func (w *World) Now() time.Duration { return w.now }

// SetQuantum sets how long a process may run before another one does, a second
// by default. Two processes' views of the present differ by that much at most.
func (w *World) SetQuantum(d time.Duration) { w.quantum = d }

// OnOp has fault called before every operation of a port; an error is what the
// operation answers, undone. A *platform.Failure is what ports fail with. nil
// takes it back.
func (w *World) OnOp(fault func(Op) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = fault
}

// Op is an operation of a port.
type Op struct {
	Process *Process
	// Name is the method's, such as "WriteAtomic" or "Identify".
	Name string
	// Path is what it is about, or "".
	Path string
}

// String is for people.
func (o Op) String() string { return fmt.Sprintf("%v: %s %s", o.Process, o.Name, o.Path) }

// ioFailure is an error on demand.
func ioFailure(o Op) error {
	return &platform.Failure{Op: o.Name, Path: o.Path, Reason: platform.ReasonIO, Cause: errOnDemand}
}

// Log adds a line to the world's log, which Trace gives.
func (w *World) Log(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, fmt.Sprintf("%8v  ", w.now)+fmt.Sprintf(format, args...))
}

// Trace is the world's log, a line for each event.
func (w *World) Trace() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.log, "\n") + "\n"
}

// Processes are those that run or are stopped, in the order they were started.
func (w *World) Processes() []*Process {
	var out []*Process
	for _, p := range w.started {
		if p.Alive() {
			out = append(out, p)
		}
	}
	return out
}

// Advance lets d pass: in turns of a quantum every process that runs does what is
// due.
func (w *World) Advance(d time.Duration) {
	for d > 0 {
		step := min(d, w.quantum)
		d -= step
		w.mu.Lock()
		w.now += step
		w.mu.Unlock()
		w.Settle()
	}
}

// Settle lets every process that runs do what is ready, at the present time: in
// the order they were started, from the chooser's on.
func (w *World) Settle() {
	list := w.runnable()
	first := w.Choose(len(list))
	for i := range list {
		list[(first+i)%len(list)].Run(unlimited)
	}
}

func (w *World) runnable() []*Process {
	return slices.DeleteFunc(w.Processes(), func(p *Process) bool { return p.at() != running })
}

// PowerCut kills every process and restarts the machine: what was not synced may
// be lost, each file and each entry of a directory by the chooser's choice.
func (w *World) PowerCut() {
	w.Log("power cut")
	for _, p := range w.Processes() {
		p.end("power cut")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.boot++
	w.disk.powerCut(w.Choose)
}

// Close kills what is left. Every World must be closed, since its processes are
// goroutines.
func (w *World) Close() {
	for _, p := range w.Processes() {
		p.end("closed")
	}
}

// SetCapacity sets how many bytes the disk's files may have in all; more is
// ReasonNoSpace. Negative, as at first, sets no limit.
func (w *World) SetCapacity(bytes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.disk.capacity = bytes
}

// MakeDir makes a directory, durably, with those above it.
func (w *World) MakeDir(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.disk.makeDir(path)
}

// Files are the paths of the files that there are, sorted.
func (w *World) Files() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.disk.paths()
}
