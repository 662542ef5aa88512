//go:build linux

package processlock_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/platform"
	"github.com/rivus/tether/processlock"
)

// The tests run this binary again as other processes. Everything between them
// goes through pipes; nothing sleeps to synchronize.
const workerEnv = "TETHER_PROCESSLOCK_WORKER"

// reply is what a worker answers.
type reply struct {
	OK     bool
	Held   bool   // a *Held
	Holder int64  // its holder's pid
	Tag    string // of any other failure
	Reason string
	Text   string
	At     int64 // nanoseconds of the monotonic clock, which processes share
	Pauses []pause
	Looks  []look
}

// pause is one that an Acquire made, in the clock of At.
type pause struct{ Begin, End int64 }

// look is what one IsHeld saw, and when.
type look struct {
	Begin, End int64
	Held       bool
}

// command is what it is told.
type command struct {
	Do     string // acquire, race, release, isheld, watch, verify, umask
	Path   string
	Wait   bool
	Retry  time.Duration
	File   bool // WithoutSQLite
	Repeat int
	Notify int // reply "pausing" in that pause of a waiting acquire
}

func (c command) options() []processlock.Option {
	var o []processlock.Option
	if c.Wait {
		o = append(o, processlock.Wait())
	}
	if c.Retry > 0 {
		o = append(o, processlock.Retry(c.Retry))
	}
	if c.File {
		o = append(o, processlock.WithoutSQLite())
	}
	return o
}

// worker answers commands until its input ends. Descriptor 3, where there is one,
// is the barrier: one byte a racer.
func worker() {
	held := map[string]*processlock.Lock{}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	barrier := os.NewFile(3, "barrier")
	ctx := context.Background()
	for {
		var c command
		if in.Decode(&c) != nil {
			os.Exit(0)
		}
		var r reply
		switch c.Do {
		case "acquire", "race":
			if c.Do == "race" {
				_ = out.Encode(reply{Text: "ready"})
				if _, err := io.ReadFull(barrier, make([]byte, 1)); err != nil {
					os.Exit(3)
				}
			}
			p := platform.OS()
			clock := &recordingClock{Clock: p.Clock, notify: c.Notify, told: func() { _ = out.Encode(reply{Text: "pausing"}) }}
			if c.Notify > 0 {
				p = &platform.Platform{FS: p.FS, Process: p.Process, SQLite: p.SQLite, Clock: clock}
			}
			lock, err := processlock.Acquire(ctx, p, c.Path, c.options()...).Get()
			if r = answer(err); err == nil {
				held[c.Path] = lock
			}
			r.Pauses = clock.pauses
		case "umask":
			unix.Umask(c.Repeat)
			r = reply{OK: true}
		case "release":
			if lock := held[c.Path]; lock != nil {
				r = answer(lock.Release())
				delete(held, c.Path)
			} else {
				r = reply{OK: true}
			}
		case "verify":
			ok, err := held[c.Path].Verify()
			r = answer(err)
			r.OK = ok
		case "isheld":
			r = reply{OK: true}
			for range max(c.Repeat, 1) {
				is, err := processlock.IsHeld(ctx, platform.OS(), c.Path, c.options()...)
				if err != nil {
					r = answer(err)
					break
				}
				if is {
					r.Held = true
					r.Holder++
				}
			}
		case "watch":
			r = reply{OK: true}
			for range c.Repeat {
				l := look{Begin: monotonic()}
				is, err := processlock.IsHeld(ctx, platform.OS(), c.Path, c.options()...)
				if err != nil {
					r = answer(err)
					break
				}
				l.Held, l.End = is, monotonic()
				r.Looks = append(r.Looks, l)
			}
		case "foreign-close": // K11: what a careless part of the program does
			file, err := os.Open(c.Path)
			if err == nil {
				err = file.Close()
			}
			r = answer(err)
		}
		_ = out.Encode(r)
	}
}

func answer(err error) reply {
	r := reply{OK: err == nil, At: monotonic()}
	if err == nil {
		return r
	}
	r.Tag, r.Text = errors.TagOf(err), err.Error()
	if held, ok := errors.AsType[*processlock.Held](err); ok {
		r.Held = true
		r.Holder = held.Holder.OrEmpty().PID
	}
	if failure, ok := errors.AsType[*processlock.Failure](err); ok {
		r.Reason = string(failure.Reason)
	}
	return r
}
