package ops

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks"
)

// noObjects is an api whose object store refuses its secret.
func noObjects(t *testing.T, required ...string) *Readiness {
	t.Helper()
	p := process()
	p.API = true
	p.Objects = func(context.Context) error {
		return &object.UnavailableError{Store: "s3://inner.example/builds", Reason: "access refused (SignatureDoesNotMatch)"}
	}
	r, err := p.Readiness(discard(), required)
	require.NoError(t, err)
	return r
}

// An api that can take a crash is ready, whatever else it cannot do; each capability
// says why.
func TestAPIWithoutObjectsIsReady(t *testing.T) {
	t.Parallel()
	code, rep := ready(t, noObjects(t))
	require.Equal(t, 200, code)
	require.Equal(t, "degraded", rep.Status)
	why := map[string]string{"objects": "access refused (SignatureDoesNotMatch)"}
	require.Equal(t, map[string]ability{
		"crash_intake": {Status: "ok"}, "reading": {Status: "ok"}, "search": {Status: "ok"}, "runs": {Status: "ok"}, "mail": {Status: "ok"},
		"uploads": {Status: "unavailable", Failing: why}, "downloads": {Status: "unavailable", Failing: why},
	}, rep.Capabilities)
	require.False(t, rep.Checks["objects"].Critical)
}

// A balancer may ask for capabilities by setting, or in its request.
func TestReadinessOfSomeCapabilities(t *testing.T) {
	t.Parallel()
	code, rep := ready(t, noObjects(t, "crash_intake", "uploads"))
	require.Equal(t, 503, code)
	require.True(t, rep.Checks["objects"].Critical)
	code, _ = ready(t, noObjects(t, "crash_intake"))
	require.Equal(t, 200, code)

	r := noObjects(t)
	for _, tc := range []struct {
		query string
		code  int
	}{
		{"?capability=uploads", 503},
		{"?capability=crash_intake", 200},
		{"?capability=crash_intake,reading", 200},
		{"?capability=crash_intake,uploads", 503},
		{"?capability=reading&capability=downloads", 503},
		{"?capability=coffee", 400},
		{"?capability=", 400},
	} {
		res, body := get(t, r, http.MethodGet, ReadyPath+tc.query)
		require.Equal(t, tc.code, res.StatusCode, "%s: %s", tc.query, body)
	}
	_, body := get(t, r, http.MethodGet, ReadyPath+"?capability=uploads")
	var part report
	require.NoError(t, json.Unmarshal([]byte(body), &part))
	require.Equal(t, "unavailable", part.Status)
	require.Len(t, part.Capabilities, 1)
	require.NotContains(t, part.Checks, "loops")
	require.NotContains(t, body, "inner.example", "no host")

	p := process()
	p.API = true
	_, err := p.Readiness(discard(), []string{"coffee"})
	require.ErrorContains(t, err, `capability "coffee": this process has crash_intake, uploads`)
}

// A stopping process is unavailable for every question.
func TestDrainedCapability(t *testing.T) {
	t.Parallel()
	r := noObjects(t)
	r.Drain()
	res, _ := get(t, r, http.MethodGet, ReadyPath+"?capability=crash_intake")
	require.Equal(t, 503, res.StatusCode)
}

// A worker is capable of what its queues hold, and unavailable when it can do nothing.
func TestWorkerCapabilities(t *testing.T) {
	t.Parallel()
	p := process()
	p.Worker, p.Queues = true, []string{"mail", "run"}
	down := func(context.Context) error { return &openError{"away"} }
	p.Others = map[string]func(context.Context) error{MailServer: down, Browsers: fine}
	r, err := p.Readiness(discard(), nil)
	require.NoError(t, err)
	code, rep := ready(t, r)
	require.Equal(t, 200, code)
	require.Equal(t, map[string]ability{"runs": {Status: "ok"},
		"mail": {Status: "unavailable", Failing: map[string]string{"mail_server": "away"}}}, rep.Capabilities)

	p.Others[Browsers] = down
	r, err = p.Readiness(discard(), nil)
	require.NoError(t, err)
	code, _ = ready(t, r)
	require.Equal(t, 503, code, "it can do nothing of what it is for")
}

// Every queue has a line at /readyz, and tiers may share what is required of them.
func TestCapabilitiesOfAllTiers(t *testing.T) {
	t.Parallel()
	for _, queue := range tasks.Queues() {
		_, ok := queueCapability(queue)
		require.True(t, ok, queue)
	}
	fine := func(context.Context) error { return nil }
	worker := Process{Worker: true, Postgres: fine, Redis: fine, Objects: fine, Queues: []string{"mail"},
		Lag: func(context.Context) (map[string]time.Duration, error) { return nil, nil }}
	r, err := worker.Readiness(slog.New(slog.DiscardHandler), []string{"crash_intake", "mail"})
	require.NoError(t, err)
	require.Equal(t, []string{"mail"}, r.required)
	_, err = worker.Readiness(slog.New(slog.DiscardHandler), []string{"coffee"})
	require.ErrorContains(t, err, "coffee")
}
