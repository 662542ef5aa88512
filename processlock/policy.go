package processlock

import "time"

// finding is what one attempt saw.
type finding uint8

const (
	// tookIt: the lock is ours.
	tookIt finding = iota
	// sawHolder: somebody holds it.
	sawHolder
	// sawContention: nobody holds it, but others' attempts or checks were in the
	// way of ours.
	sawContention
	// sawReaders: we are ahead of all others, and only checks are in the way.
	sawReaders
)

// policy decides what follows an attempt. It is a value: next gives its
// successor. Times are readings of one monotonic clock.
//
//	     ┌─ contention, for a second: a short random pause ─┐
//	     ▼                                                  │
//	first attempt ──────────────────────────────────────────┘
//	     │ took it ──► done
//	     │ holder: without wait ──► Held
//	     │ contention for more than a second, without wait ──► contended
//	     │ else, with wait
//	     ▼
//	later attempts: anything but success ──► a pause that doubles
type policy struct {
	wait  bool
	retry time.Duration // first pause of a waiting one

	later    bool    // the first attempt has been settled
	began    instant // when the first attempt began
	attempts int     // of this phase
}

// instant is an instant, once it is known.
type instant struct {
	at    time.Duration
	known bool
}

// verdict is what to do after an attempt.
type verdict uint8

const (
	doPause verdict = iota
	doReportHeld
	doReportContended
)

// settleTime is how long a first attempt tries to settle a race.
const settleTime = time.Second

// next is what to do after an attempt that did not take the lock. random is
// uniform in [0, 1).
func (p policy) next(saw finding, now time.Duration, random float64) (policy, verdict, time.Duration) {
	if !p.later {
		if !p.began.known {
			p.began = instant{now, true}
		}
		switch {
		case saw == sawHolder && !p.wait:
			return p, doReportHeld, 0
		case saw != sawHolder && now-p.began.at < settleTime:
			pause := contentionPause(p.attempts, random)
			if saw == sawReaders {
				pause = min(pause, readerPause)
			}
			p.attempts++
			return p, doPause, pause
		case !p.wait:
			return p, doReportContended, 0
		}
		p.later, p.attempts = true, 0
	}
	pause := waitPause(p.retry, p.attempts, random)
	p.attempts++
	return p, doPause, pause
}

// readerPause bounds the pauses of the one who is ahead: new checks are kept out
// meanwhile, and those that are there take some 25 us.
const readerPause = 500 * time.Microsecond

// contentionPause is uniform up to a bound that doubles from 1 ms to 16 ms:
// contenders that met once must not meet again at the same moment, and an
// attempt takes some 50 us.
func contentionPause(attempt int, random float64) time.Duration {
	bound := time.Millisecond << min(attempt, 4)
	return max(time.Duration(random*float64(bound)), 50*time.Microsecond)
}

// waitPause doubles from retry to 16 times it, a quarter more or less.
func waitPause(retry time.Duration, attempt int, random float64) time.Duration {
	pause := retry << min(attempt, 4)
	return max(time.Duration(float64(pause)*(0.75+random/2)), 1)
}
