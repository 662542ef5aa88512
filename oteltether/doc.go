// Package oteltether counts what leases and lanes do, in OpenTelemetry's metrics.
//
//	observer, err := oteltether.Leases(otel.GetMeterProvider())
//	leases, err := lease.NewManager(platform.OS(), repository, lease.Config{..., Observer: observer})
//
//	observe, err := oteltether.Lanes(otel.GetMeterProvider())
//	rooms, err := lanes.NewRunner(lanes.RunnerConfig{..., Observe: observe})
//
// What exports them is the provider's business. For Prometheus give it the reader of
// go.opentelemetry.io/otel/exporters/prometheus, which writes tether.lease.held as
// tether_lease_held.
//
// The metrics of leases:
//
//	tether.lease.held              how many leases are held now
//	tether.lease.acquisitions      by tether.takeover: why a holder before did not count, "" when there was none
//	tether.lease.losses            by tether.reason
//	tether.lease.releases          by tether.outcome: released, abandoned
//	tether.lease.renewals          by tether.outcome: confirmed, failed
//	tether.lease.renewal.duration  of those that were confirmed, in seconds
//	tether.lease.busy              how often a repository found its store locked by others
//
// The metrics of lanes:
//
//	tether.lanes.running              how many activations run now
//	tether.lanes.activations          by tether.outcome: succeeded, failed, interrupted
//	tether.lanes.activation.duration  from an activation's start to its end, in seconds
//	tether.lanes.wakes                that did not start an activation, by tether.outcome: queued, coalesced, refused
//	tether.lanes.dropped              activations that were owed and never ran
//
// Keys are not among the attributes, since there may be any number; see [WithKeys].
package oteltether
