package run

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	failures "github.com/slipway-qa/slipway/storage/failure"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/tasks"
)

// shop is a page whose cart comes by a request, with the states that a release may break it into.
type shop struct {
	*httptest.Server
	cart   atomic.Int32 // the status of the cart
	markup atomic.Value // of the button
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{}
	s.cart.Store(200)
	s.markup.Store(`<button id=buy class=primary>Buy the lamp</button>`)
	s.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/cart/42" {
			rw.WriteHeader(int(s.cart.Load()))
			_, _ = fmt.Fprint(rw, `{"total": 3}`)
			return
		}
		rw.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(rw, `<!doctype html><title>Shop</title><h1>Lamps</h1><nav><a href="/help">Help</a></nav>%s<p id=total></p>
			<script>const show = () => fetch("/api/cart/42").then(async (r) => {
				if (!r.ok) { console.error("cart failed with " + r.status); return; }
				document.querySelector("#total").textContent = "Total " + (await r.json()).total;
			});
			document.querySelector("button").onclick = show;</script>`, s.markup.Load())
	}))
	t.Cleanup(s.Close)
	return s
}

// What a failure says is made of what a browser saw: first the case passes, then the shop breaks in
// one way after another.
func TestWhyAJobFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pool, proxy := realBrowsers(t)
	w.handler.Browsers, w.handler.release, w.handler.Play, w.handler.Trouble = pool, nil, nil, proxy.Trouble
	site := newShop(t)
	steps := []step.Step{
		{ID: "s1", TimeoutMS: 5000, Tool: step.Tool{Type: step.Click, Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: "#buy"}}}},
		{ID: "s2", TimeoutMS: 5000, Tool: step.Tool{Type: step.Assert, Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: "#total"},
			Matcher: &step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: "Total 3"}}}}},
	}
	target := capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome"}}
	var c *authoring.Case
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		c, err = authoring.CreateCase(ctx, tx, w.writer, authoring.NewCase{Name: "buy",
			Settings: capability.RunSettings{TestURL: site.URL, RunTargets: []capability.Target{target}, Healing: capability.HealOff},
			Revision: authoring.Revision{Steps: steps}})
		return err
	})
	play := func(build string, status store.Status) *store.Job {
		run := w.newRun(c, store.NewRun{BuildName: build}, chrome)
		require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
		job := w.read(run).Jobs[0]
		require.Equal(t, status, job.Status, "%s: %s", job.ErrorCode, job.Error)
		return &job
	}

	site.cart.Store(500)
	first := play("1.0", store.Failed)
	require.Equal(t, failures.Unknown, first.Diagnosis.Reason, "there is nothing to compare with")
	require.Nil(t, first.Diagnosis.Comparison)
	require.Equal(t, "500 of /api/cart/{id}", first.Diagnosis.Subject)
	site.cart.Store(200)
	good := play("1.0", store.Passed)
	require.Nil(t, good.Diagnosis)

	site.cart.Store(503)
	broken := play("1.1", store.Failed)
	why := broken.Diagnosis
	require.Equal(t, failures.Product, why.Reason, "%q", why.Why)
	require.Equal(t, "503 of /api/cart/{id}", why.Subject)
	require.NotNil(t, why.Comparison)
	require.Equal(t, good.ID, why.Comparison.JobID)
	require.True(t, why.Comparison.SameSteps, "what a run learns of an element is no change of the case")
	require.Equal(t, new(false), why.Comparison.SameBuild)
	host := strings.TrimPrefix(site.URL, "http://")
	require.Equal(t, []failures.Request{{Method: "GET", Host: host, Path: "/api/cart/{id}", Status: 503, Before: 200}},
		why.Comparison.Requests)
	require.Contains(t, strings.Join(why.Comparison.Console, "\n"), "cart failed with 503")
	failure := broken.Records[1].Failure
	require.NotNil(t, failure)
	require.Contains(t, failure.Expected, `"Total 3"`)
	require.Contains(t, failure.Actual, `""`)

	site.cart.Store(200)
	site.markup.Store(`<button id=purchase class=primary disabled>Buy the lamp now</button>`)
	renamed := play("1.0", store.Failed)
	require.Equal(t, "css #buy to be clickable", renamed.Records[0].Failure.Expected)
	require.Equal(t, "no such element", renamed.Records[0].Failure.Actual)
	near := renamed.Records[0].Failure.Candidates
	require.NotEmpty(t, near)
	require.Equal(t, "button", near[0].Role)
	require.Equal(t, "Buy the lamp now", near[0].Name)
	require.Contains(t, near[0].Against, "it is disabled")
	require.Contains(t, near[0].Against, `its id is "purchase", not "buy"`)
	require.NotNil(t, near[0].Selector)
	page := renamed.Diagnosis.Comparison.Page
	require.NotNil(t, page)
	require.Contains(t, page.Removed, `button#buy "Buy the lamp"`)
	require.Contains(t, page.Added, `button#purchase "Buy the lamp now" disabled`)
	require.NotContains(t, page.Removed, `h1 "Lamps"`)
	require.Equal(t, failures.Unknown, renamed.Diagnosis.Reason, "neither the steps nor the build differ")

	site.markup.Store(`<div style="position: relative"><button id=buy class=primary>Buy the lamp</button><div id=banner
		style="position: absolute; inset: 0; background: gold"></div></div>`)
	covered := play("1.0", store.Failed)
	require.Equal(t, "it is covered by div#banner", covered.Records[0].Failure.Actual)
	require.Len(t, covered.Records[0].Failure.Candidates, 1)
	require.Equal(t, []string{"it is covered by div#banner"}, covered.Records[0].Failure.Candidates[0].Against)
}
