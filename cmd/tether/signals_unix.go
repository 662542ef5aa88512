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

// signals takes the tool's signals.
//
//	waiting ── begin ──► starting ── to(child) ──► passing ── over ──► ended
//	                        └──────────── over ───────────────────────────┘
type signals struct {
	incoming chan os.Signal

	mu     sync.Mutex
	phase  signalPhase
	ending *signalled       // the first one that ended the wait
	kept   []syscall.Signal // for a CMD that is about to begin
	child  *child
}

type signalPhase int

const (
	waiting  signalPhase = iota // for the lease: those that end a program end the wait
	starting                    // CMD may run already and is not known yet: all are kept for it
	passing                     // CMD decides what they mean
	ended                       // they change nothing: the exit status is CMD's
)

func (s *signals) listen(cancel context.CancelCauseFunc) {
	s.incoming = make(chan os.Signal, 16)
	// Who stops reading what the tool says must not end it, and with it CMD. Caught, not
	// ignored: CMD would inherit that. It stays caught, so that the exit status is CMD's.
	if !signal.Ignored(syscall.SIGPIPE) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	}
	for _, sig := range passedOn {
		// nohup's "ignore SIGHUP" is CMD's, too.
		if !signal.Ignored(sig) {
			signal.Notify(s.incoming, sig)
		}
	}
	go func() {
		for sig := range s.incoming {
			s.got(sig.(syscall.Signal), cancel)
		}
	}()
}

func (s *signals) got(n syscall.Signal, cancel context.CancelCauseFunc) {
	s.mu.Lock()
	to, ending := s.take(n)
	s.mu.Unlock()
	if to != nil {
		to.signal(n)
	}
	if ending != nil {
		cancel(ending)
	}
}

// take gives the child that the signal is for, or why the wait is over, or neither.
func (s *signals) take(n syscall.Signal) (to *child, ending *signalled) {
	switch s.phase {
	case waiting:
		if n != syscall.SIGHUP && n != syscall.SIGINT && n != syscall.SIGQUIT && n != syscall.SIGTERM {
			s.kept = append(s.kept, n)
		} else if s.ending == nil {
			s.ending = &signalled{n}
		}
		return nil, s.ending
	case starting:
		s.kept = append(s.kept, n)
		return nil, nil
	case passing:
		return s.child, nil
	default:
		return nil, nil
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

// to has signals passed on to c, those that were kept first.
func (s *signals) to(c *child) {
	for {
		s.mu.Lock()
		kept := s.kept
		s.kept = nil
		if len(kept) == 0 {
			s.phase, s.child = passing, c
		}
		s.mu.Unlock()
		if len(kept) == 0 {
			return
		}
		for _, n := range kept {
			c.signal(n)
		}
	}
}

// over: CMD has ended, or could not be started.
func (s *signals) over() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase, s.child = ended, nil
}

func (s *signals) ignore() {
	signal.Stop(s.incoming)
	close(s.incoming)
}
