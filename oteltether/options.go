package oteltether

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Option changes what is counted.
type Option func(*settings)

type settings struct {
	keys       bool
	attributes []attribute.KeyValue
}

// WithKeys adds the attribute tether.key to every measurement, for programs whose keys
// are few. Each key costs a time series of every metric.
func WithKeys() Option { return func(s *settings) { s.keys = true } }

// WithAttributes adds attributes to every measurement, such as the name of the lanes
// where a program has several.
func WithAttributes(attributes ...attribute.KeyValue) Option {
	return func(s *settings) { s.attributes = append(s.attributes, attributes...) }
}

func settingsOf(options []Option) settings {
	var s settings
	for _, o := range options {
		o(&s)
	}
	return s
}

// of is the attributes of a measurement about key, of a few more and of all.
func (s settings) of(key string, more ...attribute.KeyValue) metric.MeasurementOption {
	all := append(more, s.attributes...)
	if s.keys && key != "" {
		all = append(all, attribute.String("tether.key", key))
	}
	return metric.WithAttributes(all...)
}

const scopeName = "github.com/rivus/tether/oteltether"

// maker makes instruments, and keeps the first error.
type maker struct {
	meter metric.Meter
	err   error
}

func (m *maker) keep(err error) {
	if m.err == nil {
		m.err = err
	}
}

func (m *maker) counter(name, unit, what string) metric.Int64Counter {
	c, err := m.meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(what))
	m.keep(err)
	return c
}

func (m *maker) gauge(name, unit, what string) metric.Int64UpDownCounter {
	c, err := m.meter.Int64UpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(what))
	m.keep(err)
	return c
}

func (m *maker) seconds(name, what string) metric.Float64Histogram {
	h, err := m.meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(what))
	m.keep(err)
	return h
}
