package scope

import (
	"context"
	"slices"
)

// Close ends the runtime: nothing new is taken in, every fiber is interrupted, and
// Close returns when all have ended, finalizers included, which may fork and wait.
// When ctx ends before that, Close returns its cause at once, and what is left is torn
// down as soon as the fiber that runs lets go: the Go defers of fibers run then,
// finalizers do not. A second Close waits, too. It must not be called on the runtime.
func (s *Serial) Close(ctx context.Context) error {
	if !s.outside() {
		panic("scope: Close of a serial runtime waits, and must not be called on that runtime")
	}
	s.mu.Lock()
	first := !s.closing
	s.closing = true
	if !s.looping && !s.over {
		s.over = true
		close(s.ended)
	}
	s.mu.Unlock()
	if first {
		s.post(call(s.interruptAll))
	}
	if !waitUntil(ctx, s.ended) {
		s.post(call(s.abandon))
		s.disown()
		return context.Cause(ctx)
	}
	for _, ended := range s.disown() {
		if !waitUntil(ctx, ended) {
			return context.Cause(ctx)
		}
	}
	return nil
}

// waitUntil answers false when ctx ends before done does.
func waitUntil(ctx context.Context, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-ctx.Done():
	}
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// interruptAll interrupts the fibers that run and those that are about to.
func (s *Serial) interruptAll() {
	fibers := s.alive()
	add := func(t task) {
		if t.starts() {
			fibers = append(fibers, t.fiber)
		}
	}
	for i := range s.ready.len() {
		for _, t := range (*s.ready.at(i)).tasks {
			add(t)
		}
	}
	for i := range s.foreign.len() {
		add(*s.foreign.at(i))
	}
	interruptEach(0, fibers)
}

// adopt keeps f, which is to run beside, at least until it has ended.
func (s *Serial) adopt(f *Fiber) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.besides); n >= 8 && n == cap(s.besides) {
		s.besides = slices.DeleteFunc(s.besides, func(f *Fiber) bool { _, ended := f.Exited(); return ended })
	}
	s.besides = append(s.besides, f)
}

// disown interrupts the fibers that run beside and gives what waits for their ends.
func (s *Serial) disown() (ends []<-chan struct{}) {
	s.mu.Lock()
	fibers := s.besides
	s.besides = nil
	s.mu.Unlock()
	for _, f := range fibers {
		ended := make(chan struct{})
		if f.Observe(NewObserver(func(*Fiber) { close(ended) })) {
			ends = append(ends, ended)
		}
		f.Interrupt(0)
	}
	return ends
}
