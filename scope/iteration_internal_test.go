package scope

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

var (
	causeA = CauseFail(errors.New("a"))
	causeB = CauseFail(errors.New("b"))
	broken = CauseInterrupt(7)
)

func TestIterationNext(t *testing.T) {
	for _, c := range []struct {
		name string
		it   iteration
		want duty
		done bool
	}{
		{"an item is left", iteration{items: 2, limit: 2, at: 1, running: 1}, dutyMake, false},
		{"as many run as may", iteration{items: 3, limit: 2, at: 2, running: 2}, dutyMake, false},
		{"nothing is left, parts run", iteration{items: 2, limit: 2, at: 2, running: 1}, dutyNone, true},
		{"nothing is left, nothing runs", iteration{items: 2, limit: 2, at: 2}, dutyEnd, true},
		{"beyond the last item", iteration{items: 2, limit: 2, at: 3, running: 1}, dutyNone, true},
		{"over, parts run", iteration{items: 3, limit: 2, at: 1, running: 1, over: true, cause: causeA}, dutyInterrupt, true},
		{"over, nothing runs", iteration{items: 3, limit: 2, at: 1, over: true, cause: causeA}, dutyEnd, true},
		{"stopped, parts run", iteration{items: 3, limit: 2, at: 1, running: 1, over: true}, dutyInterrupt, true},
		{"no items", iteration{limit: 2}, dutyEnd, true},
	} {
		want := c.it
		want.done = c.done
		if got, next := c.it.next(); next != c.want || got != want {
			t.Errorf("%s: got %d, %+v", c.name, next, got)
		}
	}
}

func TestIterationSettle(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, to iteration
		cause    *Cause
	}{
		{"a success", iteration{items: 3, at: 1}, iteration{items: 3, at: 2}, nil},
		{"a failure", iteration{items: 3, at: 1}, iteration{items: 3, at: 1, over: true, cause: causeA}, causeA},
		// What others recorded during the start is lost.
		{"a failure over a failure", iteration{at: 1, over: true, cause: causeA}, iteration{at: 1, over: true, cause: causeB}, causeB},
		{"a success over a failure", iteration{at: 1, over: true, cause: causeA, done: true}, iteration{at: 2, done: true}, nil},
		{"a success over a stop", iteration{at: 1, over: true}, iteration{at: 2}, nil},
	} {
		if got := c.from.settle(c.cause); got != c.to {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.to)
		}
	}
}

func TestIterationPark(t *testing.T) {
	for _, c := range []struct {
		name           string
		limit, running int
		paused         bool
	}{
		{"the first of two", 2, 0, false},
		{"the second of two", 2, 1, true},
		{"one more than may", 2, 2, true}, // started inside a start
		{"no limit", 1<<31 - 1, 1000, false},
	} {
		from := iteration{items: 9, limit: c.limit, at: 4, running: c.running}
		to := from
		to.at, to.running = 5, c.running+1
		if got, paused := from.park(); got != to || paused != c.paused {
			t.Errorf("%s: got %+v, %v", c.name, got, paused)
		}
	}
}

func TestIterationEnd(t *testing.T) {
	both := CombineFinalizer(causeA, causeB)
	defect := CauseDie("boom")
	for _, c := range []struct {
		name        string
		over        bool
		known, exit *Cause
		overAfter   bool
		want        *Cause
		next        duty
	}{
		{"a success", false, nil, nil, false, nil, dutyNone},
		{"the first failure", false, nil, causeA, true, causeA, dutyInterrupt},
		{"an interruption from elsewhere", false, nil, broken, true, broken, dutyInterrupt},
		{"another failure", true, causeA, causeB, true, both, dutyNone},
		{"a defect after a failure", true, causeA, defect, true, CombineFinalizer(causeA, defect), dutyNone},
		{"what was interrupted", true, causeA, broken, true, causeA, dutyNone},
		{"what was interrupted, with a failure of its own", true, causeA, broken.Combine(causeB), true, both, dutyNone},
		{"a success after a failure", true, causeA, nil, true, causeA, dutyNone},
		{"a failure after a stop", true, nil, causeB, true, causeB, dutyNone},
		{"a success after a stop", true, nil, nil, true, nil, dutyNone},
	} {
		got, next := iteration{running: 2, over: c.over, cause: c.known}.end(c.exit)
		if got.running != 1 || got.over != c.overAfter || got.cause.String() != c.want.String() || next != c.next || got.done != (next == dutyInterrupt) {
			t.Errorf("%s: got %+v (%v), %d", c.name, got, got.cause, next)
		}
	}
}

