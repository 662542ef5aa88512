//go:build unix

package main

import (
	"os"
	"syscall"
	"time"
)

// sweeper signals the descendants of this process, again and again: some appear while
// it looks. It looks the sooner again the more it found that it did not know, and
// rests for at least as long as a look takes.
type sweeper struct {
	told  map[int]phase // what they got, once each: many programs take a second SIGTERM for impatience
	pause time.Duration
	last  time.Time     // the end of the last look
	took  time.Duration // how long it took
}

const (
	shortestPause = 50 * time.Microsecond
	longestPause  = 50 * time.Millisecond
)

// soon has the next look come as soon as may be.
func (s *sweeper) soon() { s.pause = shortestPause }

// wait is the time until the next look.
func (s *sweeper) wait() time.Duration {
	return max(0, time.Until(s.last.Add(max(s.pause, s.took))))
}

// signal signals everybody as the phase has it.
func (s *sweeper) signal(p phase) {
	began := time.Now()
	// A pid that is not seen any more may be another's later.
	told := make(map[int]phase, len(s.told))
	news := false
	eachDescendant(os.Getpid(), func(pid int) {
		told[pid] = p
		if s.told[pid] >= p {
			return
		}
		news = true
		if p == killing {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			return
		}
		_ = syscall.Kill(pid, syscall.SIGTERM)
		_ = syscall.Kill(pid, syscall.SIGCONT) // who is stopped hears nothing
	})
	s.told, s.last = told, time.Now()
	s.took = s.last.Sub(began)
	if news {
		s.soon()
	} else {
		s.pause = min(max(2*s.pause, shortestPause), longestPause)
	}
}

// killRest ends what a keeper that was killed left behind: its descendants are this
// process's, where orphans are adopted, and those of CMD in any case.
func killRest(cmd int) {
	children := reapAll()
	var s sweeper
	for {
		if !orphansAreOurs {
			if cmd > 0 {
				eachDescendant(cmd, func(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) })
				_ = syscall.Kill(cmd, syscall.SIGKILL)
			}
			return
		}
		select {
		case _, more := <-children:
			if !more {
				return
			}
			s.soon()
		case <-time.After(s.wait()):
			s.signal(killing)
		}
	}
}
