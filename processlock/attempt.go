package processlock

import (
	"math/rand/v2"
	"time"

	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/scope"
)

// Attempt is one acquisition in steps, for callers who have their own way of
// waiting (fibers, event loops). No method waits for anything but the disk.
//
//	attempt, err := processlock.Begin(p, path, processlock.Wait())
//	attempt.OnTurn(wake)        // and wait for it
//	step := attempt.Try()       // step.Lock, or step.Err, or wait for step.Pause and try again
//	attempt.Cancel()            // at any time, to give up
//
// Acquire is this with a goroutine's waits, AcquireOn with a fiber's. An
// Attempt is used by one goroutine at a time.
type Attempt struct {
	place    place
	path     string // as the caller gave it
	settings settings
	policy   policy
	pacing   pacing
	turn     *turn
	ended    bool
	// met is who was reclaiming a lock file when it was last tried.
	met guardHeld
	// ahead is a lock that waits for readers between two tries of the first
	// attempt, or nil.
	ahead platform.SQLiteLock
}

// Step is how far an attempt has come. Exactly one of Lock, Err and Pause is set.
type Step struct {
	Lock *Lock // it is ours; the attempt has ended
	Err  error // an Error; the attempt has ended
	// Pause is how long to wait before the next Try, by the platform's clock.
	Pause time.Duration
}

// pacing is what times an attempt and spreads its pauses.
type pacing struct {
	clock  scope.Clock // only its monotonic time is read
	random func() float64
}

// Begin resolves the path and joins the line of those in this process who want
// the lock. It fails with *Failure, and without Wait with *Held when somebody in
// this process holds the lock or attempts to. An Attempt must be brought to its
// end by Try or Cancel: until then it keeps those behind it waiting.
func Begin(p *platform.Platform, path string, options ...Option) (*Attempt, error) {
	s, err := settingsOf(path, options)
	if err != nil {
		return nil, err
	}
	at, err := resolve(p, path, s)
	if err != nil {
		return nil, err
	}
	turn, ahead := inProcess.join(at, s.mechanism, s.wait)
	if turn == nil {
		return nil, heldBy(at, path, ahead)
	}
	return &Attempt{
		place: at, path: path, settings: s, turn: turn,
		policy: policy{wait: s.wait, retry: s.retry}, pacing: pacing{p.Clock, rand.Float64},
	}, nil
}

// heldBy reports who has the turn in this process.
func heldBy(at place, path string, ahead front) *Held {
	if ahead.held != nil {
		return &Held{Path: path, Holder: ahead.held.holder}
	}
	// Another goroutine attempts, perhaps against another process. Its mechanism
	// says which file may be read: opening a lock database here and closing it
	// would drop the lock it is about to get (K11).
	return &Held{Path: path, Holder: recordedHolder(at, ahead.mechanism)}
}

// reportHeld gives up because of whoever has the lock.
func (a *Attempt) reportHeld() *Held {
	if ahead := inProcess.front(a.place); ahead.taken && !a.HasTurn() {
		return heldBy(a.place, a.path, ahead)
	}
	return &Held{Path: a.path, Holder: recordedHolder(a.place, a.settings.mechanism)}
}

// OnTurn calls f once, when it is this attempt's turn: at once if it is already,
// else on the goroutine of the one who leaves, so f must be short and must not
// block. After Cancel it is not called, unless that was on its way. Call OnTurn
// at most once.
func (a *Attempt) OnTurn(f func()) { inProcess.wait(a.turn, f) }

// HasTurn tells whether Try may be called.
func (a *Attempt) HasTurn() bool { return !a.ended && inProcess.has(a.turn) }

// Try attempts once, without blocking. It panics when it is not this attempt's
// turn, or the attempt has ended.
func (a *Attempt) Try() Step {
	if !a.HasTurn() {
		panic("processlock: Try without the turn")
	}
	// The race is timed from before the attempt, so that a slow disk counts.
	if !a.policy.began.known {
		a.policy.began = instant{a.pacing.clock.Monotonic(), true}
	}
	lock, saw, err := a.once()
	if err != nil {
		return a.end(err)
	}
	if saw == tookIt {
		a.ended = true
		lock.turn = a.turn
		lock.path = a.path
		inProcess.took(a.turn, lock)
		return Step{Lock: lock}
	}
	next, do, pause := a.policy.next(saw, a.pacing.clock.Monotonic(), a.pacing.random())
	a.policy = next
	if next.later {
		a.fallBack()
	}
	switch do {
	case doReportHeld:
		return a.end(a.reportHeld())
	case doReportContended:
		met := ""
		if a.met.path != "" {
			met = " (" + a.met.String() + ")"
		}
		return a.end(failure(a.path, ReasonContended,
			"for a second every attempt met other attempts or checks, and no holder"+met+"; try again, or wait"))
	default:
		return Step{Pause: pause}
	}
}

// Cancel gives up: the turn passes to the next in line. It does nothing after the
// attempt has ended; a lock that Try gave is its owner's to release.
func (a *Attempt) Cancel() {
	if a.ended {
		return
	}
	a.ended = true
	a.fallBack()
	inProcess.leave(a.turn)
}

// fallBack lets readers and others pass again.
func (a *Attempt) fallBack() {
	if a.ahead != nil {
		_ = a.ahead.Unlock()
		a.ahead = nil
	}
}

func (a *Attempt) end(err error) Step {
	a.Cancel()
	return Step{Err: err}
}

func (a *Attempt) once() (*Lock, finding, error) {
	if a.settings.mechanism == LockFile {
		a.met = guardHeld{}
		return takeLockFile(a.place, a.path, &a.met)
	}
	// a.ahead stays until the result is known: Cancel unlocks it when a port panics.
	lock, ahead, saw, err := takeSQLite(a.place, a.path, a.settings, a.ahead, !a.policy.later)
	a.ahead = ahead
	return lock, saw, err
}
