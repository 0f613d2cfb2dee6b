package run

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/group"
	"github.com/slipway-qa/slipway/storage/stepgroup"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// visits is a site that notes which of its pages were opened.
type visits struct {
	mu    sync.Mutex
	paths []string
}

func (v *visits) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/favicon.ico" {
		v.mu.Lock()
		v.paths = append(v.paths, r.URL.Path)
		v.mu.Unlock()
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, `<!doctype html><title>Shop</title><h1>%s</h1><button id=go>Go</button><input id=user aria-label=User>`, r.URL.Path)
}

func (v *visits) take() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	paths := v.paths
	v.paths = nil
	return paths
}

func opens(id, address string) step.Step {
	return step.Step{ID: id, Tool: step.Tool{Type: step.GoToURL, Args: step.Args{URL: address}}}
}

// clicks is a click on what is there, misses one on what never is.
func clicks(id, css string) step.Step {
	return step.Step{ID: id, TimeoutMS: 60_000, Tool: step.Tool{Type: step.Click,
		Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: css}}}}
}

func misses(id, css string) step.Step {
	s := clicks(id, css)
	s.TimeoutMS = 700
	return s
}

func runs(id string, g *stepgroup.Group, with step.Values) step.Step {
	return step.Step{ID: id, Tool: step.Tool{Type: step.RunGroup, Args: step.Args{GroupID: g.ID.String(), With: with}}}
}

func shows(css string) *step.Condition {
	return &step.Condition{Selector: &step.Selector{Type: step.CSS, Value: css}, Matcher: &step.Matcher{Name: step.Visible}, TimeoutMS: 300}
}

func (w *world) group(n stepgroup.NewGroup) (g *stepgroup.Group) {
	w.t.Helper()
	n.TeamID = w.writer.Teams[0]
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		g, err = stepgroup.Create(ctx, tx, w.writer, n)
		return err
	})
	return g
}

func (w *world) caseOf(site string, v authoring.Revision) (c *authoring.Case) {
	w.t.Helper()
	target := capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome"}}
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		c, err = authoring.CreateCase(ctx, tx, w.writer, authoring.NewCase{Name: "shop",
			Settings: capability.RunSettings{TestURL: site, RunTargets: []capability.Target{target}}, Revision: v})
		return err
	})
	return c
}

// played is what a job has to say of its steps: id, status.
func played(j *store.Job) (list []string) {
	for _, r := range j.Records {
		text := r.StepID + " " + r.Status
		if r.Phase != "" {
			text = r.Phase + " " + text
		}
		list = append(list, text)
	}
	return list
}

