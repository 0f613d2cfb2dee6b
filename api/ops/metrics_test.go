package ops

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/schedule"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

// The interfaces that the parts of a process declare; api and worker must not
// import each other, so they meet by shape.
var _ interface {
	AttemptEnded(kind, outcome string, waited, took time.Duration, rows int)
	CrashesProcessed(state string, n int)
	Accepted(bytes int)
	Rejected(reason string)
	Conflict()
	Resent()
	RequestServed(method, route string, status int, took time.Duration)
	SymbolLookup(outcome string)
	SymbolFetch(bytes int64, took time.Duration, failed bool)
	SymbolFileRead(kind, outcome string, bytes int64, took time.Duration)
	ScheduleFired(trigger schedule.FiringTrigger, outcome schedule.FiringOutcome, late time.Duration)
} = (*Observer)(nil)

// scrape returns the families of a scrape, parsed from the text format.
func scrape(t *testing.T, m *Metrics) map[string]*dto.MetricFamily {
	t.Helper()
	res, body := get(t, m.Handler(), http.MethodGet, MetricsPath)
	require.Equal(t, http.StatusOK, res.StatusCode, body)
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	require.NoError(t, err)
	return families
}

// value returns the value of the series with the labels, NaN when it is missing.
func value(families map[string]*dto.MetricFamily, name string, labels ...string) float64 {
	want := map[string]string{}
	for i := 0; i < len(labels); i += 2 {
		want[labels[i]] = labels[i+1]
	}
	for _, m := range families[name].GetMetric() {
		have := map[string]string{}
		for _, l := range m.GetLabel() {
			have[l.GetName()] = l.GetValue()
		}
		if len(have) != len(want) {
			continue
		}
		same := true
		for k, v := range want {
			same = same && have[k] == v
		}
		switch {
		case !same:
		case m.GetCounter() != nil:
			return m.GetCounter().GetValue()
		case m.GetGauge() != nil:
			return m.GetGauge().GetValue()
		case m.GetHistogram() != nil:
			return m.GetHistogram().GetSampleSum()
		}
	}
	return math.NaN()
}

func noTasks(context.Context) ([]ledger.Stat, error)      { return nil, nil }
func noDepths(context.Context) ([]dispatch.Depth, error)  { return nil, nil }
func badTasks(context.Context) ([]ledger.Stat, error)     { return nil, errors.New("down") }
func badDepths(context.Context) ([]dispatch.Depth, error) { return nil, errors.New("down") }

// touched has a sample in every family.
func touched() *Metrics {
	m := NewMetrics(MetricsConfig{Version: "1.2.3", Log: discard(), Tasks: noTasks,
		Depths: func(context.Context) ([]dispatch.Depth, error) {
			return []dispatch.Depth{{Queue: "crash", State: "pending", Count: 7}}, nil
		},
		Maintenance: func(_ context.Context, kinds []string) ([]ledger.Success, error) {
			return []ledger.Success{{Kind: kinds[0], FinishedAt: time.UnixMilli(1_800_000_000_250), Seconds: 1.5}}, nil
		},
		Overdue: func(context.Context) (time.Duration, error) { return 1500 * time.Millisecond, nil }})
	o := m.Observer()
	o.RequestServed("GET", "/api/v3/tasks/:id", 200, 30*time.Millisecond)
	o.RequestServed("GET", "", 404, time.Millisecond)
	o.Accepted(1000)
	o.Accepted(24)
	o.Conflict()
	o.Resent()
	o.Rejected("too_large")
	o.CrashesProcessed("processed", 64)
	o.AttemptEnded("crash:process", "succeeded", 2*time.Second, time.Second, 64)
	o.AttemptEnded("crash:purge", "dead", -time.Second, time.Second, 0)
	o.SessionStarted("local", true, time.Second, nil)
	o.SessionStarted("local", false, 2*time.Second, nil)
	o.SessionStarted("hub", false, time.Second, errors.New("away"))
	o.ScheduleFired(schedule.TriggerCron, schedule.FiringStarted, 200*time.Millisecond)
	o.ScheduleFired(schedule.TriggerCron, schedule.FiringStarted, -time.Second)
	o.ScheduleFired(schedule.TriggerCron, schedule.FiringFailed, time.Second)
	o.ScheduleFired(schedule.TriggerCatchUp, schedule.FiringStarted, time.Hour)
	o.ScheduleFired(schedule.TriggerCron, schedule.FiringSkipped, 0)
	o.SymbolFiles(3, 1000)
	o.SymbolLookup("hit")
	o.SymbolFetch(1000, 10*time.Millisecond, false)
	o.SymbolFetch(0, time.Second, true)
	o.SymbolFileRead("elf", "indexed", 1<<20, time.Second)
	return m
}

