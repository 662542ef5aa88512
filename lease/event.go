package lease

import (
	"log/slog"
	"time"

	"github.com/rivus/tether/effect"
	"github.com/samber/mo"
)

// Observer hears events, one call each, on the fiber (or the timer's goroutine)
// on which they happen, so it must be quick and must not block. Calls may come
// from several goroutines. A panic in it is logged and changes nothing. With
// runtime.Goexit it ends the fiber that tells: an acquisition fails then, and its
// lease is released; a heartbeat ends, so that its lease expires.
type Observer func(Event)

// ObserverService is where managers without an observer of their own, and
// repositories, find one.
var ObserverService = effect.NewReference("lease.Observer", func() Observer { return nil })

// Event is what an Observer hears: an Acquired, Renewed, RenewalFailed, Released,
// ReleaseAbandoned, WasLost or BusyRetry. No other types implement it.
type Event interface{ leaseEvent() }

// Acquired says that the lease was taken. Previous is the record that it was
// taken from; Takeover says why a holder in it did not count.
type Acquired struct {
	Token    FencingToken
	Previous mo.Option[Record]
	Takeover Takeover
}

// Renewed says that a renewal was confirmed; Took is how long that took.
type Renewed struct {
	Token    FencingToken
	Revision int64
	Took     time.Duration
}

// RenewalFailed says that a renewal was not confirmed. The next heartbeat tries
// again.
type RenewalFailed struct {
	Token FencingToken
	Err   error
}

// Released says that the tombstone was written.
type Released struct{ Token FencingToken }

// ReleaseAbandoned says that a release gave up, after one Heartbeat, or at once when
// the repository failed in a way that no time mends: the lease is left to its TTL. Err
// is the last failure, or nil when the repository hangs. The
// release may be that of an acquisition which failed or was interrupted: its Token is
// what it has written, or would have.
type ReleaseAbandoned struct {
	Token FencingToken
	Err   error
}

// WasLost says that the lease was lost, other than by its own release.
type WasLost struct{ Lost *Lost }

// BusyRetry says that a repository found its store locked by others and tries
// again; Waited is for how long it has tried. Key is empty when it is about many.
type BusyRetry struct {
	Key    string
	Waited time.Duration
}

func (Acquired) leaseEvent()         {}
func (Renewed) leaseEvent()          {}
func (RenewalFailed) leaseEvent()    {}
func (Released) leaseEvent()         {}
func (ReleaseAbandoned) leaseEvent() {}
func (WasLost) leaseEvent()          {}
func (BusyRetry) leaseEvent()        {}

// tell is safe on a nil observer and keeps its panics away.
func (o Observer) tell(e Event) {
	if o == nil {
		return
	}
	defer func() {
		if r := recover(); r != nil {
			slog.Error("a lease observer panicked", "panic", r)
		}
	}()
	o(e)
}

// SlogObserver logs events: takeovers and losses as warnings, acquisitions and
// releases as information, renewals and busy retries for debugging. The attribute
// names are those of the contract, "_tag" included.
func SlogObserver(log *slog.Logger) Observer {
	return func(e Event) {
		switch e := e.(type) {
		case Acquired:
			if e.Takeover == TakeoverNone {
				log.Info("lease acquired", logged("LeaseAcquired", e.Token)...)
				return
			}
			attrs := append(logged("LeaseAcquired", e.Token), slog.String("takeover", string(e.Takeover)))
			if h, ok := e.Previous.OrEmpty().Holder.Get(); ok {
				attrs = append(attrs, slog.String("previousHolder", h.String()))
			}
			log.Warn("lease taken over", attrs...)
		case Renewed:
			log.Debug("lease renewed", append(logged("LeaseRenewed", e.Token),
				slog.Int64("revision", e.Revision), slog.Duration("took", e.Took))...)
		case RenewalFailed:
			log.Warn("lease renewal failed", append(logged("LeaseRenewalFailed", e.Token), slog.Any("error", e.Err))...)
		case Released:
			log.Info("lease released", logged("LeaseReleased", e.Token)...)
		case ReleaseAbandoned:
			log.Warn("lease release abandoned; it is left to its TTL",
				append(logged("LeaseReleaseAbandoned", e.Token), slog.Any("error", e.Err))...)
		case WasLost:
			log.Warn("lease lost", append(logged(e.Lost.Tag(), FencingToken{e.Lost.Key, e.Lost.Generation}),
				slog.String("reason", string(e.Lost.Reason)))...)
		case BusyRetry:
			log.Debug("lease repository busy", "_tag", "LeaseBusyRetry", "key", e.Key, "waited", e.Waited)
		}
	}
}

func logged(tag string, t FencingToken) []any {
	return append(make([]any, 0, 6), slog.String("_tag", tag), slog.String("key", t.Key), slog.Int64("generation", t.Generation))
}
