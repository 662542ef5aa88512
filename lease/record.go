package lease

import (
	"fmt"
	"math"

	"github.com/rivus/tether/platform"
	"github.com/samber/mo"
)

// Record is what a repository keeps of a key (TypeScript: LeaseRecord). It is a
// value; two are compared with ==.
type Record struct {
	// Key is not empty.
	Key string
	// Generation is from 1; it grows by one with every acquisition.
	Generation int64
	// Revision is not below Generation; it grows by one with every write.
	Revision int64
	// Holder and HolderID are there together, or neither: a tombstone.
	Holder   mo.Option[Holder]
	HolderID mo.Option[string]
	// RenewedAt is wall-clock milliseconds since 1970, finite, for people:
	// nothing is decided by it.
	RenewedAt float64
}

// Validate says which part of the format the record breaks, or is nil (L1).
func (r Record) Validate() error {
	switch {
	case r.Key == "":
		return invalid("the key is empty")
	case r.Generation < 1 || r.Generation > platform.MaxSafeInteger:
		return invalid("generation is %d, not an integer from 1 to 2^53-1", r.Generation)
	case r.Revision < r.Generation || r.Revision > platform.MaxSafeInteger:
		return invalid("revision is %d, not an integer from the generation, %d, to 2^53-1", r.Revision, r.Generation)
	case r.Holder.IsPresent() != r.HolderID.IsPresent():
		return invalid("one of holder and holderId is null and the other is not")
	case math.IsNaN(r.RenewedAt) || math.IsInf(r.RenewedAt, 0):
		return invalid("renewedAt is not a finite number")
	}
	if h, ok := r.Holder.Get(); ok {
		if err := h.Validate(); err != nil {
			return invalid("holder: %v", err)
		}
	}
	return nil
}

// IsTombstone tells whether nobody holds the lease.
func (r Record) IsTombstone() bool { return r.Holder.IsAbsent() }

// Token is the fencing token of the record's acquisition.
func (r Record) Token() FencingToken { return FencingToken{Key: r.Key, Generation: r.Generation} }

// acquired is the record that an acquisition writes over stored. It fails when a
// number would leave the safe range, which is the end of the key.
func acquired(key string, stored mo.Option[Record], holder Holder, id string, renewedAt float64) (Record, error) {
	before := stored.OrEmpty()
	next := Record{
		Key: key, Generation: before.Generation + 1, Revision: before.Revision + 1,
		Holder: mo.Some(holder), HolderID: mo.Some(id), RenewedAt: renewedAt,
	}
	return next, next.Validate()
}

// renewed is the record that a renewal writes over r.
func (r Record) renewed(renewedAt float64) (Record, error) {
	r.Revision++
	r.RenewedAt = renewedAt
	return r, r.Validate()
}

// released is the tombstone that a release writes over r.
func (r Record) released(renewedAt float64) (Record, error) {
	r.Revision++
	r.RenewedAt = renewedAt
	r.Holder, r.HolderID = mo.None[Holder](), mo.None[string]()
	return r, r.Validate()
}

// follows tells whether next may stand in stored's place, where the revision is the
// expected one: a store that was set back counts its revisions anew, so that another
// acquisition's record may have the revision of the own one that is gone.
func follows(stored, next Record) bool {
	return next.Generation != stored.Generation || next.IsTombstone() || next.HolderID == stored.HolderID
}

// standing is how an acquisition stands in what is stored.
type standing struct {
	// record is the stored one while the acquisition is still the holder's.
	record mo.Option[Record]
	// reason is why it is not, else.
	reason LostReason
}

// standingOf looks for the acquisition with this token and id.
func standingOf(token FencingToken, id string, stored mo.Option[Record]) standing {
	r, ok := stored.Get()
	switch {
	case !ok:
		return standing{reason: LostMissing}
	case r.IsTombstone():
		return standing{reason: LostReleased}
	case r.Generation == token.Generation && r.HolderID == mo.Some(id):
		return standing{record: stored}
	default:
		return standing{reason: LostTakenOver}
	}
}

// invalidError is why something read is no record.
type invalidError string

func (e invalidError) Error() string { return string(e) }

func invalid(format string, args ...any) error { return invalidError(fmt.Sprintf(format, args...)) }
