package authoring_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/failure"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

// What a worker found out about a failure stands in the run, in the suite's groups and in JUnit.
func TestWhyARunFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withObjects(t))
	suite := w.newSuite(w.member, "smoke", w.newCase(w.member, "buy", nil), w.newCase(w.member, "pay", nil), w.newCase(w.member, "look", nil))
	id := idOf(w.ok(w.member, 200, "POST", "/testsuites/"+suite+"/run", ""))
	jobs := w.fanOut(id)
	different := false
	d := &failure.Diagnosis{Reason: failure.Product, Why: []string{"GET /api/cart answered 503."}, Key: "503 GET /api/cart",
		Subject: "503 of /api/cart",
		Comparison: &failure.Comparison{SameSteps: true, SameBuild: &different, WithNetwork: true,
			Page:     &failure.Page{Removed: []string{`p "3"`}, Added: []string{}},
			Requests: []failure.Request{{Method: "GET", Host: "shop", Path: "/api/cart", Status: 503, Before: 200}}, Console: []string{"no <cart>"},
			Durations: []failure.Slower{{Step: "s1", BeforeMS: 10, NowMS: 900}}}}
	record := playback.Record{StepID: "s1", Status: playback.Failed, Tool: step.Tool{Type: step.Click}, Result: step.Outcome{Message: "no"},
		Failure: &playback.Failure{Expected: "css #buy to be clickable", Actual: "no such element", Candidates: []playback.Candidate{
			{Selector: &step.Selector{Type: step.CSS, Value: "#purchase"}, Role: "button", Name: "Purchase", Against: []string{"it is disabled"}}}}}
	for _, name := range []string{"buy", "pay"} {
		w.begin(jobs[name])
		w.end(jobs[name], store.JobEnd{Status: store.Failed, ErrorCode: store.CodeStepFailed, Error: "no",
			Records: []playback.Record{record}, Diagnosis: d})
	}
	w.end(jobs["look"], store.JobEnd{Status: store.Passed})

	got := w.ok(w.member, 200, "GET", "/testsuites/"+suite+"/runs/"+id.String(), "")
	groups := got["failureGroups"].([]any)
	require.Len(t, groups, 1)
	group := groups[0].(tree)
	require.Equal(t, "2 cases: 503 of /api/cart", group["title"])
	require.Equal(t, "product", group["reason"])
	require.EqualValues(t, 2, group["count"])
	require.Len(t, group["cases"], 2)
	for _, of := range got["caseRuns"].([]any) {
		job := jobOf(of.(tree), 0)
		if of.(tree)["testCaseName"] == "look" {
			require.NotContains(t, job, "reason")
			continue
		}
		require.Equal(t, "product", job["reason"])
		require.Equal(t, []any{"GET /api/cart answered 503."}, job["why"])
		require.Equal(t, "503 GET /api/cart", job["causeKey"])
		compared := job["comparison"].(tree)
		require.Equal(t, false, compared["sameBuild"])
		require.Equal(t, "GET", compared["requests"].([]any)[0].(tree)["method"])
		failed := job["steps"].([]any)[0].(tree)["failure"].(tree)
		require.Equal(t, "no such element", failed["actual"])
		require.Equal(t, "#purchase", failed["candidates"].([]any)[0].(tree)["selector"].(tree)["value"])
	}

	report := w.call(w.member, "GET", "/testsuites/"+suite+"/runs/"+id.String()+"?format=junit", "").Body.String()
	for _, text := range []string{`<property name="reason" value="product">`, `<property name="cause" value="503 of /api/cart">`,
		"expected: css #buy to be clickable", `near: button &#34;Purchase&#34; at css #purchase: it is disabled`, "GET /api/cart answered 503."} {
		require.Contains(t, report, text)
	}
}
