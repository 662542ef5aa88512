package scope

import (
	"slices"
	"sync"
)

// Strategy is how a scope runs its finalizers.
type Strategy uint8

const (
	// Sequential runs them one after the other, the last added first.
	Sequential Strategy = iota
	// Parallelly starts them all, the last added first, and awaits them.
	Parallelly
)

// Finalizer releases something. It runs on the fiber that closes the scope (on
// one forked by it, in a parallel scope), masked, with the scope's exit. Its
// own cause joins those of the others.
type Finalizer func(f *Fiber, exit Exit[any]) *Cause

// Scope holds what must be released together. It is open, with finalizers in
// the order they were added, or closed with an exit; it closes once. The state
// flips before the first finalizer runs, and each finalizer runs exactly once,
// whatever the others do.
//
// Its zero value is an open sequential scope. The methods may be called from
// any goroutine; those that run finalizers take the fiber to run them on.
type Scope struct {
	mu       sync.Mutex
	strategy Strategy
	closed   bool
	exit     Exit[any]
	// entries holds every finalizer in order; a removed one leaves a hole until
	// half of them are holes, so that adding and removing are O(1) amortized.
	entries []entry
	holes   int
	// first serves a scope of one finalizer without another allocation.
	first [1]entry

	parent   *Scope
	inParent Registration
}

type entry struct {
	run Finalizer
	// at points back here, so that compacting can move the entry; nil for a
	// finalizer that is never taken back.
	at *Registration
	// owner is the fiber whose end the finalizer awaits, if it does.
	owner *Fiber
}

// Registration is where a scope keeps a finalizer that can be taken back. Its
// owner provides the memory. The scope's mutex guards it.
type Registration struct{ index int32 }

// New makes an open scope.
func New(strategy Strategy) *Scope { return &Scope{strategy: strategy} }

// Closed tells whether the scope is closed, which it is as soon as its closing
// begins.
func (s *Scope) Closed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Strategy is how the scope runs its finalizers.
func (s *Scope) Strategy() Strategy { return s.strategy }

// Add registers a finalizer. On a closed scope it runs the finalizer at once on
// f, with the scope's exit, and answers the finalizer's cause.
func (s *Scope) Add(f *Fiber, run Finalizer) *Cause {
	s.mu.Lock()
	if s.closed {
		exit := s.exit
		s.mu.Unlock()
		return run(f, exit)
	}
	s.add(entry{run: run})
	s.mu.Unlock()
	return nil
}

// AddOpen registers a finalizer if the scope is open, and calls onAdded in the
// same step, or answers false. onAdded must not call the scope.
func (s *Scope) AddOpen(onAdded func(), run Finalizer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	onAdded()
	s.add(entry{run: run})
	return true
}

// register adds a finalizer that Remove can take back, or answers false when
// the scope is closed.
func (s *Scope) register(at *Registration, owner *Fiber, run Finalizer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	at.index = int32(len(s.entries))
	s.add(entry{run: run, at: at, owner: owner})
	return true
}

// ends tells whether f was forked in the scope, which is open.
func (s *Scope) ends(f *Fiber) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.entries, func(e entry) bool { return e.owner == f })
}

func (s *Scope) add(e entry) {
	if s.entries == nil {
		s.entries = s.first[:0]
	}
	s.entries = append(s.entries, e)
	if len(s.entries) == 2 {
		s.first[0] = entry{} // the list lies elsewhere now
	}
}

// Remove takes a finalizer back; nothing happens when it runs or has run.
func (s *Scope) Remove(at *Registration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := int(at.index); !s.closed && i < len(s.entries) && s.entries[i].at == at {
		s.entries[i] = entry{}
		s.holes++
		s.compact()
	}
}

func (s *Scope) compact() {
	if s.holes*2 <= len(s.entries) {
		return
	}
	kept := s.entries[:0]
	for _, e := range s.entries {
		if e.run != nil {
			if e.at != nil {
				e.at.index = int32(len(kept))
			}
			kept = append(kept, e)
		}
	}
	clear(s.entries[len(kept):])
	s.entries, s.holes = kept, 0
}

// Fork makes a scope that closes with this one, at its place in the order. A
// fork of a closed scope is closed.
func (s *Scope) Fork(strategy Strategy) *Scope {
	child := &Scope{strategy: strategy, parent: s}
	if !s.register(&child.inParent, nil, func(f *Fiber, exit Exit[any]) *Cause { return child.Close(f, exit) }) {
		child.closed, child.exit, child.parent = true, s.exit, nil
	}
	return child
}

// begin flips the state and answers the finalizers, in order.
func (s *Scope) begin(exit Exit[any]) ([]entry, bool) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, false
	}
	s.closed, s.exit = true, exit
	entries := s.entries
	if s.holes > 0 {
		kept := entries[:0]
		for _, e := range entries {
			if e.run != nil {
				kept = append(kept, e)
			}
		}
		entries = kept
	}
	s.entries = nil
	parent := s.parent
	s.mu.Unlock()
	if parent != nil {
		parent.Remove(&s.inParent)
	}
	return entries, true
}
