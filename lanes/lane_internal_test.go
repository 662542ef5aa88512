package lanes

import (
	"math"
	"testing"
)

var (
	idle    = lane{}
	queued  = lane{state: StateQueued}
	running = lane{state: StateRunning}
	pending = lane{state: StateRunning, pending: true}
)

func stopping(l lane, r StopReason) lane {
	l.stop = r
	return l
}

func TestN2_LaneWake(t *testing.T) {
	for _, c := range []struct {
		name       string
		from       lane
		slot, room bool
		to         lane
		outcome    Outcome
	}{
		{"idle, free slot", idle, true, false, running, Started},
		{"idle, free slot and room", idle, true, true, running, Started},
		{"idle, room", idle, false, true, queued, Queued},
		{"idle, full", idle, false, false, idle, refused},
		{"queued, full", queued, false, false, queued, Coalesced},
		{"queued, free slot", queued, true, true, queued, Coalesced},
		{"running", running, false, false, pending, Coalesced},
		{"running, free slot", running, true, true, pending, Coalesced},
		{"pending", pending, true, true, pending, Coalesced},
		{"stopping", stopping(running, StopCancel), true, true, stopping(pending, StopCancel), Coalesced},
	} {
		if to, outcome := c.from.wake(c.slot, c.room); to != c.to || outcome != c.outcome {
			t.Errorf("%s: got %+v, %v; want %+v, %v", c.name, to, outcome, c.to, c.outcome)
		}
	}
}

func TestN8_LaneHalt(t *testing.T) {
	for _, c := range []struct {
		name           string
		from           lane
		reason         StopReason
		to             lane
		dropped, first bool
	}{
		{"idle", idle, StopCancel, idle, false, false},
		{"queued", queued, StopCancel, idle, true, false},
		{"running", running, StopCancel, stopping(running, StopCancel), false, true},
		{"pending", pending, StopClose, stopping(running, StopClose), true, true},
		{"cancelled, closed", stopping(running, StopCancel), StopClose, stopping(running, StopCancel), false, false},
		{"timed out, pending, cancelled", stopping(pending, StopTimeout), StopCancel, stopping(running, StopTimeout), true, false},
	} {
		if to, dropped, first := c.from.halt(c.reason); to != c.to || dropped != c.dropped || first != c.first {
			t.Errorf("%s: got %+v, %v, %v; want %+v, %v, %v", c.name, to, dropped, first, c.to, c.dropped, c.first)
		}
	}
}

func TestN7_LaneExpire(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, to lane
		first    bool
	}{
		{"idle", idle, idle, false},
		{"queued", queued, queued, false},
		{"running", running, stopping(running, StopTimeout), true},
		{"pending stays pending", pending, stopping(pending, StopTimeout), true},
		{"cancelled", stopping(running, StopCancel), stopping(running, StopCancel), false},
	} {
		if to, first := c.from.expire(); to != c.to || first != c.first {
			t.Errorf("%s: got %+v, %v; want %+v, %v", c.name, to, first, c.to, c.first)
		}
	}
}

func TestN4_LaneEndAndAdmit(t *testing.T) {
	for _, c := range []struct {
		name     string
		got, old lane
	}{
		{"end", running.end(), idle},
		{"end of a pending one", pending.end(), queued},
		{"end forgets the stop", stopping(running, StopTimeout).end(), idle},
		{"end of a pending one forgets the stop", stopping(pending, StopTimeout).end(), queued},
		{"admit", queued.admit(), running},
	} {
		if c.got != c.old {
			t.Errorf("%s: got %+v, want %+v", c.name, c.got, c.old)
		}
	}
}

func TestN2_Admission(t *testing.T) {
	for _, c := range []struct {
		name       string
		rules      admission
		slot, room bool
	}{
		{"empty", admission{maxConcurrent: 1, maxQueued: 1}, true, true},
		{"taken", admission{maxConcurrent: 1, maxQueued: 1, running: 1}, false, true},
		{"full", admission{maxConcurrent: 1, maxQueued: 1, running: 1, queued: 1}, false, false},
		{"beyond full", admission{maxConcurrent: 1, maxQueued: 1, running: 1, queued: 2}, false, false},
		{"no queue", admission{maxConcurrent: 2, maxQueued: 0, running: 1}, true, false},
		{"no bound", admission{maxConcurrent: 1, maxQueued: -1, running: 1, queued: math.MaxInt}, false, true},
	} {
		if c.rules.slot() != c.slot || c.rules.room() != c.room {
			t.Errorf("%s: got %v, %v; want %v, %v", c.name, c.rules.slot(), c.rules.room(), c.slot, c.room)
		}
	}
}
