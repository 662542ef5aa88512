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

// signals takes the tool's signals: before CMD runs, those that end a program end
// the wait for the lease; afterwards CMD decides what they mean.
type signals struct {
	incoming chan os.Signal

	mu    sync.Mutex
	child *child
	early []syscall.Signal // for a CMD that is about to begin
}

func (s *signals) listen(cancel context.CancelCauseFunc) {
	s.incoming = make(chan os.Signal, 16)
	for _, sig := range passedOn {
		// nohup's "ignore SIGHUP" is CMD's, too.
		if !signal.Ignored(sig) {
			signal.Notify(s.incoming, sig)
		}
	}
	go func() {
		for sig := range s.incoming {
			n := sig.(syscall.Signal)
			s.mu.Lock()
			c := s.child
			ends := c == nil && (n == syscall.SIGHUP || n == syscall.SIGINT || n == syscall.SIGQUIT || n == syscall.SIGTERM)
			if c == nil && !ends {
				s.early = append(s.early, n)
			}
			s.mu.Unlock()
			if c != nil {
				c.signal(n)
			} else if ends {
				cancel(&signalled{n})
			}
		}
	}()
}

// to has signals passed on to c, the early ones included; with nil those that end a
// program do so again.
func (s *signals) to(c *child) {
	s.mu.Lock()
	s.child = c
	early := s.early
	s.early = nil
	s.mu.Unlock()
	for _, n := range early {
		if c != nil {
			c.signal(n)
		}
	}
}

func (s *signals) ignore() {
	signal.Stop(s.incoming)
	close(s.incoming)
}