func TestMetricsOfObserver(t *testing.T) {
	t.Parallel()
	f := scrape(t, touched())
	for _, tc := range []struct {
		want   float64
		name   string
		labels []string
	}{
		{3, "slipway_symbol_sent_total", nil}, {1000, "slipway_symbol_sent_bytes_total", nil},
		{1, "slipway_http_requests_total", []string{"method", "GET", "route", "/api/v3/tasks/:id", "status", "200"}},
		{1, "slipway_http_requests_total", []string{"method", "GET", "route", "unmatched", "status", "404"}},
		{.03, "slipway_http_request_seconds", []string{"route", "/api/v3/tasks/:id"}},
		{1, "slipway_symbol_lookups_total", []string{"outcome", "hit"}},
		{1000, "slipway_symbol_fetched_bytes_total", nil},
		{1, "slipway_symbol_fetch_seconds", []string{"outcome", "failed"}},
		{1, "slipway_symbol_files_total", []string{"kind", "elf", "outcome", "indexed"}},
		{2, "slipway_crash_accepted_total", nil},
		{1024, "slipway_crash_bytes_total", nil},
		{1, "slipway_crash_rejected_total", []string{"reason", "too_large"}},
		{1, "slipway_crash_uuid_conflict_total", nil},
		{1, "slipway_crash_resent_total", nil},
		{64, "slipway_crash_processed_total", []string{"state", "processed"}},
		{64, "slipway_task_attempts_total", []string{"kind", "crash:process", "outcome", "succeeded"}},
		{1, "slipway_task_attempts_total", []string{"kind", "crash:purge", "outcome", "dead"}},
		{2, "slipway_task_wait_seconds", []string{"kind", "crash:process"}},
		{0, "slipway_task_wait_seconds", []string{"kind", "crash:purge"}},
		{1, "slipway_task_seconds", []string{"kind", "crash:process"}},
		{1, "slipway_browser_session_seconds", []string{"from", "warm"}},
		{2, "slipway_browser_session_seconds", []string{"from", "cold"}},
		{1, "slipway_browser_refused_total", []string{"from", "hub"}},
		{2, "slipway_schedule_firings_total", []string{"trigger", "cron", "outcome", "started"}},
		{1, "slipway_schedule_firings_total", []string{"trigger", "cron", "outcome", "failed"}},
		{1, "slipway_schedule_firings_total", []string{"trigger", "catch_up", "outcome", "started"}},
		{1, "slipway_schedule_firings_total", []string{"trigger", "cron", "outcome", "skipped"}},
		{.2, "slipway_schedule_fire_lateness_seconds", nil},
		{1.5, "slipway_schedule_overdue_seconds", nil},
		{7, "slipway_queue_depth", []string{"queue", "crash", "state", "pending"}},
		{1, "slipway_collector_up", []string{"source", "ledger"}},
		{1, "slipway_collector_up", []string{"source", "redis"}},
		{1, "slipway_collector_up", []string{"source", "maintenance"}},
		{1, "slipway_collector_up", []string{"source", "schedules"}},
	} {
		require.InDelta(t, tc.want, value(f, tc.name, tc.labels...), 1e-9, "%s %v", tc.name, tc.labels)
	}
	require.Len(t, f["slipway_maintenance_last_success_timestamp_seconds"].GetMetric(), 1)
	require.InDelta(t, 1_800_000_000.25, f["slipway_maintenance_last_success_timestamp_seconds"].GetMetric()[0].GetGauge().GetValue(), 1e-3)
	require.Equal(t, 1.5, f["slipway_maintenance_last_duration_seconds"].GetMetric()[0].GetGauge().GetValue())
	require.Equal(t, 1.0, f["slipway_build_info"].GetMetric()[0].GetGauge().GetValue())
	require.Contains(t, f, "go_goroutines")
	require.Contains(t, f, "process_start_time_seconds")
}

