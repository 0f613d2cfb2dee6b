package ops

import (
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/slipway-qa/slipway/storage/schedule"
)

// Observer counts what the parts of a process report. Its methods satisfy the
// interfaces that those parts declare, may be called from anywhere at once, and
// never fail.
type Observer struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec

	accepted, bytes, conflicts, resent prometheus.Counter
	cutAttachments, usage              prometheus.Counter
	sentSymbols, sentSymbolBytes       prometheus.Counter
	rejected, processed                *prometheus.CounterVec

	attempts     *prometheus.CounterVec
	waited, took *prometheus.HistogramVec

	sessions *prometheus.HistogramVec
	refused  *prometheus.CounterVec

	firings *prometheus.CounterVec
	late    prometheus.Histogram

	lookups, symbolFiles *prometheus.CounterVec
	fetches              *prometheus.HistogramVec
	fetched              prometheus.Counter

	routes, reasons, states, kinds, outcomes, firingWords, symbolKinds *bound
}

// The buckets of the histograms, in seconds.
var (
	// requestBuckets go from an answer out of memory to the upload of a large build.
	requestBuckets = []float64{.002, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 120, 600}
	// waitBuckets go from an immediate delivery to an outage.
	waitBuckets = []float64{.01, .025, .05, .1, .25, .5, 1, 5, 15, 60, 300, 1800, 7200}
	// tookBuckets go from one statement to a long generation.
	tookBuckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 5, 15, 60, 300, 1800}
	// lateBuckets go from a tick that was just in time to a minute, after which a firing is
	// one that makes up for an outage.
	lateBuckets = []float64{.05, .1, .25, .5, 1, 2, 3, 5, 10, 30, 60}
)

func newObserver() *Observer {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help, label string, buckets []float64) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{label})
	}
	return &Observer{
		requests: counters("slipway_http_requests_total", "Answered requests.", "method", "route", "status"),
		seconds: histogram("slipway_http_request_seconds", "Time from the request's header to the end of the answer.",
			"route", requestBuckets),

		accepted: counter("slipway_crash_accepted_total", "Crash reports stored and answered as accepted."),
		bytes:    counter("slipway_crash_bytes_total", "Uncompressed bytes of accepted crash reports."),
		conflicts: counter("slipway_crash_uuid_conflict_total",
			"Crash reports with the uuid of a report of different content: stored, and rejected with the reason uuid too."),
		resent: counter("slipway_crash_resent_total", "Crash reports that were stored before; rejected with the reason uuid too."),
		cutAttachments: counter("slipway_crash_attachments_cut_total",
			"Attachments behind a complete report that had no end: kept as far as they came."),
		usage:           counter("slipway_crash_usage_events_total", "Events of session metrics counted."),
		sentSymbols:     counter("slipway_symbol_sent_total", "Symbol files that came with a crash token, those that were there already too."),
		sentSymbolBytes: counter("slipway_symbol_sent_bytes_total", "Their bytes, uncompressed as far as the transfer goes."),
		rejected:        counters("slipway_crash_rejected_total", "Crash reports refused.", "reason"),
		processed:       counters("slipway_crash_processed_total", "Crash reports that workers finished, by the state they ended in.", "state"),

		attempts: counters("slipway_task_attempts_total", "Ended attempts at tasks; a claim of merged tasks counts each.", "kind", "outcome"),
		waited:   histogram("slipway_task_wait_seconds", "Time a claim's oldest task was due before it started.", "kind", waitBuckets),
		took:     histogram("slipway_task_seconds", "Time a claim's attempt took.", "kind", tookBuckets),

		sessions: histogram("slipway_browser_session_seconds", "Time until a test had its browser.", "from", tookBuckets),
		refused:  counters("slipway_browser_refused_total", "Browsers that tests did not get.", "from"),

		firings: counters("slipway_schedule_firings_total",
			"Times at which a schedule was due, by what made it fire and what became of them. Runs by hand are not counted.", "trigger", "outcome"),
		late: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "slipway_schedule_fire_lateness_seconds",
			Help: "Time from when a schedule was due to when it was started by the clock.", Buckets: lateBuckets}),

		lookups: counters("slipway_symbol_lookups_total",
			"Searches for the symbols of a crash: hit, miss (the index was opened), cold, missing or error.", "outcome"),
		symbolFiles: counters("slipway_symbol_files_total", "Symbol files that workers read: indexed, reused or failed.", "kind", "outcome"),
		fetches:     histogram("slipway_symbol_fetch_seconds", "Time of a read of an index in the object store.", "outcome", tookBuckets),
		fetched:     counter("slipway_symbol_fetched_bytes_total", "Bytes of indexes read from the object store."),

		routes: newBound(maxRoutes), reasons: newBound(maxReasons), states: newBound(maxStates),
		kinds: newBound(maxKinds), outcomes: newBound(maxStates), firingWords: newBound(maxStates), symbolKinds: newBound(maxStates),
	}
}

