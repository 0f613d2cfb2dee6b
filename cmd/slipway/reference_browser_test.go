package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	pagetool "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/chromium"
)

// reports keeps what the policy of content refused, and who was asked with which cookies,
// from before the first script of a page on.
const reports = `window.refused = [];
document.addEventListener("securitypolicyviolation", (e) => window.refused.push(e.violatedDirective + " " + e.blockedURI));`

// A browser shows every operation of the description under the strict policy, asks no other
// host, and a request that is tried out is answered by the key that was typed in, not by the
// session of who is signed in.
func TestDescriptionInBrowser(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	tab := chromium.Start(t, 10*time.Minute, chromedp.WindowSize(1280, 900))
	do := func(steps ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		require.NoError(t, chromedp.Do(tab, steps...))
	}
	text := func(expression string) string {
		t.Helper()
		s, err := chromedp.Run(tab, chromedp.Evaluate[string](expression))
		require.NoError(t, err, expression)
		return s
	}
	number := func(expression string) int {
		t.Helper()
		n, err := chromedp.Run(tab, chromedp.Evaluate[int](expression))
		require.NoError(t, err, expression)
		return n
	}
	file, err := os.ReadFile("../../api/openapi.json")
	require.NoError(t, err)
	var description struct {
		Tags []struct{ Name string }
	}
	require.NoError(t, json.Unmarshal(file, &description))

	// Somebody is signed in; the page must not use it.
	do(chromedp.Navigate(w.base+"/console/sign-in"),
		chromedp.SendKeys(chromedp.CSS(`[name="name"]`), w.boot.Owner.Username), chromedp.SendKeys(chromedp.CSS(`[name="key"]`),
			w.boot.Owner.AccessKey),
		chromedp.Click(chromedp.CSS(`form[action$="/console/sign-in"] button`)), chromedp.WaitVisible(chromedp.CSS(".me")))
	_, err = chromedp.Call(tab, pagetool.AddScriptToEvaluateOnNewDocument, pagetool.AddScriptToEvaluateOnNewDocumentParams{Source: reports})
	require.NoError(t, err)
	const operation = `document.getElementById("operations-tasks-listTasks")`
	do(chromedp.Click(chromedp.CSS(`footer a[href$="/docs"]`)), chromedp.WaitVisible(chromedp.CSS(".opblock-tag")))
	require.Equal(t, len(description.Tags), number(`document.querySelectorAll(".opblock-tag").length`), "a heading for each tag")
	do(chromedp.Click(chromedp.CSS(`.opblock-tag[data-tag="tasks"]`)), chromedp.WaitVisible(chromedp.CSS("#operations-tasks-listTasks")))
	require.Contains(t, text(operation+".textContent"), "/api/v3/tasks")

	gone := func(selector string) {
		t.Helper()
		require.Eventually(t, func() bool { return number("document.querySelectorAll("+strconv.Quote(selector)+").length") == 0 },
			time.Minute, 50*time.Millisecond, selector)
	}
	try := func() string {
		t.Helper()
		do(chromedp.Click(chromedp.CSS("#operations-tasks-listTasks .execute")))
		status := ""
		require.Eventually(t, func() bool {
			status = text(`(document.querySelector("#operations-tasks-listTasks .live-responses-table tr.response .response-col_status") || {textContent: ""}).textContent.trim()`)
			return strings.HasPrefix(status, "2") || strings.HasPrefix(status, "4")
		}, time.Minute, 50*time.Millisecond)
		do(chromedp.Click(chromedp.CSS("#operations-tasks-listTasks .btn-clear")))
		gone("#operations-tasks-listTasks .live-responses-table") // else the next try reads this answer
		return status
	}
	unfold := func() {
		t.Helper()
		do(chromedp.Click(chromedp.CSS("#operations-tasks-listTasks .opblock-summary-control")),
			chromedp.WaitVisible(chromedp.CSS("#operations-tasks-listTasks .try-out__btn")),
			chromedp.Click(chromedp.CSS("#operations-tasks-listTasks .try-out__btn")),
			chromedp.WaitVisible(chromedp.CSS("#operations-tasks-listTasks .execute")))
	}
	unfold()
	require.Contains(t, try(), "401", "the session is no way in")
	do(chromedp.Click(chromedp.CSS(".auth-wrapper .authorize")), chromedp.WaitVisible(chromedp.CSS("#api_key_value")),
		chromedp.SendKeys(chromedp.CSS("#api_key_value"), w.key))
	require.Eventually(t, func() bool { return text(`document.querySelector("#api_key_value").value`) == w.key },
		time.Minute, 50*time.Millisecond)
	const fields = `document.querySelectorAll("#api_key_value").length` // of all ways in that are keys
	open := number(fields)
	do(chromedp.Click(chromedp.CSS(`.modal-ux .auth-container button.authorize`)))
	require.Eventually(t, func() bool { return number(fields) == open-1 }, time.Minute, 50*time.Millisecond, "the key is taken")
	do(chromedp.Click(chromedp.CSS(".modal-ux .btn-done")))
	require.Contains(t, try(), "200", "the key is one")

	require.Empty(t, text(`window.refused.join("; ")`), "the policy of content refuses nothing")
	require.Empty(t, text(`performance.getEntriesByType("resource").map((r) => r.name).filter((n) => !n.startsWith(location.origin) && !n.startsWith("data:")).join(" ")`),
		"no other host is asked")
	w.picture(tab, "/docs", "light")

	// A proxy has the installation below a path.
	target, err := url.Parse(w.base)
	require.NoError(t, err)
	below := httptest.NewServer(http.StripPrefix("/below", httputil.NewSingleHostReverseProxy(target)))
	t.Cleanup(below.Close)
	do(chromedp.Navigate(below.URL+"/below/docs"), chromedp.WaitVisible(chromedp.CSS(`.opblock-tag[data-tag="tasks"]`)),
		chromedp.Click(chromedp.CSS(`.opblock-tag[data-tag="tasks"]`)), chromedp.WaitVisible(chromedp.CSS("#operations-tasks-listTasks")))
	unfold()
	require.Contains(t, try(), "401", "the request goes below the path too")
}
