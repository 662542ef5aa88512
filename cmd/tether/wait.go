package main

import (
	"sync/atomic"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
)

// waitFlag is --wait, with or without a longest time.
type waitFlag struct {
	on      bool
	longest time.Duration // 0: as long as it takes
}

const forEver = "forever"

// String, Set and Type implement pflag.Value.
func (w *waitFlag) String() string {
	switch {
	case !w.on:
		return ""
	case w.longest == 0:
		return forEver
	default:
		return w.longest.String()
	}
}

func (w *waitFlag) Set(text string) error {
	if text == forEver {
		*w = waitFlag{on: true}
		return nil
	}
	var d notNegative
	if err := d.Set(text); err != nil {
		return err
	}
	*w = waitFlag{on: d > 0, longest: time.Duration(d)}
	return nil
}

func (w *waitFlag) Type() string { return "duration" }

// patienceOf is how long the job may wait yet; 0: not at all.
func (j *job) patienceOf() time.Duration {
	switch {
	case !j.wait.on:
		return 0
	case j.wait.longest == 0:
		return processlock.Forever
	default:
		return max(0, j.wait.longest-time.Since(j.began))
	}
}

// await is once or, with --wait, waiting, of which people at a terminal are told: the
// first try tells who is in the way, and so does the last.
func await[A any](j *job, once, waiting effect.Effect[A]) effect.Effect[A] {
	if !j.wait.on {
		return once
	}
	return once.CatchIf(mayPass, func(err error) effect.Effect[A] {
		left := j.patienceOf()
		if left == 0 {
			return effect.Fail[A](err)
		}
		j.progress.begin(j, err)
		if left == processlock.Forever {
			return waiting
		}
		return waiting.TimeoutOrElse(left, func() effect.Effect[A] { return once })
	})
}

// persist has the program try again while it fails before CMD was started with what may
// pass: a database that is being made or written to is in the way of more than a lease.
func (j *job) persist(program effect.Effect[int]) effect.Effect[int] {
	return program.CatchIf(mayPass, func(err error) effect.Effect[int] {
		switch left := j.patienceOf(); {
		case j.family != nil || !j.wait.on:
			return effect.Fail[int](err)
		case left == 0:
			return effect.Fail[int](&stillHeld{err, j.wait.longest})
		default:
			j.progress.begin(j, err)
			return effect.Sleep(min(left, retryPause)).AndThen(effect.Suspend(func() effect.Effect[int] { return j.persist(program) }))
		}
	})
}

const retryPause = 200 * time.Millisecond

// fenceMoment is how long one that does not wait leaves a holder that lost the lease for
// its end.
const fenceMoment = time.Second

// tooLate fails when CMD did not begin in time: who held the lease before is still
// being stopped.
func (j *job) tooLate(begun *atomic.Bool) effect.Effect[effect.Nothing] {
	return effect.Suspend(func() effect.Effect[effect.Nothing] {
		left := max(j.patienceOf(), fenceMoment)
		if left == processlock.Forever {
			return effect.Never[effect.Nothing]()
		}
		return effect.Sleep(left).AndThen(effect.Suspend(func() effect.Effect[effect.Nothing] {
			if begun.Swap(true) {
				return effect.Never[effect.Nothing]()
			}
			return effect.Fail[effect.Nothing](&stillHeld{errBeingStopped, left})
		}))
	})
}

var (
	errBeingStopped = errors.New("the command of its last holder is being stopped, and has not ended")
	errAlreadyLate  = errors.New("it came too late")
)

// mayPass reports whether time may cure the failure.
func mayPass(err error) bool {
	if isHeld(err) || platform.IsBusy(err) {
		return true
	}
	if r, ok := errors.AsType[*lease.RepositoryFailure](err); ok && r.Reason == lease.RepositoryBusy {
		return true
	}
	f, ok := errors.AsType[*processlock.Failure](err)
	return ok && (f.Reason == processlock.ReasonContended || f.Reason == platform.ReasonBusy)
}

// stillHeld says that waiting was in vain.
type stillHeld struct {
	cause  error
	waited time.Duration
}

func (e *stillHeld) Error() string { return e.cause.Error() + "; waited " + e.waited.String() }
func (e *stillHeld) Unwrap() error { return e.cause }
