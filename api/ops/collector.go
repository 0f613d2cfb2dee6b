package ops

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

var (
	descTasks = prometheus.NewDesc("slipway_tasks",
		"Tasks in the ledger that are open or dead.", []string{"kind", "queue", "state"}, nil)
	descOldest = prometheus.NewDesc("slipway_task_oldest_seconds",
		"Age of the oldest task: since it was due (queued) or started (running); 0 without one.",
		[]string{"kind", "queue", "state"}, nil)
	descLatency = prometheus.NewDesc("slipway_queue_latency_seconds",
		"Age of the oldest due task of the queue in the ledger; 0 without one.", []string{"queue"}, nil)
	descDepth = prometheus.NewDesc("slipway_queue_depth",
		"Deliveries in Redis, by asynq's state.", []string{"queue", "state"}, nil)
	descSuccess = prometheus.NewDesc("slipway_maintenance_last_success_timestamp_seconds",
		"When the newest task of a maintenance kind that succeeded ended; missing without one that is still kept.", []string{"kind"}, nil)
	descDuration = prometheus.NewDesc("slipway_maintenance_last_duration_seconds",
		"How long the newest task of a maintenance kind that succeeded took.", []string{"kind"}, nil)
	descOverdue = prometheus.NewDesc("slipway_schedule_overdue_seconds",
		"How long the most overdue schedule has been due; 0 without one.", nil, nil)
	descUp = prometheus.NewDesc("slipway_collector_up",
		"Whether the source of other series answered: 0 means that they are missing.", []string{"source"}, nil)
)

// collector reads the ledger, Redis and the schedules at the scrape.
type collector struct {
	tasks       *source[[]ledger.Stat]
	depths      *source[[]dispatch.Depth]
	maintenance *source[[]ledger.Success]
	overdue     *source[time.Duration]
	snapshot    cached[snapshot]

	kinds, queues *bound
	log           *slog.Logger
}

// source is a place that is asked, and how that went the last time.
type source[T any] struct {
	name   string
	read   func(context.Context) (T, error) // nil: this process does not ask
	call   call
	failed bool // touched by one load at a time
}

func newSource[T any](name string, read func(context.Context) (T, error)) *source[T] {
	return &source[T]{name: name, read: read, call: call{limit: callLimit}}
}

// reading is what a source gave.
type reading[T any] struct {
	value T
	up    bool
}

type snapshot struct {
	tasks       reading[[]ledger.Stat]
	depths      reading[[]dispatch.Depth]
	maintenance reading[[]ledger.Success]
	overdue     reading[time.Duration]
}

func newCollector(cfg MetricsConfig) *collector {
	c := &collector{
		tasks: newSource("ledger", cfg.Tasks), depths: newSource("redis", cfg.Depths),
		maintenance: newSource[[]ledger.Success]("maintenance", nil), overdue: newSource("schedules", cfg.Overdue),
		kinds: newBound(maxKinds), queues: newBound(maxQueues), log: cfg.Log,
	}
	if cfg.Maintenance != nil {
		kinds := periodic()
		c.maintenance.read = func(ctx context.Context) ([]ledger.Success, error) { return cfg.Maintenance(ctx, kinds) }
	}
	c.snapshot = cached[snapshot]{load: c.load, now: time.Now}
	return c
}

// periodic are the kinds that the clock asks for.
func periodic() []string {
	var kinds []string
	for _, k := range tasks.Kinds() {
		if k.Every > 0 {
			kinds = append(kinds, k.Name)
		}
	}
	return kinds
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descTasks, descOldest, descLatency, descDepth, descSuccess, descDuration, descOverdue, descUp} {
		to <- d
	}
}

// gauges takes the series of a scrape.
type gauges func(d *prometheus.Desc, value float64, labels ...string)

// Collect implements prometheus.Collector. The series of a source that failed
// are left out: a number of a minute ago would look like one of now.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	s, err := c.snapshot.get(context.Background())
	if err != nil {
		return // cannot be: this context does not end
	}
	gauge := gauges(func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	})
	show(gauge, c.tasks, s.tasks, c.collectTasks)
	show(gauge, c.depths, s.depths, func(gauge gauges, depths []dispatch.Depth) {
		for _, d := range depths {
			gauge(descDepth, float64(d.Count), d.Queue, d.State)
		}
	})
	show(gauge, c.maintenance, s.maintenance, func(gauge gauges, last []ledger.Success) {
		for _, l := range last {
			gauge(descSuccess, float64(l.FinishedAt.UnixMilli())/1000, c.kinds.value(l.Kind))
			gauge(descDuration, l.Seconds, c.kinds.value(l.Kind))
		}
	})
	show(gauge, c.overdue, s.overdue, func(gauge gauges, overdue time.Duration) {
		gauge(descOverdue, overdue.Seconds())
	})
}

// show returns whether a source answered, and its series if it did.
func show[T any](gauge gauges, from *source[T], got reading[T], series func(gauges, T)) {
	if from.read == nil {
		return
	}
	gauge(descUp, number(got.up), from.name)
	if got.up {
		series(gauge, got.value)
	}
}

// taskKey are the labels of the ledger's series.
type taskKey struct{ kind, queue, state string }

// collectTasks returns every known kind its series, zeros included, so that an
// alert can tell nothing from not known.
func (c *collector) collectTasks(gauge gauges, stats []ledger.Stat) {
	states := []ledger.State{ledger.Queued, ledger.Running, ledger.Dead}
	sums := map[taskKey]ledger.Stat{}
	for _, k := range tasks.Kinds() {
		for _, s := range states {
			sums[taskKey{c.kinds.value(k.Name), c.queues.value(k.Queue), string(s)}] = ledger.Stat{}
		}
	}
	latency := map[string]float64{}
	for _, q := range tasks.Queues() {
		latency[c.queues.value(q)] = 0
	}
	for _, s := range stats {
		// Beyond the bounds several kinds share the label.
		key := taskKey{c.kinds.value(s.Kind), c.queues.value(s.Queue), string(s.State)}
		sum := sums[key]
		sum.Count += s.Count
		sum.OldestSeconds = max(sum.OldestSeconds, s.OldestSeconds)
		sums[key] = sum
		if s.State == ledger.Queued {
			latency[key.queue] = max(latency[key.queue], s.OldestSeconds)
		}
	}
	for key, sum := range sums {
		gauge(descTasks, float64(sum.Count), key.kind, key.queue, key.state)
		if key.state != string(ledger.Dead) {
			gauge(descOldest, sum.OldestSeconds, key.kind, key.queue, key.state)
		}
	}
	for queue, seconds := range latency {
		gauge(descLatency, seconds, queue)
	}
}

// load asks all sources at once.
func (c *collector) load() snapshot {
	var (
		s  snapshot
		wg sync.WaitGroup
	)
	wg.Go(func() { s.tasks = c.tasks.ask(c.log) })
	wg.Go(func() { s.depths = c.depths.ask(c.log) })
	wg.Go(func() { s.maintenance = c.maintenance.ask(c.log) })
	wg.Go(func() { s.overdue = c.overdue.ask(c.log) })
	wg.Wait()
	return s
}

// ask reads a source; its first failure in a row is logged.
func (s *source[T]) ask(log *slog.Logger) reading[T] {
	if s.read == nil {
		return reading[T]{}
	}
	value, err := do(&s.call, s.read)
	if err != nil && !s.failed {
		log.Warn("metrics source failed", "source", s.name, "error", err)
	}
	s.failed = err != nil
	return reading[T]{value, err == nil}
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
