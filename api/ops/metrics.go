package ops

import (
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

// MetricsConfig is what the metrics of a process are made from.
type MetricsConfig struct {
	Version string
	// Tasks counts the open and dead tasks: the ledger's Open. Depths counts
	// the deliveries in Redis: dispatch's Depths. Maintenance gives the newest success of
	// kinds: the ledger's LastSucceeded. Overdue is how long the most overdue
	// schedule has been due. Each may be nil, then the process does not show those
	// series. Every process that has them shows the same numbers, read anew for
	// each.
	Tasks       func(context.Context) ([]ledger.Stat, error)
	Depths      func(context.Context) ([]dispatch.Depth, error)
	Maintenance func(ctx context.Context, kinds []string) ([]ledger.Success, error)
	Overdue     func(context.Context) (time.Duration, error)
	Log         *slog.Logger
}

// Metrics are the metrics of one process, in a registry of their own.
type Metrics struct {
	registry *prometheus.Registry
	observer *Observer
	rooms    *rooms
	handler  http.Handler
}

// NewMetrics returns and registers all metrics.
func NewMetrics(cfg MetricsConfig) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), observer: newObserver(), rooms: newRooms()}
	m.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		buildInfo(cfg.Version),
		newCollector(cfg),
		m.rooms,
	)
	m.registry.MustRegister(m.observer.collectors()...)
	m.handler = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog: metricsLog{cfg.Log},
		// What could be gathered is worth more than a 500.
		ErrorHandling: promhttp.ContinueOnError,
		// One Prometheus pair and somebody looking by hand.
		MaxRequestsInFlight: 8,
	})
	return m
}

// Observer is what the parts of the process report to.
func (m *Metrics) Observer() *Observer { return m.observer }

// Handler serves the metrics in Prometheus's text format.
func (m *Metrics) Handler() http.Handler { return m.handler }

// buildInfo is the constant 1 with the build in its labels.
func buildInfo(version string) prometheus.Collector {
	revision := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
	}
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "slipway_build_info", Help: "The build of this process; always 1.",
		ConstLabels: prometheus.Labels{"version": version, "revision": revision, "go_version": runtime.Version()},
	})
	g.Set(1)
	return g
}

// metricsLog passes promhttp's errors on.
type metricsLog struct{ log *slog.Logger }

func (l metricsLog) Println(v ...any) { l.log.Warn("metrics not gathered as a whole", "error", v) }