// TestMetricsLint holds names, units and help texts against Prometheus's rules.
func TestMetricsLint(t *testing.T) {
	t.Parallel()
	m := touched()
	problems, err := testutil.GatherAndLint(m.registry)
	require.NoError(t, err)
	require.Empty(t, problems)
	families, err := m.registry.Gather()
	require.NoError(t, err)
	require.Len(t, ownFamilies(families), 32, "a family without a sample is not linted")
}

func ownFamilies(families []*dto.MetricFamily) []string {
	var names []string
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "slipway_") {
			names = append(names, f.GetName())
		}
	}
	return names
}

// TestMetricsCardinality: whatever callers pass, the number of series is bounded
// and the registry does not panic.
func TestMetricsCardinality(t *testing.T) {
	t.Parallel()
	many := func(context.Context) ([]ledger.Stat, error) {
		var stats []ledger.Stat
		for i := range 2000 {
			stats = append(stats, ledger.Stat{Kind: fmt.Sprint("kind", i), Queue: fmt.Sprint("queue", i),
				State: ledger.Queued, Count: 1, OldestSeconds: float64(i)})
		}
		return stats, nil
	}
	m := NewMetrics(MetricsConfig{Log: discard(), Tasks: many})
	o := m.Observer()
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 3000 {
				odd := fmt.Sprintf("\xff/%d/%d\x00", w, i)
				o.RequestServed(odd, odd, i, time.Second)
				o.Rejected(odd)
				o.CrashesProcessed(odd, 1)
				o.AttemptEnded(odd, odd, 0, 0, 1)
				o.ScheduleFired(schedule.FiringTrigger(odd), schedule.FiringOutcome(odd), 0)
			}
			o.RequestServed("GET", strings.Repeat("x", 10<<10), 200, 0)
		})
	}
	wg.Wait()
	f := scrape(t, m)
	require.LessOrEqual(t, len(f["slipway_http_request_seconds"].GetMetric()), maxRoutes+1)
	require.LessOrEqual(t, len(f["slipway_http_requests_total"].GetMetric()), (maxRoutes+1)*501)
	require.LessOrEqual(t, len(f["slipway_crash_rejected_total"].GetMetric()), maxReasons+1)
	require.LessOrEqual(t, len(f["slipway_crash_processed_total"].GetMetric()), maxStates+1)
	require.LessOrEqual(t, len(f["slipway_task_seconds"].GetMetric()), maxKinds+1)
	require.LessOrEqual(t, len(f["slipway_task_attempts_total"].GetMetric()), (maxKinds+1)*(maxStates+1))
	require.LessOrEqual(t, len(f["slipway_schedule_firings_total"].GetMetric()), (maxStates+1)*(maxStates+1))
	require.LessOrEqual(t, len(f["slipway_queue_latency_seconds"].GetMetric()), maxQueues+1)

	count := 0.0
	for _, s := range f["slipway_tasks"].GetMetric() {
		count += s.GetGauge().GetValue()
	}
	require.Equal(t, 2000.0, count, "nothing is lost beyond the bound")
	require.Equal(t, 1999.0, value(f, "slipway_queue_latency_seconds", "queue", other))
	require.Equal(t, float64(4*3000-maxReasons), value(f, "slipway_crash_rejected_total", "reason", other))
}

