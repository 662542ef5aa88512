package scope

import "time"

// courtesy is how long what came from outside, or a timer, waits for a runtime that is
// never without something ready.
const courtesy = time.Millisecond

// loop runs the fibers until there is none.
func (s *Serial) loop() {
	over := false
	defer func() {
		// A Goexit in an observer of a fiber that ended unrun takes this goroutine away,
		// not the runtime.
		if !over {
			s.running.Store(0)
			go s.loop()
		}
	}()
	s.moved()
	for s.turn() {
	}
	over = true
}

// turn runs one thing: what is ready, then what came from outside, then the earliest
// timer that is due. It answers false when there will be nothing any more.
func (s *Serial) turn() bool {
	if s.arrived.Load() {
		s.collect()
	}
	switch {
	case s.halted:
		return !s.end()
	case s.somethingReady():
		if s.foreign.len() > 0 || s.timers.len() > 0 {
			s.catchUp()
		}
		s.runNext(0)
	case s.foreign.len() > 0:
		s.do(s.foreign.pop())
	case s.timers.len() > 0 && s.fireUntil(s.clock.base.Monotonic(), 1):
	default:
		return s.rest()
	}
	return true
}

// receive puts what came from outside in its line.
func (s *Serial) receive(t task) {
	if s.foreign.len() == 0 {
		s.since = s.clock.base.Monotonic()
	}
	s.foreign.push(t)
}

// collect moves the inbox to where it waits its turn.
func (s *Serial) collect() {
	s.mu.Lock()
	in := s.inbox
	s.inbox, s.spare = s.spare, nil
	s.arrived.Store(false)
	s.mu.Unlock()
	for i, t := range in {
		s.receive(t)
		in[i] = task{}
	}
	if cap(in) <= maxSpareTasks {
		s.mu.Lock()
		s.spare = in[:0]
		s.mu.Unlock()
	}
}

// catchUp runs what has waited for too long although something is ready. The clock is
// not read before every batch, as a small one takes little longer than that.
func (s *Serial) catchUp() {
	if s.turns++; s.turns%4 != 0 {
		return
	}
	now := s.clock.base.Monotonic()
	if s.foreign.len() > 0 && now-s.since >= courtesy {
		s.since = now
		for n := s.foreign.len(); n > 0; n-- {
			s.do(s.foreign.pop())
		}
	}
	s.fireUntil(now-courtesy, s.timers.len())
}

// fireUntil fires at most n timers that are due at now.
func (s *Serial) fireUntil(now time.Duration, n int) (fired bool) {
	for ; n > 0 && s.timers.len() > 0; n-- {
		t := s.timers.first()
		if t.at > now {
			return fired
		}
		s.timers.remove(t)
		fired = true
		if t.settle() {
			t.fn()
		}
	}
	return fired
}

// rest waits for something to do. It answers false when there is nothing to wait for.
func (s *Serial) rest() bool {
	timed := s.timers.len() > 0
	if !timed && s.live == 0 {
		return !s.end()
	}
	s.mu.Lock()
	if len(s.inbox) > 0 {
		s.mu.Unlock()
		return true
	}
	s.asleep = true
	s.mu.Unlock()
	if timed {
		s.alarm.set(s, s.timers.first().at)
	}
	<-s.bell
	return true
}

// end gives everything back, unless something has come.
func (s *Serial) end() bool {
	s.dismiss()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.halted {
		s.inbox = nil
	}
	if len(s.inbox) > 0 {
		return false
	}
	s.looping = false
	s.running.Store(0)
	s.alarm.stop()
	if s.closing {
		s.over = true
		close(s.ended)
	}
	return true
}

// post puts t into the inbox, from any goroutine, and wakes the runtime. It answers
// false when the runtime is over.
func (s *Serial) post(t task) bool {
	s.mu.Lock()
	return s.deliver(t, s.over)
}

// admit is post of something new, which a runtime that closes refuses.
func (s *Serial) admit(t task) bool {
	s.mu.Lock()
	return s.deliver(t, s.closing)
}

// deliver is entered with mu held and gives it back.
func (s *Serial) deliver(t task, refused bool) bool {
	if refused {
		s.mu.Unlock()
		return false
	}
	s.inbox = append(s.inbox, t)
	s.arrived.Store(true)
	starts, wakes := !s.looping, s.asleep
	s.looping, s.asleep = true, false
	s.mu.Unlock()
	switch {
	case starts:
		go s.loop()
	case wakes:
		s.bell <- struct{}{}
	}
	return true
}

// ring wakes the runtime if it sleeps.
func (s *Serial) ring() {
	s.mu.Lock()
	wakes := s.asleep
	s.asleep = false
	s.mu.Unlock()
	if wakes {
		s.bell <- struct{}{}
	}
}
