package lease

import (
	"math"
	"time"

	"github.com/rivus/tether/platform"
	"github.com/samber/mo"
)

// Takeover is why an acquisition could write over the record that it found.
type Takeover string

// The reasons.
const (
	TakeoverNone     Takeover = ""         // there was no record, or a tombstone
	TakeoverDead     Takeover = "dead"     // the holder's process is proved dead
	TakeoverExpired  Takeover = "expired"  // the holder did not renew for a TTL
	TakeoverOrphaned Takeover = "orphaned" // an acquisition of this manager whose outcome it never learned
)

// decide tells whether stored may be written over, and why. ttl is the
// observer's own; watched is for how long it has seen the record unchanged. The
// liveness is looked at only when there is a holder.
func decide(stored mo.Option[Record], liveness platform.Liveness, watched, ttl time.Duration) (Takeover, bool) {
	r, ok := stored.Get()
	if !ok || r.IsTombstone() {
		return TakeoverNone, true
	}
	if liveness == platform.Dead {
		return TakeoverDead, true
	}
	// The holder trusts its lease for its own TTL, which may be the longer one.
	if watched >= max(ttl, r.Holder.OrEmpty().TTL) {
		return TakeoverExpired, true
	}
	return TakeoverNone, false
}

// sighting is what an observer remembers of a record that somebody holds. Its
// times are readings of the observer's own monotonic clock.
type sighting struct {
	generation, revision int64
	id                   string
	// since is when the answer that first showed this revision had come.
	since time.Duration
}

// see is the sighting after r was read by a load that lasted from asked to
// answered, and for how long r has been unchanged for certain: the first answer
// may be late and the last question early, so both count against a takeover.
func (s sighting) see(r Record, asked, answered time.Duration) (sighting, time.Duration) {
	id := r.HolderID.OrEmpty()
	if s.generation == r.Generation && s.revision == r.Revision && s.id == id {
		return s, max(asked-s.since, 0)
	}
	return sighting{generation: r.Generation, revision: r.Revision, id: id, since: answered}, 0
}

// later is at+d without overflow: a TTL may be as long as time itself.
func later(at, d time.Duration) time.Duration {
	if at > math.MaxInt64-d {
		return math.MaxInt64
	}
	return at + d
}
