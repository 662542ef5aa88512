package lanes

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/rivus/tether/errors"
	"github.com/rivus/tether/scope"
)

// Drain refuses all later wakes, with *Closed, and lets what is owed run to its end:
// running activations, those that they are woken for once more, and the queue. Then
// the lanes are closed. It can be called more than once; each call waits. Interrupting
// the wait takes nothing back.
//
// With [Within] it closes the lanes when the time is over, as Close does, waits for
// what that interrupts, and fails with *Undrained, unless nothing was left. So it does
// when somebody else closes the lanes meanwhile.
//
// Called from inside an activation it would wait for its own caller: that is a
// *SelfDeadlock defect and changes nothing.
func (l *Lanes) Drain(options ...DrainOption) effect.Effect[effect.Unit] {
	var s drainSettings
	for _, o := range options {
		o(&s)
	}
	return effect.Direct(func(f *scope.Fiber) (effect.Unit, *scope.Cause) {
		d, c := l.beginDrain(f)
		if c != nil {
			return effect.Unit{}, c
		}
		over := d.ended.Await().As(true)
		if s.limited {
			over = over.RaceFirst(effect.Sleep(s.limit).As(false))
		}
		drained, c := effect.RunOn(f, over)
		if c == nil && !drained {
			c = l.close(f)
		}
		if c != nil {
			return effect.Unit{}, c
		}
		why := context.DeadlineExceeded
		if drained {
			why = errClosedMeanwhile
		}
		if left := d.left(why); left != nil {
			return effect.Unit{}, scope.CauseFail(left)
		}
		return effect.Unit{}, nil
	})
}

var errClosedMeanwhile = errors.New("the lanes were closed meanwhile")

// DrainOption changes how Drain goes about it.
type DrainOption func(*drainSettings)

type drainSettings struct {
	limited bool
	limit   time.Duration
}

// Within is how long Drain waits before it interrupts what is left, by the runtime's
// clock.
func Within(limit time.Duration) DrainOption {
	return func(s *drainSettings) { s.limited, s.limit = true, limit }
}

// drain is the one drain of some lanes, whatever the number of calls.
type drain struct {
	// ended completes when all lanes are idle.
	ended effect.Deferred[effect.Unit]
	// dropped and interrupted are what a close found owed and running. The lanes' mu
	// guards them until ended is complete; then they do not change.
	dropped     []string
	interrupted []*activation
}

// beginDrain makes l refuse wakes. The cause is a deadlock.
func (l *Lanes) beginDrain(f *scope.Fiber) (*drain, *scope.Cause) {
	inside := frameOf(f)
	l.mu.Lock()
	for e := l.board.running.Front(); e != nil; e = e.Next() {
		if a := e.Value.run; inside.deadlocks(f, a) || inside.endsWith(f, a) {
			l.mu.Unlock()
			return nil, scope.CauseDie(&SelfDeadlock{Operation: "Drain", Key: a.key})
		}
	}
	if l.drain == nil {
		l.drain = new(drain)
	}
	l.board.drain()
	d, drained := l.drain, l.drained()
	l.mu.Unlock()
	drained.tell()
	return d, nil
}

// drained gives the drain that is over, whose waiters its caller tells when it has let
// go of mu, or nil. mu is held; see board.drained for when to call it.
func (l *Lanes) drained() *drain {
	if !l.board.drained() {
		return nil
	}
	return l.drain
}

func (d *drain) tell() {
	if d != nil {
		d.ended.CompleteNow(effect.Void())
	}
}

// cutBy reports whether a close of lanes with these rules cuts the drain short.
func (d *drain) cutBy(rules admission) bool { return d != nil && rules.draining && !rules.closed }

// left is what did not end by itself, or nil; cause is why. The drain is over.
func (d *drain) left(cause error) *Undrained {
	interrupted := []string{}
	for _, a := range d.interrupted {
		// One may have ended by itself before the interruption reached it.
		if a.stopped {
			interrupted = append(interrupted, a.key)
		}
	}
	if len(interrupted)+len(d.dropped) == 0 {
		return nil
	}
	return &Undrained{Interrupted: interrupted, Dropped: append([]string{}, d.dropped...), Cause: cause}
}

// Undrained says that a Drain was over before all that was owed had run, and what was
// left. The lanes are closed, and nothing runs any more.
type Undrained struct {
	// Interrupted are the keys whose activations were interrupted.
	Interrupted []string `json:"interrupted"`
	// Dropped are the keys that were owed an activation, which never started.
	Dropped []string `json:"dropped"`
	// Cause is [context.DeadlineExceeded] when the time was over, what the context of
	// Runner.Drain ended with, or says that somebody closed the lanes meanwhile.
	Cause error `json:"-"`
}

func (*Undrained) lanesError() {}

// Tag implements errors.Tagged: "LanesUndrained".
func (*Undrained) Tag() string { return "LanesUndrained" }

func (e *Undrained) Error() string {
	var parts []string
	for _, p := range []struct {
		what string
		keys []string
	}{{"interrupted", e.Interrupted}, {"dropped", e.Dropped}} {
		if len(p.keys) > 0 {
			parts = append(parts, p.what+" "+listKeys(p.keys))
		}
	}
	return fmt.Sprintf("lanes: not drained: %s: %v", strings.Join(parts, "; "), e.Cause)
}

// Unwrap is Cause.
func (e *Undrained) Unwrap() error { return e.Cause }

// MarshalJSON implements json.Marshaler: {"_tag":"LanesUndrained", "interrupted",
// "dropped"}.
func (e *Undrained) MarshalJSON() ([]byte, error) {
	type fields Undrained
	return errors.MarshalTagged(e.Tag(), (*fields)(e))
}

// listKeys is at most ten keys, for a message.
func listKeys(keys []string) string {
	const most = 10
	var b strings.Builder
	for i, key := range keys {
		switch {
		case i == most:
			return fmt.Sprintf("%s and %d more", b.String(), len(keys)-most)
		case i > 0:
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", key)
	}
	return b.String()
}

func (d *drain) await(f *scope.Fiber) *scope.Cause {
	_, c := effect.RunOn(f, d.ended.Await())
	return c
}