// TestMetricsSources: a source that fails, hangs or panics takes only its own
// series along.
func TestMetricsSources(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	defer close(hang)
	for _, tc := range []struct {
		name          string
		tasks         func(context.Context) ([]ledger.Stat, error)
		depths        func(context.Context) ([]dispatch.Depth, error)
		ledger, redis float64
	}{
		{"both well", noTasks, noDepths, 1, 1},
		{"ledger fails", badTasks, noDepths, 0, 1},
		{"redis fails", noTasks, badDepths, 1, 0},
		{"ledger panics", func(context.Context) ([]ledger.Stat, error) { panic("no") }, noDepths, 0, 1},
		{"redis hangs", noTasks, func(context.Context) ([]dispatch.Depth, error) { <-hang; return nil, nil }, 1, 0},
		{"no redis", noTasks, nil, 1, math.NaN()},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := NewMetrics(MetricsConfig{Log: discard(), Tasks: tc.tasks, Depths: tc.depths})
			f := scrape(t, m)
			for source, want := range map[string]float64{"ledger": tc.ledger, "redis": tc.redis} {
				got := value(f, "slipway_collector_up", "source", source)
				require.Equal(t, fmt.Sprint(want), fmt.Sprint(got), source)
			}
			require.Equal(t, tc.ledger == 1, f["slipway_tasks"] != nil)
			require.Contains(t, f, "slipway_build_info")
		})
	}
}

// Maintenance and the schedules are sources of their own.
func TestMetricsOfMaintenanceFailAlone(t *testing.T) {
	t.Parallel()
	var asked []string
	f := scrape(t, NewMetrics(MetricsConfig{Log: discard(), Tasks: noTasks,
		Maintenance: func(_ context.Context, kinds []string) ([]ledger.Success, error) {
			asked = kinds
			return nil, errors.New("down")
		},
		Overdue: func(context.Context) (time.Duration, error) { return 0, nil }}))
	require.Zero(t, value(f, "slipway_collector_up", "source", "maintenance"))
	require.Equal(t, 1.0, value(f, "slipway_collector_up", "source", "schedules"))
	require.Zero(t, value(f, "slipway_schedule_overdue_seconds"))
	require.NotContains(t, f, "slipway_maintenance_last_success_timestamp_seconds")
	require.Contains(t, asked, tasks.ScheduleTick.Name)
	require.Contains(t, asked, tasks.ObjectSweep.Name)
	require.NotContains(t, asked, tasks.TestJob.Name)
}

func TestMetricsWithoutSources(t *testing.T) {
	t.Parallel()
	f := scrape(t, NewMetrics(MetricsConfig{Log: discard()}))
	require.NotContains(t, f, "slipway_collector_up")
	require.Contains(t, f, "slipway_build_info")
}

// TestCollectorZeros: what is known and empty shows as 0, not as a hole.
func TestCollectorZeros(t *testing.T) {
	t.Parallel()
	f := scrape(t, NewMetrics(MetricsConfig{Log: discard(), Tasks: noTasks}))
	for _, k := range tasks.Kinds() {
		for _, state := range []string{"queued", "running", "dead"} {
			require.Zero(t, value(f, "slipway_tasks", "kind", k.Name, "queue", k.Queue, "state", state))
		}
	}
	for _, q := range tasks.Queues() {
		require.Zero(t, value(f, "slipway_queue_latency_seconds", "queue", q))
	}
}

// TestCollectorCache: scrapes within a second share one look at the database.
func TestCollectorCache(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var looks int
		m := NewMetrics(MetricsConfig{Log: discard(), Tasks: func(context.Context) ([]ledger.Stat, error) {
			looks++
			return nil, nil
		}})
		for range 5 {
			_ = scrape(t, m)
		}
		require.Equal(t, 1, looks)
		time.Sleep(fresh)
		_ = scrape(t, m)
		require.Equal(t, 2, looks)
	})
}

func BenchmarkRequestServed(b *testing.B) {
	o := newObserver()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			o.RequestServed("POST", "/api/post", 200, time.Millisecond)
		}
	})
}
