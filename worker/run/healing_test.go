package run

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/tasks"
)

// shopPage has a button in the page, one in a shadow root, one in a frame, and one whose
// name says that it deletes. Of the version depend their ids, and a heading says which
// were pressed. A second host has the same button for another purpose.
func shopPage(version string) string {
	return strings.ReplaceAll(`<!doctype html><title>Shop</title><h1></h1>
<script>addEventListener("message", (e) => document.querySelector("h1").textContent += e.data)</script>
<button id="save-V" onclick="postMessage('save ')">Save cart</button>
<x-card id=first title="Books"></x-card><x-card id=second title="Games"></x-card>
<script>
for (const host of document.querySelectorAll("x-card")) {
	const root = host.attachShadow({mode: "open"});
	root.innerHTML = '<button id="more-V">Show ' + host.title + '</button>';
	root.firstChild.onclick = () => postMessage(host.title + " ");
}
</script>
<iframe id=frame srcdoc="<button id='inner-V' onclick=&quot;parent.postMessage('frame ')&quot;>Apply coupon</button>"></iframe>
<button id="drop-V" onclick="postMessage('deleted')">Delete cart</button>`, "-V", "-"+version)
}

// A page changes its ids. The next run passes by healing, except for what deletes, which
// it only suggests; once people have accepted that, the case finds everything itself.
func TestHealingsAreAcceptedAndHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pool, proxy := realBrowsers(t)
	w.handler.Browsers, w.handler.release, w.handler.Play = pool, nil, nil
	w.handler.Trouble, w.handler.StepTimeout = proxy.Trouble, 5*time.Second
	var version atomic.Value
	version.Store("btn")
	site := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprint(rw, shopPage(version.Load().(string)))
	}))
	t.Cleanup(site.Close)
	find := func(css string) *step.Selector { return &step.Selector{Type: step.CSS, Value: css} }
	click := func(css string) step.Tool { return step.Tool{Type: step.Click, Args: step.Args{Selector: find(css)}} }
	in := func(kind, css string, inner step.Tool) step.Tool {
		return step.Tool{Type: kind, Args: step.Args{Selector: find(css), Tool: &inner}}
	}
	target := capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome"}}
	var c *authoring.Case
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		c, err = authoring.CreateCase(ctx, tx, w.writer, authoring.NewCase{Name: "shop",
			Settings: capability.RunSettings{TestURL: site.URL, RunTargets: []capability.Target{target}},
			Revision: authoring.Revision{Steps: []step.Step{
				{ID: "save", Tool: click("#save-btn")},
				{ID: "shadow", Tool: in(step.InShadowRoot, "#second", click("#more-btn"))},
				{ID: "frame", Tool: in(step.InFrame, "#frame", click("#inner-btn"))},
				{ID: "delete", Tool: click("#drop-btn")},
				{ID: "end", Tool: step.Tool{Type: step.Assert, Args: step.Args{Selector: find("h1"),
					Matcher: &step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: "save Games frame deleted"}}}}},
			}}})
		return err
	})
	play := func() *store.Run {
		t.Helper()
		run := w.newRun(c, store.NewRun{}, chrome)
		require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
		return w.read(run)
	}
	accept := func() (states map[string]bool) {
		t.Helper()
		list, _, err := authoring.Healings(t.Context(), w.db, authoring.HealingFilter{CaseID: c.ID, State: authoring.HealingOpen,
			Page: storage.FirstPage()})
		require.NoError(t, err)
		states = map[string]bool{}
		for _, h := range list {
			states[h.StepID] = h.Applied
			w.must(func(ctx context.Context, tx *storage.Tx) error {
				got, err := authoring.AcceptHealing(ctx, tx, w.writer, c.ID, h.ID)
				require.NoError(t, err, h.StepID)
				require.Equal(t, authoring.HealingAccepted, got.State)
				return err
			})
		}
		return states
	}
	first := play()
	require.Equal(t, store.Passed, first.Status, first.Jobs[0].Error)
	require.Zero(t, first.Jobs[0].Healed)

	version.Store("button")
	healed := play()
	require.Equal(t, store.Failed, healed.Status)
	require.Equal(t, 3, healed.Jobs[0].Healed, healed.Jobs[0].Error)
	require.Contains(t, healed.Jobs[0].Error, `may be role button "Delete cart"`)
	require.Equal(t, map[string]bool{"save": true, "shadow": true, "frame": true, "delete": false}, accept())

	mended := play()
	require.Equal(t, store.Passed, mended.Status, mended.Jobs[0].Error)
	require.Zero(t, mended.Jobs[0].Healed, "the selectors that were accepted find their elements")
	require.Empty(t, accept())
}
