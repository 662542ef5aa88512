package proptest

import (
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/scope"
)

// FencingOption changes what Fencing plays.
type FencingOption func(*fencingSettings)

type fencingSettings struct {
	repository func(w *World) func(p *Process) lease.Repository
	drift      int // in a thousand
}

// OnRepository has Fencing play on repositories of the caller's, which must keep
// their records on the world's disk, in place of a Store. There is no weather
// then, but power cuts.
func OnRepository(open func(w *World) func(p *Process) lease.Repository) FencingOption {
	return func(s *fencingSettings) { s.repository = open }
}

// Drift has clocks gain or lose up to that many thousandths, ten by default. The
// rules about beliefs give way to it, those about fenced work do not.
func Drift(thousandths int) FencingOption { return func(s *fencingSettings) { s.drift = thousandths } }

// Fencing plays several processes that want one lease and write to one resource
// under its fence, on a World: they crash, stall, resume and come back; their
// clocks drift by up to a hundredth and their wall clocks jump; their repository
// fails, loses answers, hangs and is late.
//
// It holds that
//   - no two fenced works run at the same time, in whatever processes;
//   - what they write carries tokens that never go back, so no stale write lands;
//   - generations grow by one with each acquisition, revisions with each write,
//     and no record is deleted;
//   - no two processes that run believe that they own the lease for longer than
//     their clocks differ;
//   - a process that runs hears of its loss within a TTL of the last write by
//     which it still had the lease;
//   - every acquire ends when the weather is fair again.
//
// It is a test of package lease, and of a repository given by OnRepository.
func Fencing(t TB, options ...FencingOption) {
	t.Helper()
	s := fencingSettings{drift: 10}
	for _, o := range options {
		o(&s)
	}
	kinds := fencingMoves
	if s.repository != nil {
		kinds = append(kinds[:len(kinds)-2:len(kinds)-2], "power cut")
	}
	playMoves(t, kinds, 30, func(choose scope.Chooser) player { return newFencingPlay(s, choose) })
}

// fencingMoves end with those that need a Store.
var fencingMoves = []string{"pass", "pass", "start", "steps", "kill", "stop", "resume", "jump", "isolate", "weather"}
