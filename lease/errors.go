package lease

import (
	"strconv"

	"github.com/rivus/tether/errors"
	"github.com/samber/mo"
)

// Failure is what the effects of this package fail with: *Held, *Lost,
// *ConfigInvalid, *RepositoryFailure, *RevisionConflict or *FenceRejected. No
// other types implement it.
type Failure interface {
	errors.Tagged
	leaseFailure()
}

var (
	_ Failure = (*Held)(nil)
	_ Failure = (*Lost)(nil)
	_ Failure = (*ConfigInvalid)(nil)
	_ Failure = (*RepositoryFailure)(nil)
	_ Failure = (*RevisionConflict)(nil)
	_ Failure = (*FenceRejected)(nil)
)

// Held says that somebody else holds the lease. Tag: "LeaseHeld".
type Held struct {
	Key        string `json:"key"`
	Generation int64  `json:"generation"`
	Holder     Holder `json:"holder"`
	HolderID   string `json:"holderId"`
}

func (*Held) leaseFailure() {}

// Tag implements errors.Tagged.
func (*Held) Tag() string { return "LeaseHeld" }

func (e *Held) Error() string {
	return "lease " + quote(e.Key) + " is held by " + e.Holder.String() + " (generation " + number(e.Generation) + ")"
}

// MarshalJSON implements json.Marshaler.
func (e *Held) MarshalJSON() ([]byte, error) {
	type fields Held
	return errors.MarshalTagged(e.Tag(), (*fields)(e))
}

// LostReason is why a lease is lost.
type LostReason string

// The reasons.
const (
	LostTakenOver LostReason = "taken-over" // another acquisition is in the record
	LostReleased  LostReason = "released"   // a tombstone is: its scope closed, or somebody released it
	LostMissing   LostReason = "missing"    // no record is, or an older one of it: the store was set back
	LostExpired   LostReason = "expired"    // no renewal was confirmed for a TTL
)

// Lost says that the lease is not held any more. Tag: "LeaseLost".
type Lost struct {
	Key        string     `json:"key"`
	Generation int64      `json:"generation"`
	Reason     LostReason `json:"reason"`
}

func (*Lost) leaseFailure() {}

// Tag implements errors.Tagged.
func (*Lost) Tag() string { return "LeaseLost" }

func (e *Lost) Error() string {
	return "lease " + quote(e.Key) + " (generation " + number(e.Generation) + ") is lost: " + string(e.Reason)
}

// MarshalJSON implements json.Marshaler.
func (e *Lost) MarshalJSON() ([]byte, error) {
	type fields Lost
	return errors.MarshalTagged(e.Tag(), (*fields)(e))
}

// ConfigInvalid says why a Config was refused. Tag: "LeaseConfigInvalid".
type ConfigInvalid struct {
	Message string `json:"message"`
}

func (*ConfigInvalid) leaseFailure() {}

// Tag implements errors.Tagged.
func (*ConfigInvalid) Tag() string { return "LeaseConfigInvalid" }

func (e *ConfigInvalid) Error() string { return "lease configuration: " + e.Message }

// MarshalJSON implements json.Marshaler.
func (e *ConfigInvalid) MarshalJSON() ([]byte, error) {
	type fields ConfigInvalid
	return errors.MarshalTagged(e.Tag(), (*fields)(e))
}

// RepositoryReason is what kind of trouble a repository has.
type RepositoryReason string

// The reasons.
const (
	RepositoryBusy              RepositoryReason = "busy"               // others kept it locked
	RepositoryIO                RepositoryReason = "io"                 // the system refused
	RepositoryInvalidRecord     RepositoryReason = "invalid-record"     // what is stored is no record; it was left as it is
	RepositoryUnsupportedSchema RepositoryReason = "unsupported-schema" // a newer version wrote it
	RepositoryUnavailable       RepositoryReason = "unavailable"        // the platform or the file system lacks what is needed
)