func (o *Observer) collectors() []prometheus.Collector {
	return []prometheus.Collector{o.requests, o.seconds, o.accepted, o.bytes, o.conflicts, o.resent,
		o.cutAttachments, o.usage, o.sentSymbols, o.sentSymbolBytes,
		o.rejected, o.processed, o.attempts, o.waited, o.took, o.sessions, o.refused, o.firings, o.late,
		o.lookups, o.symbolFiles, o.fetches, o.fetched}
}

// RequestServed counts an answered request. route is the pattern of the router
// ("/api/v3/tasks/:id"), never the path; empty means that none matched.
func (o *Observer) RequestServed(method, route string, status int, took time.Duration) {
	if route == "" {
		route = "unmatched"
	}
	route = o.routes.value(route)
	code := other
	if status >= 100 && status <= 599 {
		code = strconv.Itoa(status)
	}
	o.requests.WithLabelValues(methodLabel(method), route, code).Inc()
	o.seconds.WithLabelValues(route).Observe(took.Seconds())
}

// Accepted counts a crash report that was stored, with its uncompressed size.
func (o *Observer) Accepted(bytes int) {
	o.accepted.Inc()
	o.bytes.Add(float64(max(bytes, 0)))
}

// Rejected counts a crash report that was refused, by a fixed word for why.
func (o *Observer) Rejected(reason string) {
	o.rejected.WithLabelValues(o.reasons.value(reason)).Inc()
}

// Conflict counts a stored report whose uuid another report has.
func (o *Observer) Conflict() { o.conflicts.Inc() }

// Resent counts a report that was there already.
func (o *Observer) Resent() { o.resent.Inc() }

// AttachmentCut counts an attachment that had no end.
func (o *Observer) AttachmentCut() { o.cutAttachments.Inc() }

// Usage counts events of session metrics.
func (o *Observer) Usage(events int) { o.usage.Add(float64(max(events, 0))) }

// SymbolFiles counts symbol files that came with a crash token.
func (o *Observer) SymbolFiles(files int, bytes int64) {
	o.sentSymbols.Add(float64(max(files, 0)))
	o.sentSymbolBytes.Add(float64(max(bytes, 0)))
}

// CrashesProcessed counts n reports that ended in a state.
func (o *Observer) CrashesProcessed(state string, n int) {
	o.processed.WithLabelValues(o.states.value(state)).Add(float64(max(n, 0)))
}

// AttemptEnded counts the rows of a claim and observes its times.
func (o *Observer) AttemptEnded(kind, outcome string, waited, took time.Duration, rows int) {
	kind = o.kinds.value(kind)
	o.attempts.WithLabelValues(kind, o.outcomes.value(outcome)).Add(float64(max(rows, 1)))
	// The clocks of database and worker differ; a wait is never negative.
	o.waited.WithLabelValues(kind).Observe(max(waited, 0).Seconds())
	o.took.WithLabelValues(kind).Observe(took.Seconds())
}

// SessionStarted observes how long a test waited for its browser: a warm one of
// this process, a cold one, or one of a hub.
func (o *Observer) SessionStarted(where string, warm bool, took time.Duration, err error) {
	from := "hub"
	switch {
	case where == "local" && warm:
		from = "warm"
	case where == "local":
		from = "cold"
	}
	if err != nil {
		o.refused.WithLabelValues(from).Inc()
		return
	}
	o.sessions.WithLabelValues(from).Observe(took.Seconds())
}

// ScheduleFired counts what became of a time at which a schedule was due. The
// lateness is that of runs which the clock started in time; those that make up for
// an outage are as late as it was long.
func (o *Observer) ScheduleFired(trigger schedule.FiringTrigger, outcome schedule.FiringOutcome, late time.Duration) {
	o.firings.WithLabelValues(o.firingWords.value(strings.ToLower(string(trigger))),
		o.firingWords.value(strings.ToLower(string(outcome)))).Inc()
	if trigger == schedule.TriggerCron && outcome == schedule.FiringStarted {
		o.late.Observe(max(late, 0).Seconds())
	}
}
