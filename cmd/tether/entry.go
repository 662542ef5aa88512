package main

import (
	"time"

	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/platform"
)

// entry is what is known of one key.
type entry struct {
	Key   string `json:"key"`
	State state  `json:"state"`
	// Liveness is the judgement of the holder's process as of now: alive, dead or
	// unknown; empty when nobody holds the lease.
	Liveness   string `json:"liveness,omitempty"`
	Generation int64  `json:"generation,omitempty"`
	Revision   int64  `json:"revision,omitempty"`

	Holder   *lease.Holder `json:"holder,omitempty"`
	HolderID string        `json:"holderId,omitempty"`
	// RenewedAt and Age are by the wall clocks of two processes: for people.
	RenewedAt time.Time `json:"renewedAt,omitzero"`
	AgeMs     int64     `json:"ageMs,omitempty"`
	// RenewedAtMs is there in place of both when it is no date that JSON or people
	// know: Unix milliseconds, as stored.
	RenewedAtMs int64 `json:"renewedAtMs,omitempty"`
	// Problem is why the stored record is none.
	Problem string `json:"problem,omitempty"`
}

// state is how a key stands.
type state string

const (
	held    state = "held"
	free    state = "free"    // released
	invalid state = "invalid" // what is stored is no record
)

// entryOf judges a record that was written at renewedAt, exactly: r has it rounded.
// now is the wall clock's.
func entryOf(r lease.Record, renewedAt int64, now time.Time, judge func(platform.Identity) string) entry {
	e := entry{
		Key: r.Key, State: free, Generation: r.Generation, Revision: r.Revision,
	}
	if at := time.UnixMilli(renewedAt).UTC(); at.Year() < 1900 || at.Year() > 9999 {
		e.RenewedAtMs = renewedAt
	} else {
		e.RenewedAt = at
		e.AgeMs = max(0, now.Sub(at).Milliseconds())
	}
	if h, ok := r.Holder.Get(); ok {
		e.State, e.Holder, e.HolderID = held, &h, r.HolderID.OrEmpty()
		e.Liveness = judge(h.Identity)
	}
	return e
}

func (e entry) age() string {
	if e.RenewedAtMs != 0 {
		return "?"
	}
	age := time.Duration(e.AgeMs) * time.Millisecond
	switch {
	case age < time.Minute:
		return age.Truncate(100 * time.Millisecond).String()
	default:
		return age.Truncate(time.Second).String()
	}
}

func (e entry) holder() string {
	if e.Holder == nil {
		return "-"
	}
	return e.Holder.String()
}

// judgeBy judges holders as the process of p sees them, each process once. Who cannot
// be judged is unknown.
func judgeBy(p *platform.Platform) func(platform.Identity) string {
	known := map[platform.Identity]string{}
	return func(holder platform.Identity) string {
		verdict, ok := known[holder]
		if !ok {
			judged, err := platform.JudgeHolder(p.Process, holder)
			if err != nil {
				judged = platform.Unknown
			}
			verdict = judged.String()
			known[holder] = verdict
		}
		return verdict
	}
}