// Steps of groups are played in the place of run_group with the values of parameters, in
// which secrets are masked; each run plays what the groups were when it was made.
func TestGroupsInABrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pool, proxy := realBrowsers(t)
	w.handler.Browsers, w.handler.release, w.handler.Play, w.handler.Trouble = pool, nil, nil, proxy.Trouble
	site := &visits{}
	server := httptest.NewServer(site)
	t.Cleanup(server.Close)
	w.variable("password", secret, true)
	missing := "#none"
	typed := "{{param:user}}"
	inner := w.group(stepgroup.NewGroup{Name: "Type", Parameters: []group.Parameter{{Name: "user"}}, Steps: []step.Step{
		{ID: "t", Tool: step.Tool{Type: step.InputText, Args: step.Args{Text: &typed, Selector: &step.Selector{Type: step.CSS, Value: "#user"}}}},
		{ID: "a", Tool: step.Tool{Type: step.Assert, Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: "#user"},
			Matcher: &step.Matcher{Name: step.ValueIs, Args: step.MatcherArgs{Value: typed}}}}},
	}})
	outer := w.group(stepgroup.NewGroup{Name: "Open", Parameters: []group.Parameter{{Name: "page"}, {Name: "who"}},
		Steps: []step.Step{opens("o", "/{{param:page}}"), runs("in", inner, step.Values{"user": "{{param:who}}"})}})
	broken := w.group(stepgroup.NewGroup{Name: "Broken", Steps: []step.Step{misses("x", missing), opens("y", "/never")}})
	optional := runs("s2", broken, nil)
	optional.Optional = true
	absent := runs("s3", broken, nil)
	absent.When = shows("#banner")
	c := w.caseOf(server.URL, authoring.Revision{
		Steps: []step.Step{runs("s1", outer, step.Values{"page": "list", "who": "{{password}}"}), optional, absent, clicks("s4", "#go")},
	})

	run := w.newRun(c, store.NewRun{Inputs: store.Inputs{Trace: capability.TraceOn}}, chrome)
	w.must(func(ctx context.Context, tx *storage.Tx) error { // after the run was made
		steps := []step.Step{opens("o", "/other")}
		parameters := []group.Parameter{{Name: "page"}, {Name: "who"}}
		_, err := stepgroup.Update(ctx, tx, w.writer, outer.ID, stepgroup.Change{Steps: &steps, Parameters: &parameters})
		return err
	})
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
	got := w.read(run).Jobs[0]
	require.Equal(t, store.Passed, got.Status, "%s: %s", got.ErrorCode, got.Error)
	require.Equal(t, []string{"s1 PASSED", "s1/o PASSED", "s1/in PASSED", "s1/in/t PASSED", "s1/in/a PASSED", "s2 SKIPPED",
		"s2/x SKIPPED", "s2/y SKIPPED",
		"s3 SKIPPED", "s3/x SKIPPED", "s3/y SKIPPED", "s4 PASSED"}, played(&got))
	require.Equal(t, &step.InGroup{ID: inner.ID.String(), Name: "Type", RevisionID: inner.Revision.ID.String(), StepID: "t",
		Depth: 2}, got.Records[3].Group)
	require.Contains(t, got.Records[5].Result.Message, "optional: ")
	require.Equal(t, "skipped with its step group", got.Records[9].Result.Message)
	require.Equal(t, []string{"/list"}, site.take())
	require.NotContains(t, w.everywhere(run), secret)
	traced := w.traceOf(run)
	require.Contains(t, traced, `Run group \"Type\"`)
	require.Contains(t, traced, `"parentId"`)
	require.NotContains(t, traced, secret)
	stored, err := stepgroup.ByID(t.Context(), w.db, w.org, inner.ID)
	require.NoError(t, err)
	require.Equal(t, "input", stored.Revision.Steps[0].Tool.Args.Selector.Fingerprint.Tag, "the group learns the fingerprint")

	run = w.newRun(c, store.NewRun{}, chrome)
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
	got = w.read(run).Jobs[0]
	require.Equal(t, store.Passed, got.Status, "%s: %s", got.ErrorCode, got.Error)
	require.Equal(t, []string{"/other"}, site.take())
}

