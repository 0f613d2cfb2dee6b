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
		"Offers in Redis, by asynq's state.", []string{"queue", "state"}, nil)
	descUp = prometheus.NewDesc("slipway_collector_up",
		"Whether the source of other series answered: 0 means that they are missing.", []string{"source"}, nil)
)

// collector reads the ledger and Redis at the scrape.
type collector struct {
	tasks, depths *source
	snapshot      cached[snapshot]
	kinds, queues *bound
	log           *slog.Logger

	readTasks  func(context.Context) ([]ledger.Stat, error)
	readDepths func(context.Context) ([]dispatch.Depth, error)
}

// source is a place that is asked, and how that went the last time.
type source struct {
	name   string
	call   call
	failed bool // touched by one load at a time
}

type snapshot struct {
	tasks    []ledger.Stat
	tasksUp  bool
	depths   []dispatch.Depth
	depthsUp bool
}

func newCollector(cfg MetricsConfig) *collector {
	c := &collector{
		tasks:  &source{name: "ledger", call: call{limit: callLimit}},
		depths: &source{name: "redis", call: call{limit: callLimit}},
		kinds:  newBound(maxKinds), queues: newBound(maxQueues), log: cfg.Log,
		readTasks: cfg.Tasks, readDepths: cfg.Depths,
	}
	c.snapshot = cached[snapshot]{load: c.load, now: time.Now}
	return c
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{descTasks, descOldest, descLatency, descDepth, descUp} {
		to <- d
	}
}

// Collect implements prometheus.Collector. The series of a source that failed
// are left out: a number of a minute ago would look like one of now.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	if c.readTasks == nil && c.readDepths == nil {
		return
	}
	s, err := c.snapshot.get(context.Background())
	if err != nil {
		return // cannot be: this context does not end
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	if c.readTasks != nil {
		gauge(descUp, number(s.tasksUp), c.tasks.name)
		if s.tasksUp {
			c.collectTasks(gauge, s.tasks)
		}
	}
	if c.readDepths != nil {
		gauge(descUp, number(s.depthsUp), c.depths.name)
		if s.depthsUp {
			for _, d := range s.depths {
				gauge(descDepth, float64(d.Count), d.Queue, d.State)
			}
		}
	}
}

// taskKey are the labels of the ledger's series.
type taskKey struct{ kind, queue, state string }

// collectTasks gives every known kind its series, zeros included, so that an
// alert can tell nothing from not known.
func (c *collector) collectTasks(gauge func(*prometheus.Desc, float64, ...string), stats []ledger.Stat) {
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

// load asks both sources at once.
func (c *collector) load() snapshot {
	var (
		s  snapshot
		wg sync.WaitGroup
	)
	if c.readTasks != nil {
		wg.Go(func() { s.tasks, s.tasksUp = ask(c.tasks, c.log, c.readTasks) })
	}
	if c.readDepths != nil {
		wg.Go(func() { s.depths, s.depthsUp = ask(c.depths, c.log, c.readDepths) })
	}
	wg.Wait()
	return s
}

// ask reads a source; its first failure in a row is logged.
func ask[T any](s *source, log *slog.Logger, read func(context.Context) (T, error)) (T, bool) {
	value, err := do(&s.call, read)
	if err != nil && !s.failed {
		log.Warn("metrics source failed", "source", s.name, "error", err)
	}
	s.failed = err != nil
	return value, err == nil
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
