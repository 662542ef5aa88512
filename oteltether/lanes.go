package oteltether

import (
	"context"
	"sync"
	"time"

	"github.com/rivus/tether/lanes"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Lanes makes a function for Config.Observe or RunnerConfig.Observe of one value:
// others have keys of the same names. It fails when the provider refuses an instrument.
func Lanes(provider metric.MeterProvider, options ...Option) (func(lanes.Event), error) {
	m := &maker{meter: provider.Meter(scopeName)}
	b := &board{
		settings:    settingsOf(options),
		began:       map[string]time.Time{},
		running:     m.gauge("tether.lanes.running", "{activation}", "activations that run"),
		activations: m.counter("tether.lanes.activations", "{activation}", "activations that have ended"),
		took:        m.seconds("tether.lanes.activation.duration", "how long activations took"),
		wakes:       m.counter("tether.lanes.wakes", "{wake}", "wakes that did not start an activation"),
		dropped:     m.counter("tether.lanes.dropped", "{activation}", "activations that were owed and never ran"),
	}
	return b.observe, m.err
}

type board struct {
	settings
	running                     metric.Int64UpDownCounter
	activations, wakes, dropped metric.Int64Counter
	took                        metric.Float64Histogram

	mu sync.Mutex
	// began is when the activations that run began.
	began map[string]time.Time
}

func (b *board) observe(e lanes.Event) {
	ctx := context.Background()
	wake := func(outcome string) { b.wakes.Add(ctx, 1, b.of(e.Key, attribute.String("tether.outcome", outcome))) }
	switch e.Kind {
	case lanes.EventStarted:
		b.mu.Lock()
		b.began[e.Key] = time.Now()
		b.mu.Unlock()
		b.running.Add(ctx, 1, b.of(e.Key))
	case lanes.EventEnded:
		b.mu.Lock()
		began := b.began[e.Key]
		delete(b.began, e.Key)
		b.mu.Unlock()
		b.running.Add(ctx, -1, b.of(e.Key))
		b.activations.Add(ctx, 1, b.of(e.Key, attribute.String("tether.outcome", outcome(e.Exit))))
		b.took.Record(ctx, time.Since(began).Seconds(), b.of(e.Key))
	case lanes.EventQueued:
		wake("queued")
	case lanes.EventCoalesced:
		wake("coalesced")
	case lanes.EventFull:
		wake("refused")
	case lanes.EventDropped:
		b.dropped.Add(ctx, 1, b.of(e.Key))
	}
}

func outcome(e lanes.ActivationExit) string {
	switch e.(type) {
	case lanes.ActivationSucceeded:
		return "succeeded"
	case lanes.ActivationInterrupted:
		return "interrupted"
	default:
		return "failed"
	}
}
