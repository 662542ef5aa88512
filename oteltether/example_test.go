package oteltether_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rivus/tether/lease"
	"github.com/rivus/tether/oteltether"
	"github.com/rivus/tether/platform"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Prometheus reads what OpenTelemetry's exporter collects.
func Example_prometheus() {
	registry := prometheus.NewRegistry()
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registry), otelprometheus.WithoutScopeInfo(), otelprometheus.WithoutTargetInfo())
	if err != nil {
		log.Fatal(err)
	}
	observer, err := oteltether.Leases(metric.NewMeterProvider(metric.WithReader(exporter)))
	if err != nil {
		log.Fatal(err)
	}
	leases, err := lease.NewManager(platform.OS(), lease.NewMemoryRepository(), lease.Config{
		TTL: time.Minute, Heartbeat: 15 * time.Second, Observer: observer,
	})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))

	_ = leases.Hold(context.Background(), "task:42", func(context.Context, lease.FencingToken) error {
		page := httptest.NewRecorder()
		mux.ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
		for line := range strings.Lines(page.Body.String()) {
			if strings.HasPrefix(line, "tether") {
				fmt.Print(line)
			}
		}
		return nil
	})
	// Output:
	// tether_lease_acquisitions_total{tether_takeover=""} 1
	// tether_lease_held 1
}
