//go:build unix

package main

import (
	"slices"
	"syscall"
	"testing"
)

func TestSignalPhases(t *testing.T) {
	ended := []error(nil)
	s := signals{cancel: func(err error) { ended = append(ended, err) }}
	passed := make(chan syscall.Signal, 8)
	f := &family{passed: passed, done: make(chan struct{})}

	s.got(syscall.SIGUSR1, false)
	if err := s.begin(); err != nil {
		t.Fatal(err)
	}
	s.got(syscall.SIGINT, false)
	s.got(syscall.SIGINT, true) // CMD got it
	s.got(syscall.SIGTERM, false)
	s.to(f)
	s.got(syscall.SIGHUP, false)
	s.got(syscall.SIGQUIT, true)
	s.ended()
	s.got(syscall.SIGINT, false)
	close(passed)
	var got []syscall.Signal
	for n := range passed {
		got = append(got, n)
	}
	want := []syscall.Signal{syscall.SIGUSR1, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
	if !slices.Equal(got, want) || ended != nil {
		t.Errorf("passed on %v, ended by %v", got, ended)
	}

	s = signals{cancel: s.cancel}
	s.got(syscall.SIGWINCH, true)
	s.got(syscall.SIGINT, true)
	s.got(syscall.SIGTERM, false)
	if err := s.begin(); len(ended) == 0 || err != ended[0] || statusOf(err) != 130 {
		t.Errorf("a start after %v: %v", ended, err)
	}
}