// RepositoryFailure says that the repository could not do it. Tag:
// "LeaseRepositoryFailure". Of a Save that failed so it is not known whether it
// was written, but for the reasons unsupported-schema and unavailable.
type RepositoryFailure struct {
	Key     string           `json:"key"`
	Reason  RepositoryReason `json:"reason"`
	Message string           `json:"message"`
	Cause   error            `json:"-"`
}

func (*RepositoryFailure) leaseFailure() {}

// Tag implements errors.Tagged.
func (*RepositoryFailure) Tag() string { return "LeaseRepositoryFailure" }

func (e *RepositoryFailure) Error() string {
	if e.Key == "" {
		return subject("") + ": " + string(e.Reason) + ": " + e.Message
	}
	return subject(e.Key) + ": repository: " + string(e.Reason) + ": " + e.Message
}

// Unwrap is what the platform answered, or nil.
func (e *RepositoryFailure) Unwrap() error { return e.Cause }

// MarshalJSON implements json.Marshaler.
func (e *RepositoryFailure) MarshalJSON() ([]byte, error) {
	type fields RepositoryFailure
	return errors.MarshalTagged(e.Tag(), (*fields)(e))
}

// RevisionConflict says that a Save found another revision than it expected, and
// wrote nothing. Tag: "RevisionConflict".
type RevisionConflict struct {
	Key              string
	ExpectedRevision mo.Option[int64] // none: no record
	StoredRevision   mo.Option[int64]
}

func (*RevisionConflict) leaseFailure() {}

// Tag implements errors.Tagged.
func (*RevisionConflict) Tag() string { return "RevisionConflict" }

func (e *RevisionConflict) Error() string {
	return "lease " + quote(e.Key) + ": revision " + optional(e.ExpectedRevision) + " was expected, and " +
		optional(e.StoredRevision) + " is stored"
}

// MarshalJSON implements json.Marshaler: {"_tag":"RevisionConflict", "key",
// "expectedRevision"?, "storedRevision"?}.
func (e *RevisionConflict) MarshalJSON() ([]byte, error) {
	return errors.MarshalTagged(e.Tag(), struct {
		Key              string `json:"key"`
		ExpectedRevision *int64 `json:"expectedRevision,omitempty"`
		StoredRevision   *int64 `json:"storedRevision,omitempty"`
	}{e.Key, e.ExpectedRevision.ToPointer(), e.StoredRevision.ToPointer()})
}

// FenceRejected says that a later acquisition was seen than the one that wants
// in. Tag: "FenceRejected".
type FenceRejected struct {
	Key        string
	Generation int64
	// Current is the generation that was seen; none when the record is missing.
	Current mo.Option[int64]
}

func (*FenceRejected) leaseFailure() {}

// Tag implements errors.Tagged.
func (*FenceRejected) Tag() string { return "FenceRejected" }

func (e *FenceRejected) Error() string {
	return "lease " + quote(e.Key) + ": the fence refuses generation " + number(e.Generation) + ": " +
		optional(e.Current) + " is current"
}

// MarshalJSON implements json.Marshaler: {"_tag":"FenceRejected", "key",
// "generation", "current"?}.
func (e *FenceRejected) MarshalJSON() ([]byte, error) {
	return errors.MarshalTagged(e.Tag(), struct {
		Key        string `json:"key"`
		Generation int64  `json:"generation"`
		Current    *int64 `json:"current,omitempty"`
	}{e.Key, e.Generation, e.Current.ToPointer()})
}

// subject is what an error is about: a key, or none of them.
func subject(key string) string {
	if key == "" {
		return "lease repository"
	}
	return "lease " + quote(key)
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func optional(n mo.Option[int64]) string {
	if v, ok := n.Get(); ok {
		return number(v)
	}
	return "none"
}

// quote keeps a message readable when the key is absurdly long.
func quote(key string) string {
	const most = 200
	if len(key) > most {
		return strconv.Quote(key[:most]) + "... (" + strconv.Itoa(len(key)) + " bytes)"
	}
	return strconv.Quote(key)
}