// What stands around a test is executed in its order; the steps after it whatever came.
func TestSetUpAndTearDownInABrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pool, proxy := realBrowsers(t)
	w.handler.Browsers, w.handler.release, w.handler.Play, w.handler.Trouble = pool, nil, nil, proxy.Trouble
	site := &visits{}
	server := httptest.NewServer(site)
	t.Cleanup(server.Close)
	for name, c := range map[string]struct {
		v       authoring.Revision
		status  store.Status
		text    string
		played  []string
		visited []string
	}{
		"passes": {authoring.Revision{SetUp: []step.Step{opens("s1", "/before")}, Steps: []step.Step{opens("s1", "/test"),
			{ID: "s2", Tool: step.Tool{Type: step.Finish}}},
			TearDown: []step.Step{opens("s1", "/after")}}, store.Passed, "",
			[]string{"setUp setUp:s1 PASSED", "s1 PASSED", "s2 PASSED", "tearDown tearDown:s1 PASSED"}, []string{"/before", "/test", "/after"}},
		"fails": {authoring.Revision{Steps: []step.Step{misses("s1", "#none"), opens("s2", "/never")},
			TearDown: []step.Step{opens("s1", "/after")}}, store.Failed, "#none",
			[]string{"s1 FAILED", "s2 SKIPPED", "tearDown tearDown:s1 PASSED"}, []string{"/", "/after"}},
		"set-up fails": {authoring.Revision{SetUp: []step.Step{misses("s1", "#none")}, Steps: []step.Step{opens("s1", "/never")},
			TearDown: []step.Step{opens("s1", "/after")}}, store.Failed, "set-up: ",
			[]string{"setUp setUp:s1 FAILED", "s1 SKIPPED", "tearDown tearDown:s1 PASSED"}, []string{"/", "/after"}},
		"tear-down fails": {authoring.Revision{Steps: []step.Step{opens("s1", "/test")},
			TearDown: []step.Step{misses("s1", "#none"), opens("s2", "/never")}}, store.Failed, "tear-down: ",
			[]string{"s1 PASSED", "tearDown tearDown:s1 FAILED", "tearDown tearDown:s2 SKIPPED"}, []string{"/test"}},
		"both fail": {authoring.Revision{Steps: []step.Step{misses("s1", "#first")}, TearDown: []step.Step{misses("s1", "#none")}},
			store.Failed, "#first",
			[]string{"s1 FAILED", "tearDown tearDown:s1 FAILED"}, []string{"/"}},
	} {
		t.Run(name, func(t *testing.T) { // one after the other: they share the site
			run := w.newRun(w.caseOf(server.URL, c.v), store.NewRun{}, chrome)
			require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
			got := w.read(run).Jobs[0]
			require.Equal(t, c.status, got.Status, "%s: %s", got.ErrorCode, got.Error)
			require.Contains(t, got.Error, c.text)
			require.Equal(t, c.played, played(&got))
			require.Equal(t, c.visited, site.take())
			if name == "set-up fails" {
				require.Equal(t, "skipped: the set-up failed", got.Records[1].Result.Message)
			}
		})
	}
}

// overdue is a context whose time is over when a channel is closed.
type overdue struct {
	context.Context
	over chan struct{}
}

func (o overdue) Done() <-chan struct{} { return o.over }

func (o overdue) Err() error {
	select {
	case <-o.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func (o overdue) Deadline() (time.Time, bool) { return time.Time{}, o.Err() != nil }

// A test whose time is over is torn down all the same.
func TestTearDownAfterTheTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pool, proxy := realBrowsers(t)
	w.handler.Browsers, w.handler.release, w.handler.Trouble = pool, nil, proxy.Trouble
	over := make(chan struct{})
	w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
		return replay.Play(overdue{ctx, over}, cfg)
	}
	site := &visits{}
	var once sync.Once
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		site.ServeHTTP(rw, r)
		if r.URL.Path == "/waits" {
			once.Do(func() { close(over) })
		}
	}))
	t.Cleanup(server.Close)
	waits := clicks("s2", "#none")
	run := w.newRun(w.caseOf(server.URL, authoring.Revision{Steps: []step.Step{opens("s1", "/waits"), waits},
		TearDown: []step.Step{opens("s1", "/after")}}),
		store.NewRun{}, chrome)
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
	got := w.read(run).Jobs[0]
	require.Equal(t, store.CodeTimeout, got.ErrorCode, got.Error)
	require.Equal(t, []string{"/waits", "/after"}, site.take())
	require.Equal(t, "tearDown tearDown:s1 PASSED", played(&got)[2])
}

// A run of an old revision whose group was deleted ends with the name of the group.
func TestGroupIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.group(stepgroup.NewGroup{Name: "Log in", Steps: []step.Step{opens("o", "/")}})
	c := w.caseOf("https://shop.example.com", authoring.Revision{Steps: []step.Step{runs("s1", g, nil)}})
	old, err := authoring.RevisionByID(t.Context(), w.db, c.ID, "")
	require.NoError(t, err)
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		steps := []step.Step{opens("s1", "/")}
		if _, err := authoring.UpdateCase(ctx, tx, w.writer, c.ID, authoring.CaseChange{Steps: &steps}); err != nil {
			return err
		}
		return stepgroup.Delete(ctx, tx, w.writer, g.ID)
	})
	run := w.newRun(c, store.NewRun{Revision: old}, chrome)
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
	got := w.read(run).Jobs[0]
	require.Equal(t, store.CodeNoGroup, got.ErrorCode)
	require.Contains(t, got.Error, `the step group "Log in" (`+g.ID.String()+`), which the test runs, was deleted`)
}
