package run

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/baseline"
	"github.com/slipway-qa/slipway/storage/object"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/tasks"
)

// A case that looks at a page and checks its accessibility, from the first picture to a
// difference that somebody accepts.
func TestLooksOfAJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pool, _ := realBrowsers(t)
	w.handler.Browsers, w.handler.release, w.handler.Play = pool, nil, nil
	var colour atomic.Value
	colour.Store("#080")
	site := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(rw, `<!doctype html><html lang=en><title>Shop</title><body style="margin:0"><main><h1 style="height:30px">x</h1>
			<div id=box style="width:80px;height:80px;background:%s"></div><img src=data:, width=9 height=9></main>`, colour.Load())
	}))
	t.Cleanup(site.Close)
	assert := func(id, selector string, m step.Matcher) step.Step {
		s := step.Step{ID: id, TimeoutMS: 10_000, Tool: step.Tool{Type: step.Assert, Args: step.Args{Matcher: &m}}}
		if selector != "" {
			s.Tool.Args.Selector = &step.Selector{Type: step.CSS, Value: selector}
		}
		return s
	}
	newCase := func(name string, s step.Step) (c *authoring.Case) {
		w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
			c, err = authoring.CreateCase(ctx, tx, w.writer, authoring.NewCase{Name: name,
				Settings: capability.RunSettings{TestURL: site.URL, RunTargets: []capability.Target{{Capabilities: chrome}}},
				Revision: authoring.Revision{Steps: []step.Step{s}}})
			return err
		})
		return c
	}
	play := func(c *authoring.Case) (*store.Run, store.Job) {
		t.Helper()
		run := w.newRun(c, store.NewRun{}, chrome)
		require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
		return run, w.read(run).Jobs[0]
	}
	pictures := func() int {
		list, err := w.objects.List(t.Context(), baseline.Prefix, "", object.MaxList)
		require.NoError(t, err)
		return len(list)
	}
	c := newCase("looks", assert("s1", "#box", step.Matcher{Name: step.LooksLike}))

	_, first := play(c)
	require.Equal(t, store.Passed, first.Status, first.Error)
	require.Equal(t, 1, first.Unreviewed, "it passed, and says that nobody accepted it")
	candidate := uuid.MustParse(first.Records[0].Look.CandidateID)
	row, err := baseline.ByID(t.Context(), w.db, c.ID, candidate)
	require.NoError(t, err)
	require.Equal(t, baseline.Unreviewed, row.State)
	require.Equal(t, []int{80, 80}, []int{row.Width, row.Height})
	require.Equal(t, 1, pictures())

	w.must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := baseline.Accept(ctx, tx, w.writer, c.ID, candidate)
		return err
	})
	_, same := play(c)
	require.Equal(t, step.LookMatched, same.Records[0].Look.State, same.Error)
	require.Zero(t, same.Unreviewed)
	require.Empty(t, same.Files)

	colour.Store("#800")
	run, other := play(c)
	require.Equal(t, store.Failed, other.Status)
	require.Equal(t, store.CodeAssertionFailed, other.ErrorCode)
	require.Equal(t, candidate.String(), other.Records[0].Look.BaselineID)
	kinds := map[string]bool{}
	for _, f := range other.Files {
		kinds[f.Kind] = true
	}
	for _, kind := range []string{store.Expected, store.Actual, store.Difference, store.Screenshot} {
		require.True(t, kinds[kind], "%s in %v", kind, kinds)
	}
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := baseline.Accept(ctx, tx, w.writer, c.ID, uuid.MustParse(other.Records[0].Look.CandidateID))
		return err
	})
	_, again := play(c)
	require.Equal(t, step.LookMatched, again.Records[0].Look.State, again.Error)
	require.Equal(t, 2, pictures(), "of a run that saw a known picture none is kept twice")
	_ = run

	a := newCase("accessible", assert("s1", "", step.Matcher{Name: step.Accessible, Args: step.MatcherArgs{Rules: []string{"image-alt"}}}))
	run, faulty := play(a)
	require.Equal(t, store.Failed, faulty.Status)
	require.Contains(t, faulty.Error, "image-alt (critical)")
	found := faulty.Records[0].Findings
	require.Equal(t, 1, found.Failing)
	require.NotEmpty(t, found.List[0].FileID)
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		n, err := baseline.AcceptFindings(ctx, tx, w.writer, a.ID, run.ID, "s1", found.List)
		require.Equal(t, 1, n)
		return err
	})
	_, accepted := play(a)
	require.Equal(t, store.Passed, accepted.Status, accepted.Error)
	require.Equal(t, 1, accepted.Records[0].Findings.Accepted)
}