func TestIterationAfter(t *testing.T) {
	for _, c := range []struct {
		name         string
		done, paused bool
		running      int
		want         duty
	}{
		{"its round paused", false, true, 1, dutyRound},
		{"its round paused, another was done", true, true, 0, dutyRound},
		{"the last one", true, false, 0, dutyEnd},
		{"not the last one", true, false, 1, dutyNone},
		{"its round is still under way", false, false, 0, dutyNone},
	} {
		if got := (iteration{done: c.done, running: c.running}).after(c.paused); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

func TestIterationStopDefectWake(t *testing.T) {
	from := iteration{items: 3, at: 1, running: 1}
	stopped, dead := from, from
	stopped.over = true
	dead.over, dead.cause, dead.done = true, causeA, true
	if got := from.stop(); got != stopped {
		t.Errorf("stop: %+v", got)
	}
	if got := from.die(causeA); got != dead {
		t.Errorf("die: %+v", got)
	}
	failed := dead.die(causeB)
	if failed.cause != causeB {
		t.Errorf("a defect stands over what was known: %+v", failed)
	}
	if failed.stop().cause != causeB {
		t.Error("a stop keeps the cause")
	}
	for name, c := range map[string]struct {
		it   iteration
		want *Cause
	}{
		"nothing came after it":   {dead, causeA},
		"failures joined it":      {failed, causeB},
		"a success overwrote it":  {dead.settle(nil), causeA},
		"a failure overwrote it":  {dead.settle(causeB), causeB},
		"then it was interrupted": {dead.settle(nil).stop(), nil},
	} {
		if got := c.it.afterDefect(causeA); got != c.want {
			t.Errorf("afterDefect, %s: %v", name, got)
		}
	}
	once, first := from.wake()
	_, second := once.wake()
	if !first || second {
		t.Errorf("wake: %v, then %v", first, second)
	}
}

// Without starts that something happens in, as on the parallel runtime, an iteration
// is this: at most limit parts run, as many as can, until no item is left or one has
// failed; what follows is interrupted, and it ends with the last part.
func TestIterationOfPlainStarts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items, limit := rapid.IntRange(0, 8).Draw(t, "items"), rapid.IntRange(2, 4).Draw(t, "limit")
		it := iteration{items: items, limit: limit}
		causes := rapid.SampledFrom([]*Cause{nil, nil, nil, causeA, causeB, broken})
		type part struct{ paused *bool }
		var running []part
		started, interrupts, ends := 0, 0, 0
		var failure *Cause // the reference's
		act := func(round func(), next duty) {
			switch next {
			case dutyRound:
				round()
			case dutyInterrupt:
				interrupts++
			case dutyEnd:
				ends++
			}
		}
		var round func()
		round = func() {
			paused := new(bool)
			for {
				var next duty
				if it, next = it.next(); next != dutyMake {
					act(round, next)
					return
				}
				if it.at != started {
					t.Fatalf("makes item %d after %d", it.at, started)
				}
				it, _ = it.make()
				if rapid.IntRange(0, 3).Draw(t, "known") == 0 {
					failure = causes.Draw(t, "exit")
					if it = it.settle(failure); failure == nil {
						started++
					}
					continue
				}
				started++
				running = append(running, part{paused})
				if it, *paused = it.park(); *paused {
					return
				}
			}
		}
		check := func() {
			over := failure != nil
			want := min(limit, len(running)+items-started)
			if over {
				want = len(running)
			}
			if len(running) != want || it.running != want {
				t.Fatalf("%d run (%d in the state), want %d: %+v", len(running), it.running, want, it)
			}
			if (ends > 0) != (len(running) == 0 && (over || started == items)) {
				t.Fatalf("ended %d times: %+v", ends, it)
			}
			if it.over != over || it.cause.String() != failure.String() {
				t.Fatalf("the cause is %v, want %v", it.cause, failure)
			}
			if over && len(running) > 0 && interrupts == 0 {
				t.Fatalf("nothing was interrupted: %+v", it)
			}
		}
		round()
		check()
		for len(running) > 0 {
			i := rapid.IntRange(0, len(running)-1).Draw(t, "ends")
			p := running[i]
			running = append(running[:i:i], running[i+1:]...)
			c := causes.Draw(t, "cause")
			if failure == nil {
				failure = c
			} else if rest := c.WithoutInterrupts(); rest != nil {
				failure = CombineFinalizer(failure, rest)
			}
			var next duty
			it, next = it.end(c)
			act(round, next)
			act(round, it.after(*p.paused))
			check()
		}
		if ends == 0 {
			t.Fatalf("it did not end: %+v", it)
		}
	})
}
