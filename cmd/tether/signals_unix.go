//go:build unix

package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// passedOn are the signals that CMD gets in the tool's place.
var passedOn = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM,
	syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGWINCH,
}

// signalled is why the program was interrupted.
type signalled struct{ signal syscall.Signal }

func (e *signalled) Error() string { return "stopped by a signal: " + e.signal.String() }

// signals takes what the front and the keeper get.
//
//	waiting ── begin ──► starting ── to(CMD) ──► passing ── over ──► ended
//	                        └──────────── over ───────────────────────┘
type signals struct {
	mu       sync.Mutex
	phase    signalPhase
	cancel   context.CancelCauseFunc
	ending   error            // what ended the wait first
	kept     []syscall.Signal // for a CMD that is about to begin
	family   *family
	incoming chan os.Signal
}

type signalPhase int

const (
	waiting  signalPhase = iota // for the lease: those that end a program end the wait
	starting                    // CMD may run already and is not known yet: all are kept for it
	passing                     // CMD decides what they mean
	over                        // they change nothing: the exit status is CMD's
)

// listen has cancel called by what ends the wait, and takes this process's own signals.
func (s *signals) listen(cancel context.CancelCauseFunc) {
	s.incoming = make(chan os.Signal, 16)
	// Who stops reading what the tool says must not end it, and with it CMD. The terminal's
	// stop must not stop who keeps the lease. Caught, not ignored: CMD would inherit that.
	for _, n := range []os.Signal{syscall.SIGPIPE, syscall.SIGTSTP, syscall.SIGTTIN} {
		if !keeper.ignored.has(int(n.(syscall.Signal))) {
			signal.Notify(make(chan os.Signal, 1), n)
		}
	}
	// A message in the background, where the terminal refuses those.
	signal.Ignore(syscall.SIGTTOU)
	for _, n := range passedOn {
		if !keeper.ignored.has(int(n.(syscall.Signal))) {
			signal.Notify(s.incoming, n)
		}
	}
	go func() {
		for n := range s.incoming {
			// Until this process has left the group, the terminal sends it what CMD gets.
			s.mu.Lock()
			group := s.phase == starting
			s.mu.Unlock()
			s.got(n.(syscall.Signal), group)
		}
	}()
	s.mu.Lock()
	s.cancel = cancel
	ending := s.ending
	s.mu.Unlock()
	if ending != nil {
		cancel(ending)
	}
}

// got is called for a signal; group: CMD, if it runs, got it, too.
func (s *signals) got(n syscall.Signal, group bool) {
	s.mu.Lock()
	to, cancel, ending := s.take(n, group)
	s.mu.Unlock()
	if to != nil {
		to.signal(n)
	}
	if ending != nil && cancel != nil {
		cancel(ending)
	}
}

// take gives the CMD that the signal is for, or why the wait is over, or neither.
func (s *signals) take(n syscall.Signal, group bool) (to *family, cancel context.CancelCauseFunc, ending error) {
	switch {
	case s.phase == waiting && (n == syscall.SIGHUP || n == syscall.SIGINT || n == syscall.SIGQUIT || n == syscall.SIGTERM):
		if s.ending == nil {
			s.ending = &signalled{n}
		}
		return nil, s.cancel, s.ending
	case group:
		return nil, nil, nil
	case s.phase == waiting, s.phase == starting:
		s.kept = append(s.kept, n)
		return nil, nil, nil
	case s.phase == passing:
		return s.family, nil, nil
	default:
		return nil, nil, nil
	}
}

// frontGone: the front was killed. Everything is, then.
func (s *signals) frontGone() {
	s.mu.Lock()
	s.phase = over
	if s.ending == nil {
		s.ending = errFrontGone
	}
	f, cancel, ending := s.family, s.cancel, s.ending
	s.mu.Unlock()
	if f != nil {
		f.kill()
	}
	if cancel != nil {
		cancel(ending)
	}
}

// begin is called before CMD is started, which must not be when a signal has ended
// the wait: CMD would be stopped by another signal than came.
func (s *signals) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending != nil {
		return s.ending
	}
	s.phase = starting
	return nil
}

// to has signals passed on to f, those that were kept first.
func (s *signals) to(f *family) {
	for {
		s.mu.Lock()
		kept, ending := s.kept, s.ending
		s.kept, s.family = nil, f
		if len(kept) == 0 && s.phase == starting {
			s.phase = passing
		}
		s.mu.Unlock()
		if ending != nil { // the front is gone, and did not know of f
			f.kill()
			return
		}
		if len(kept) == 0 {
			return
		}
		for _, n := range kept {
			f.signal(n)
		}
	}
}

// ended: CMD has ended, or could not be started.
func (s *signals) ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase, s.family = over, nil
}
