package oteltether_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rivus/tether/lanes"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/oteltether"
	"github.com/rivus/tether/platform"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// measured are the metrics as lines, "name{attributes} value", sorted.
func measured(t *testing.T, reader *metric.ManualReader) (lines []string) {
	t.Helper()
	var out metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &out); err != nil {
		t.Fatal(err)
	}
	line := func(name string, attributes attribute.Set, value any) {
		var parts []string
		for _, kv := range attributes.ToSlice() {
			parts = append(parts, strings.TrimPrefix(string(kv.Key), "tether.")+"="+kv.Value.Emit())
		}
		lines = append(lines, fmt.Sprintf("%s{%s} %v", strings.TrimPrefix(name, "tether."), strings.Join(parts, ","), value))
	}
	for _, scope := range out.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					line(m.Name, p.Attributes, p.Value)
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					line(m.Name, p.Attributes, fmt.Sprintf("%d in %gs", p.Count, p.Sum))
				}
			default:
				t.Errorf("%s is a %T", m.Name, data)
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := metric.NewManualReader()
		observer, err := oteltether.Leases(metric.NewMeterProvider(metric.WithReader(reader)), oteltether.WithKeys())
		if err != nil {
			t.Fatal(err)
		}
		weather := &weather{Repository: lease.NewMemoryRepository()}
		leases, err := lease.NewManager(platform.OS(), weather, lease.Config{TTL: time.Minute, Heartbeat: 20 * time.Second, Observer: observer})
		if err != nil {
			t.Fatal(err)
		}
		held, err := leases.Take(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		same(t, measured(t, reader), []string{"lease.acquisitions{key=a,takeover=} 1", "lease.held{key=a} 1"})
		time.Sleep(21 * time.Second)
		weather.bad.Store(true)
		<-held.Context().Done()
		weather.bad.Store(false)
		_ = held.Close()
		if err := leases.Hold(t.Context(), "a", func(context.Context, lease.FencingToken) error { return nil }); err != nil {
			t.Error(err)
		}
		// How many renewals fail depends on their jitter.
		failed := regexp.MustCompile(`^(lease.renewals\{key=a,outcome=failed\}) [1-9]$`)
		got := measured(t, reader)
		for i := range got {
			got[i] = failed.ReplaceAllString(got[i], "$1")
		}
		same(t, got, []string{
			"lease.acquisitions{key=a,takeover=} 2",
			"lease.held{key=a} 0",
			"lease.losses{key=a,reason=expired} 1",
			"lease.releases{key=a,outcome=released} 2",
			"lease.renewal.duration{key=a} 1 in 0s",
			"lease.renewals{key=a,outcome=confirmed} 1",
			"lease.renewals{key=a,outcome=failed}",
		})
	})
}

func TestLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := metric.NewManualReader()
		observe, err := oteltether.Lanes(metric.NewMeterProvider(metric.WithReader(reader)),
			oteltether.WithAttributes(attribute.String("tether.lanes", "rooms")))
		if err != nil {
			t.Fatal(err)
		}
		rooms, err := lanes.NewRunner(lanes.RunnerConfig{
			MaxConcurrent: 1, MaxQueued: 2, Observe: observe,
			OnExit: func(context.Context, lanes.ActivationExit) {},
			Activate: func(ctx context.Context, room string) error {
				time.Sleep(time.Second)
				if room == "b" {
					return errors.New("b fails")
				}
				return ctx.Err()
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, room := range []string{"a", "b", "c", "d", "a"} {
			_, _ = rooms.Wake(room)
		}
		synctest.Wait()
		same(t, measured(t, reader), []string{
			"lanes.running{lanes=rooms} 1",
			"lanes.wakes{lanes=rooms,outcome=coalesced} 1",
			"lanes.wakes{lanes=rooms,outcome=queued} 2",
			"lanes.wakes{lanes=rooms,outcome=refused} 1",
		})
		time.Sleep(2500 * time.Millisecond)
		if err := rooms.Close(t.Context()); err != nil {
			t.Error(err)
		}
		same(t, measured(t, reader), []string{
			"lanes.activation.duration{lanes=rooms} 3 in 3s",
			"lanes.activations{lanes=rooms,outcome=failed} 1",
			"lanes.activations{lanes=rooms,outcome=interrupted} 1",
			"lanes.activations{lanes=rooms,outcome=succeeded} 1",
			"lanes.dropped{lanes=rooms} 1",
			"lanes.running{lanes=rooms} 0",
			"lanes.wakes{lanes=rooms,outcome=coalesced} 1",
			"lanes.wakes{lanes=rooms,outcome=queued} 2",
			"lanes.wakes{lanes=rooms,outcome=refused} 1",
		})
	})
}
