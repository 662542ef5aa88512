package proptest

import (
	"context"
	"time"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/processlock"
	"github.com/rivus/tether/scope"
)

// Lock plays processes that want one process lock, on a World: they are stopped,
// killed and resumed between any two operations on files and locks, pids are used
// again, the power fails, and operations fail on demand.
//
// It holds that
//   - no two processes are told that they hold the lock at the same time;
//   - one that holds it is told so by Verify, and its file or lock is there;
//   - a refusal comes with a holder, or other contenders, and not from nothing;
//   - IsHeld sees a lock that is held all the while, and none that nobody wants;
//   - after deaths and power cuts somebody gets it, at the latest when a file
//     without a stamp has been there for its time.
//
// The options are those of every process: with WithoutSQLite the lock is a lock
// file, else the kernel's, for which the world stands in.
func Lock(t TB, options ...processlock.Option) {
	t.Helper()
	playMoves(t, lockMoves, 12, func(choose scope.Chooser) player { return newLockPlay(choose, options) })
}

var lockMoves = []string{"steps", "steps", "steps", "steps", "pass", "kill", "stop", "resume", "start", "power cut", "fail"}

const lockPath = "/run/daemon.lock"

// lockPlay is one case.
type lockPlay struct {
	*crew
	options []processlock.Option
	failing int // how many operations are to fail
	turns   int // locks that were taken
	// holding is who was told that it holds, until it begins to release.
	holding map[*Process]bool
	// wanting is who is in an attempt, or holds, or releases.
	wanting map[*Process]bool
	// dirty: some process died, or an operation failed, since the lock was last
	// taken: what is left may look held.
	dirty bool
	// contested is whose attempt, or hold, another one wanted the lock during.
	contested map[*Process]bool
	// hit is whose attempt an operation failed in.
	hit map[*Process]bool
}

func newLockPlay(choose scope.Chooser, options []processlock.Option) *lockPlay {
	l := &lockPlay{options: options, holding: map[*Process]bool{}, wanting: map[*Process]bool{}, hit: map[*Process]bool{}, contested: map[*Process]bool{}}
	l.crew = &crew{w: NewWorld(choose), quantum: time.Second, start: l.start, look: func() {}}
	l.w.MakeDir("/run")
	l.w.OnOp(func(o Op) error {
		// The own identity is no operation on the lock; see K3, K4.
		if l.failing == 0 || o.Name == "Self" {
			return nil
		}
		l.failing--
		l.dirty, l.hit[o.Process] = true, true
		l.w.Log("%v fails", o)
		return ioFailure(o)
	})
	return l
}

func (l *lockPlay) start(name string) *Process {
	p := l.w.StartCode(name, l.worker)
	p.onEnd(func() {
		l.dirty = l.dirty || l.wanting[p]
		delete(l.holding, p)
		delete(l.wanting, p)
	})
	return p
}

func (l *lockPlay) act(m move) {
	switch m.kind {
	case "fail":
		l.failing = 1
	case "power cut":
		l.dirty = true
		fallthrough
	default:
		l.crew.act(m)
	}
}

func (l *lockPlay) heal() {
	l.failing = 0
	// A file without a stamp counts as held for half a minute (K4), each guard's
	// too; pauses of the workers come on top.
	if !l.finish(400 * time.Second) {
		l.violate("K5, K6: nobody is in the way, and a process does not get the lock")
	}
}

// worker takes the lock and gives it back, again and again.
func (l *lockPlay) worker(p *Process) {
	for {
		last := l.closing
		got, err := l.turn(p)
		if last && got || err != nil || l.hit[p] {
			// A lock file that could not be removed is there until its holder ends,
			// and one whose read-back failed, too.
			return
		}
		p.Pause(time.Duration(1+p.w.Choose(3)) * time.Second)
		if p.w.Choose(3) == 0 {
			l.probe(p)
		}
	}
}

// turn is one attempt to its end; it tells whether the lock was taken. The error
// is that of its release.
func (l *lockPlay) turn(p *Process) (bool, error) {
	l.contested[p] = len(l.wanting) > 0
	for q := range l.wanting {
		l.contested[q] = true
	}
	l.wanting[p] = true
	delete(l.hit, p)
	defer func() {
		if !p.isGhost() {
			delete(l.wanting, p)
		}
	}()
	options := l.options
	if p.w.Choose(2) == 1 {
		options = append(options[:len(options):len(options)], processlock.Wait())
	}
	attempt, err := processlock.Begin(p.Platform(), lockPath, options...)
	if err != nil {
		l.refused(p, err)
		return false, nil
	}
	for tries := 0; ; tries++ {
		step := attempt.Try()
		switch {
		case step.Err != nil:
			l.refused(p, step.Err)
			return false, nil
		case step.Lock != nil:
			return true, l.hold(p, step.Lock)
		case tries > 5 && p.w.Choose(4) == 3:
			attempt.Cancel()
			return false, nil
		}
		// Its own pauses are random; the world's choices must not be.
		p.Pause(time.Millisecond)
	}
}

// refused holds a refusal against who there is.
func (l *lockPlay) refused(p *Process, err error) {
	p.w.Log("%v: %v", p, err)
	failure, failed := errors.AsType[*processlock.Failure](err)
	_, held := errors.AsType[*processlock.Held](err)
	switch {
	case p.isGhost(), l.hit[p]:
	case held && l.dirty:
	case held && !l.contested[p]:
		l.violate("K2, K6: a process is told that the lock is held, and no other wants it")
	case !held && !failed:
		l.violate("K1: an attempt failed with neither *Held nor *Failure")
	case failed && failure.Reason != processlock.ReasonContended && failure.Reason != processlock.ReasonReplaced:
		l.violate("K12: an attempt failed, and no operation did")
	}
}

// hold has the lock for a while.
func (l *lockPlay) hold(p *Process, lock *processlock.Lock) error {
	l.holding[p] = true
	l.turns++
	p.w.Log("%v holds the lock", p)
	if len(l.holding) > 1 {
		l.violate("K1: two processes hold the lock at the same time")
		return nil
	}
	l.dirty = false
	for range 1 + p.w.Choose(2) {
		p.Pause(time.Duration(p.w.Choose(4)) * time.Second)
		own, err := lock.Verify()
		if err == nil && !own && !p.isGhost() {
			l.violate("K11: the holder's lock is not there any more")
			return nil
		}
	}
	// From here on another may be told that it holds.
	delete(l.holding, p)
	p.w.Log("%v releases", p)
	err := lock.Release()
	if err != nil {
		p.w.Log("%v: %v", p, err)
	}
	return err
}

// probe asks whether the lock is held.
func (l *lockPlay) probe(p *Process) {
	before := l.turns
	var sure *Process
	for q := range l.holding {
		sure = q
	}
	quiet := len(l.wanting) == 0 && !l.dirty
	held, err := processlock.IsHeld(context.Background(), p.Platform(), lockPath, l.options...)
	switch {
	case err != nil || p.isGhost():
	case !held && sure != nil && l.holding[sure] && l.turns == before:
		l.violate("K9: IsHeld does not see a lock that is held")
	case held && quiet && len(l.wanting) == 0 && l.turns == before:
		l.violate("K9: IsHeld sees a lock that nobody wants")
	}
}
