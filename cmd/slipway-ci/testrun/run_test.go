package testrun

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/progress"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/report"
)

// scripted answers as a server does whose runs end as a script says: what the real one
// does is tested with a real one (cmd/slipway/processtest); this one has states that are
// hard to come by.
type scripted struct {
	t *testing.T
	// ends are the states of the runs of a case, one after the other.
	ends map[string][]string
	// key has the run that each Idempotency-Key has started.
	mu      sync.Mutex
	keys    map[string]string
	started map[string]int
	state   map[string]string
	born    map[string]time.Time
	targets map[string]string
	looks   map[string]int
	// attempts are the states of those of a case that is played again; retries is what runs were told.
	attempts map[string][]string
	retries  int
	// cut is called after a run was started, before the answer; cancels before one is cancelled.
	cut, cancels func(*http.Request)
	open         atomic.Int32
	most         atomic.Int32
}

func newScripted(t *testing.T, ends map[string][]string) (*scripted, *Config) {
	t.Helper()
	s := &scripted{t: t, ends: ends, keys: map[string]string{}, started: map[string]int{}, state: map[string]string{},
		born:    map[string]time.Time{},
		targets: map[string]string{}, looks: map[string]int{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	api, err := client.New(client.Config{Server: server.URL, RetryFor: -1})
	require.NoError(t, err)
	out := progress.New(progress.Config{Out: io.Discard, Mode: progress.Silent})
	t.Cleanup(out.Close)
	return s, &Config{Client: api, Out: out, Key: func(what ...string) string { return strings.Join(what, " ") },
		Last: func(ctx context.Context, _ int) (context.Context, context.CancelFunc) {
			return context.WithCancel(context.WithoutCancel(ctx))
		}}
}

// ServeHTTP implements http.Handler.
func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.most.Store(max(s.most.Load(), s.open.Add(1)))
	defer s.open.Add(-1)
	s.mu.Lock()
	defer s.mu.Unlock()
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/v1/ai-authoring/testcases/"), "/")
	id := parts[0]
	switch {
	case len(parts) == 2 && parts[1] == "run":
		s.start(w, r, id)
	case len(parts) == 4 && parts[3] == "cancel":
		s.pass(s.cancels, r)
		if client.Ended(s.state[parts[2]]) {
			w.WriteHeader(http.StatusConflict)
			return
		}
		s.state[parts[2]] = "CANCELLED"
		s.write(w, id, parts[2])
	case len(parts) == 3 && parts[1] == "runs":
		s.looks[parts[2]]++
		if s.state[parts[2]] == "QUEUED" {
			n, _ := fmt.Sscanf(parts[2], "run-"+id+"-%d", new(int))
			require.Equal(s.t, 1, n)
			s.state[parts[2]] = s.ends[id][s.started[id]-1]
		}
		s.write(w, id, parts[2])
	default:
		http.NotFound(w, r)
	}
}

func (s *scripted) start(w http.ResponseWriter, r *http.Request, id string) {
	if s.ends[id] == nil {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"code":"TEST_CASE_EMPTY","detail":"the test case has no steps"}}`)
		return
	}
	key := r.Header.Get("Idempotency-Key")
	run, known := s.keys[key]
	if !known {
		s.started[id]++
		run = fmt.Sprintf("run-%s-%d", id, s.started[id])
		s.keys[key], s.state[run], s.born[run] = run, "QUEUED", time.Now()
		var body struct {
			Targets []struct{ Capabilities json.RawMessage }
			Retries int
		}
		require.NoError(s.t, json.NewDecoder(r.Body).Decode(&body))
		s.retries = body.Retries
		for _, t := range body.Targets {
			s.targets[run] += string(t.Capabilities)
		}
	}
	s.pass(s.cut, r)
	s.write(w, id, run)
}

// pass lets a test do something within a request, while others go on.
func (s *scripted) pass(do func(*http.Request), r *http.Request) {
	if do != nil {
		s.mu.Unlock()
		defer s.mu.Lock()
		do(r)
	}
}

func (s *scripted) write(w http.ResponseWriter, id, run string) {
	status := s.state[run]
	jobs := []map[string]any{{"id": run + "-chrome", "name": id, "status": status,
		"target": map[string]any{"capabilities": map[string]string{"browserName": "chrome"}}}}
	failure, steps := map[string]string{"code": "STEP_FAILED", "detail": "it broke"},
		[]map[string]any{{"status": "FAILED", "tool": map[string]any{"type": "click"}}}
	if status == "FAILED" || status == "ERROR" {
		jobs[0]["error"], jobs[0]["steps"] = failure, steps
	}
	if client.Ended(status) {
		var attempts []map[string]any
		for i, state := range s.attempts[id] {
			one := map[string]any{"number": i + 1, "status": state}
			if state != "PASSED" {
				one["error"], one["steps"] = failure, steps
			}
			attempts = append(attempts, one)
		}
		jobs[0]["attempts"], jobs[0]["attemptCount"] = attempts, max(1, len(attempts))
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": map[string]any{"id": run, "testCaseId": id, "testCaseName": id,
		"status": status, "jobs": jobs,
		"creationDate": s.born[run].UTC().Format("2006-01-02T15:04:05.000Z")}})
}

func planOf(ids ...string) *Plan {
	p := &Plan{}
	for _, id := range ids {
		p.Tests = append(p.Tests, Test{ID: id, Name: id})
	}
	return p
}

func outcomes(r *report.Report) map[string]report.Outcome {
	m := map[string]report.Outcome{}
	for _, c := range r.Cases {
		m[c.Name] = c.Outcome
	}
	return m
}

// The server plays again what failed: the report has each attempt that did.
func TestAttemptsAreReported(t *testing.T) {
	t.Parallel()
	s, c := newScripted(t, map[string][]string{"good": {"PASSED"}, "shaky": {"FLAKY"}, "bad": {"FAILED"}, "broken": {"ERROR"},
		"theirs": {"CANCELLED"}})
	s.attempts = map[string][]string{"shaky": {"FAILED", "ERROR", "PASSED"}, "bad": {"ERROR", "FAILED"}}
	retries := 2
	c.Start.Retries = &retries
	r, err := c.Run(t.Context(), planOf("good", "shaky", "bad", "broken", "theirs", "empty"))
	require.NoError(t, err)
	require.Equal(t, map[string]report.Outcome{"good": report.Passed, "shaky": report.Flaky, "bad": report.Failed, "broken": report.Errored,
		"theirs": report.Cancelled, "empty": report.Skipped}, outcomes(r))
	require.Equal(t, map[string]int{"good": 1, "shaky": 1, "bad": 1, "broken": 1, "theirs": 1}, s.started, "nothing is started again")
	require.Equal(t, 2, s.retries)
	require.False(t, r.Good(), "a test that was cancelled has not passed")
	failures := map[string][]report.Outcome{}
	for _, k := range r.Cases {
		for _, f := range k.Failures {
			require.Equal(t, "STEP_FAILED", f.Code)
			require.Len(t, f.Steps, 1)
			failures[k.Name] = append(failures[k.Name], f.Outcome)
		}
	}
	require.Equal(t, map[string][]report.Outcome{"shaky": {report.Failed, report.Errored}, "bad": {report.Errored, report.Failed},
		"broken": {report.Errored}}, failures)
	require.EqualValues(t, 1, s.most.Load(), "one request at a time")
}

// A failure in quarantine keeps a suite from nothing; that of a test that is run by itself does.
func TestQuarantinedFailures(t *testing.T) {
	t.Parallel()
	_, c := newScripted(t, nil)
	run := client.TestRun{ID: "r", TestCaseID: "c", TestCaseName: "shaky", Status: "FAILED",
		Quarantine: &client.Quarantine{Reason: "late map"},
		Jobs:       []client.TestJob{{ID: "j", Name: "shaky", Status: "FAILED", Error: &client.TestFault{Code: "STEP_FAILED", Detail: "no map"}}}}
	for _, tt := range []struct {
		unit *unit
		want report.Outcome
	}{
		{&unit{suite: client.TestSuite{ID: "s", Name: "smoke"}, id: "u", status: "PASSED", runs: []client.TestRun{run}}, report.Quarantined},
		{&unit{of: &Test{ID: "c", Name: "shaky"}, id: "r", status: "FAILED", runs: []client.TestRun{run}}, report.Failed},
	} {
		w := c.watch(&Plan{})
		w.add(tt.unit)
		r := c.report(t.Context(), w.plan, w, time.Now())
		w.end()
		require.Equal(t, tt.want, r.Cases[0].Outcome)
		require.Equal(t, tt.want == report.Quarantined, r.Good())
		require.Equal(t, "no map", r.Cases[0].Failures[0].Text)
	}
}

func TestAnEmptyTestThatIsNamedIsRefused(t *testing.T) {
	t.Parallel()
	_, c := newScripted(t, nil)
	p := planOf("empty")
	p.Tests[0].named = true
	_, err := c.Run(t.Context(), p)
	require.True(t, client.Is(err, client.Misused), "%v", err)
}

// A job that was killed and is repeated finds its runs by their keys: it joins those that
// are on, and starts others in place of those that have ended.
func TestARepeatedJobFindsWhatIsOn(t *testing.T) {
	t.Parallel()
	s, c := newScripted(t, map[string][]string{"on": {"PASSED"}, "over": {"FAILED", "PASSED"}, "cut": {"PASSED", "PASSED"}})
	now := time.Now()
	for id, state := range map[string]string{"on": "QUEUED", "over": "FAILED", "cut": "CANCELLED"} {
		run := "run-" + id + "-1"
		s.keys["case "+id+" 0"], s.state[run], s.born[run], s.started[id] = run, state, now.Add(-time.Minute), 1
	}
	r, err := c.Run(t.Context(), planOf("on", "over", "cut"))
	require.NoError(t, err)
	require.Equal(t, map[string]int{"on": 1, "over": 2, "cut": 2}, s.started)
	require.True(t, r.Good(), "%+v", outcomes(r))
}

func TestWhatRunsIsCancelled(t *testing.T) {
	t.Parallel()
	for _, detach := range []bool{false, true} {
		s, c := newScripted(t, map[string][]string{"over": {"PASSED"}, "held": {"QUEUED"}})
		c.Detach = detach
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := fmt.Errorf("the time is over")
		go func() {
			for {
				s.mu.Lock()
				looked := s.looks["run-held-1"] > 0 // and at the other before
				s.mu.Unlock()
				if looked {
					cancel(cause)
					return
				}
				if ctx.Err() != nil {
					return
				}
			}
		}()
		r, err := c.Run(ctx, planOf("over", "held"))
		require.ErrorIs(t, err, cause)
		require.Equal(t, map[string]report.Outcome{"over": report.Passed, "held": report.Cancelled}, outcomes(r))
		require.Equal(t, map[bool]string{false: "CANCELLED", true: "QUEUED"}[detach], s.state["run-held-1"])
		cancel(nil)
	}
}
