package ops

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// process has everything that any tier needs, all of it well.
func process() Process {
	return Process{
		Postgres: fine, Redis: fine, Objects: fine, Queues: []string{"crash", "bulk"},
		Lag:    func(context.Context) (map[string]time.Duration, error) { return nil, nil },
		Marked: func() map[string]time.Time { return map[string]time.Time{"rescue": time.Now()} },
	}
}

// TestProcessTiers holds the table of the type's comment: what each failure
// means for each tier.
func TestProcessTiers(t *testing.T) {
	t.Parallel()
	down := func(context.Context) error { return errors.New("down") }
	late := func(context.Context) (map[string]time.Duration, error) {
		return map[string]time.Duration{"crash": time.Hour}, nil
	}
	silent := func() map[string]time.Time { return map[string]time.Time{"sweep": time.Now().Add(-time.Minute)} }
	failures := map[string]func(*Process){
		"postgres":  func(p *Process) { p.Postgres = down },
		"redis":     func(p *Process) { p.Redis = down },
		"objects":   func(p *Process) { p.Objects = down },
		"queue_lag": func(p *Process) { p.Lag = late },
		"loops":     func(p *Process) { p.Marked = silent },
	}
	type tier struct{ api, worker, scheduler, strict bool }
	for _, tc := range []struct {
		name string
		tier tier
		want map[string]string // by what is down; missing: not checked
	}{
		{"api", tier{api: true},
			map[string]string{"postgres": "unavailable", "redis": "degraded", "objects": "degraded"}},
		{"worker", tier{worker: true},
			map[string]string{"postgres": "unavailable", "redis": "unavailable", "objects": "degraded", "queue_lag": "degraded"}},
		{"strict worker", tier{worker: true, strict: true},
			map[string]string{"postgres": "unavailable", "redis": "unavailable", "objects": "degraded", "queue_lag": "unavailable"}},
		{"scheduler", tier{scheduler: true},
			map[string]string{"postgres": "unavailable", "redis": "degraded", "loops": "unavailable"}},
		{"worker and scheduler", tier{worker: true, scheduler: true},
			map[string]string{"postgres": "unavailable", "redis": "degraded", "objects": "degraded", "queue_lag": "degraded", "loops": "degraded"}},
		{"everything, strict", tier{api: true, worker: true, scheduler: true, strict: true},
			map[string]string{"postgres": "unavailable", "redis": "degraded", "objects": "degraded", "loops": "degraded"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for what, broken := range failures {
				p := process()
				p.API, p.Worker, p.Scheduler, p.LagCritical = tc.tier.api, tc.tier.worker, tc.tier.scheduler, tc.tier.strict
				broken(&p)
				r, err := p.Readiness(discard(), nil)
				require.NoError(t, err)
				code, rep := ready(t, r)
				require.Len(t, rep.Checks, len(tc.want))
				want, checked := tc.want[what]
				if !checked {
					want = "ok"
				}
				require.Equal(t, want, rep.Status, what)
				require.Equal(t, want == "unavailable", code == 503, what)
				if checked {
					require.Equal(t, want == "unavailable", rep.Checks[what].Critical, what)
					require.Equal(t, "failed", rep.Checks[what].Status)
				}
			}
		})
	}
}

func TestProcessLag(t *testing.T) {
	t.Parallel()
	lags := map[string]time.Duration{"crash": 6 * time.Minute, "bulk": 2 * time.Hour, "default": 5 * time.Minute}
	for _, tc := range []struct {
		name   string
		queues []string
		most   time.Duration
		want   string
	}{
		{"at the limit", []string{"default"}, 0, ""},
		{"another worker's queue", []string{"critical"}, 0, ""},
		{"one late", []string{"crash", "default"}, 0, "crash waits 6m0s; limit 5m0s"},
		{"two late", []string{"crash", "bulk"}, 0, "bulk waits 2h0m0s, crash waits 6m0s; limit 5m0s"},
		{"own limit", []string{"crash"}, 10 * time.Minute, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := process()
			p.Worker, p.Queues, p.MaxLag = true, tc.queues, tc.most
			p.Lag = func(context.Context) (map[string]time.Duration, error) { return lags, nil }
			checks, err := p.Checks()
			require.NoError(t, err)
			_, rep := ready(t, NewReadiness(checks, discard()))
			require.Equal(t, tc.want, rep.Checks["queue_lag"].Error)
		})
	}
}

func TestProcessLoops(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, tc := range []struct {
		name   string
		marked map[string]time.Time
		loops  []string
		want   string
	}{
		{"started just now", nil, nil, "no loop marked yet"},
		{"at the limit", map[string]time.Time{"relay": now.Add(-30 * time.Second)}, nil, ""},
		{"one silent", map[string]time.Time{"relay": now, "sweep": now.Add(-31 * time.Second)}, nil, "not marked for 30s: sweep"},
		{"one never marked", map[string]time.Time{"relay": now}, []string{"relay", "sweep"}, "not marked for 30s: sweep"},
		{"zero time", map[string]time.Time{"relay": {}}, nil, "not marked for 30s: relay"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := process()
			p.Scheduler, p.Loops, p.now = true, tc.loops, func() time.Time { return now }
			p.Marked = func() map[string]time.Time { return tc.marked }
			checks, err := p.Checks()
			require.NoError(t, err)
			_, rep := ready(t, NewReadiness(checks, discard()))
			require.Equal(t, tc.want, rep.Checks["loops"].Error)
		})
	}
}

func TestProcessRefusesMisuse(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*Process){
		"no tier":     func(p *Process) { p.API, p.Worker, p.Scheduler = false, false, false },
		"no postgres": func(p *Process) { p.Postgres = nil },
		"no redis":    func(p *Process) { p.Redis = nil },
		"no objects":  func(p *Process) { p.Objects = nil },
		"no lag":      func(p *Process) { p.API, p.Lag = false, nil },
		"no queues":   func(p *Process) { p.API, p.Queues = false, nil },
		"no marks":    func(p *Process) { p.Marked = nil },
	} {
		p := process()
		p.API, p.Worker, p.Scheduler = true, true, true
		spoil(&p)
		_, err := p.Checks()
		require.Error(t, err, name)
	}
}
