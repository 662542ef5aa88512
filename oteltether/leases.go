package oteltether

import (
	"context"
	"sync"

	"github.com/rivus/tether/lease"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Leases makes an observer for any number of managers. It fails when the provider
// refuses an instrument.
func Leases(provider metric.MeterProvider, options ...Option) (lease.Observer, error) {
	m := &maker{meter: provider.Meter(scopeName)}
	l := &leases{
		settings:     settingsOf(options),
		holds:        map[lease.FencingToken]struct{}{},
		held:         m.gauge("tether.lease.held", "{lease}", "leases that are held"),
		acquisitions: m.counter("tether.lease.acquisitions", "{lease}", "leases that were taken"),
		losses:       m.counter("tether.lease.losses", "{lease}", "leases that were lost"),
		releases:     m.counter("tether.lease.releases", "{lease}", "releases"),
		renewals:     m.counter("tether.lease.renewals", "{renewal}", "renewals"),
		took:         m.seconds("tether.lease.renewal.duration", "how long confirmed renewals took"),
		busy:         m.counter("tether.lease.busy", "{retry}", "how often a repository's store was locked by others"),
	}
	return l.observe, m.err
}

type leases struct {
	settings
	held                                           metric.Int64UpDownCounter
	acquisitions, losses, releases, renewals, busy metric.Int64Counter
	took                                           metric.Float64Histogram

	mu sync.Mutex
	// holds are the leases in held. One that was lost may be released, too.
	holds map[lease.FencingToken]struct{}
}

func (l *leases) observe(e lease.Event) {
	ctx := context.Background()
	switch e := e.(type) {
	case lease.Acquired:
		l.mu.Lock()
		l.holds[e.Token] = struct{}{}
		l.mu.Unlock()
		l.held.Add(ctx, 1, l.of(e.Token.Key))
		l.acquisitions.Add(ctx, 1, l.of(e.Token.Key, attribute.String("tether.takeover", string(e.Takeover))))
	case lease.Renewed:
		l.renewals.Add(ctx, 1, l.of(e.Token.Key, attribute.String("tether.outcome", "confirmed")))
		l.took.Record(ctx, e.Took.Seconds(), l.of(e.Token.Key))
	case lease.RenewalFailed:
		l.renewals.Add(ctx, 1, l.of(e.Token.Key, attribute.String("tether.outcome", "failed")))
	case lease.Released:
		l.ends(ctx, e.Token)
		l.releases.Add(ctx, 1, l.of(e.Token.Key, attribute.String("tether.outcome", "released")))
	case lease.ReleaseAbandoned:
		l.ends(ctx, e.Token)
		l.releases.Add(ctx, 1, l.of(e.Token.Key, attribute.String("tether.outcome", "abandoned")))
	case lease.WasLost:
		l.ends(ctx, lease.FencingToken{Key: e.Lost.Key, Generation: e.Lost.Generation})
		l.losses.Add(ctx, 1, l.of(e.Lost.Key, attribute.String("tether.reason", string(e.Lost.Reason))))
	case lease.BusyRetry:
		l.busy.Add(ctx, 1, l.of(e.Key))
	}
}

// ends takes the lease out of held, once.
func (l *leases) ends(ctx context.Context, token lease.FencingToken) {
	l.mu.Lock()
	_, held := l.holds[token]
	delete(l.holds, token)
	l.mu.Unlock()
	if held {
		l.held.Add(ctx, -1, l.of(token.Key))
	}
}
