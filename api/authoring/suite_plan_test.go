package authoring_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	store "github.com/slipway-qa/slipway/storage/run"
)

func TestSuiteThatIsAFilter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := w.newCase(w.member, "one", tree{"tags": []string{"smoke", "fast"}})
	w.newCase(w.member, "two", tree{"tags": []string{"smoke", "slow"}})
	made := w.ok(w.member, 201, "POST", "/testsuites", `{"name":"Smoke","filter":{"tags":["smoke"],"notTags":["slow"]}}`)
	require.Equal(t, tree{"tags": []any{"smoke"}, "notTags": []any{"slow"}, "allTeams": false}, made["filter"])
	require.Equal(t, 1.0, made["testCaseCount"])
	path := "/testsuites/" + made["id"].(string)
	require.Equal(t, 1.0, w.ok(w.member, 200, "GET", "/testsuites", "")["items"].([]any)[0].(tree)["testCaseCount"])
	items := w.ok(w.member, 200, "GET", "/testcases?runBy="+made["id"].(string), "")["items"].([]any)
	require.Len(t, items, 1)
	require.Equal(t, one, items[0].(tree)["id"])
	require.Equal(t, 1.0, w.ok(w.member, 200, "POST", path+"/run", `{}`)["runCount"])
	require.Equal(t, 2.0, w.ok(w.member, 200, "POST", path, `{"filter":{"tags":["smoke"]}}`)["testCaseCount"])

	for text, field := range map[string]string{
		`{"filter":{"tags":["a"]},"testCases":["` + one + `"]}`:          "filter",
		`{"filter":{"tags":["a"]},"testCaseIds":[]}`:                     "filter",
		`{"filter":{"tags":["a"]},"addTestCases":["` + one + `"]}`:       "filter",
		`{"filter":{"tags":["a"]},"sharedTestCases":["` + one + `"]}`:    "filter",
		`{"filter":{"tags":["a"]},"addSharedTestCases":["` + one + `"]}`: "filter",
		`{"addTestCases":["` + one + `"]}`:                               "filter",
		`{"filter":{}}`:                                                  "filter",
		`{"filter":{"tags":[]}}`:                                         "filter",
		`{"filter":{"tag":["a"]}}`:                                       "filter.tag",
		`{"filter":{"tags":"a"}}`:                                        "filter.tags",
		`{"filter":["a"]}`:                                               "filter",
		`{"filter":{"tags":["` + strings.Repeat(`a","`, 21) + `"]}}`:     "filter",
		`{"maxDuration":0}`:                                              "maxDuration",
		`{"maxDuration":86401}`:                                          "maxDuration",
		`{"order":["` + noCase + `"]}`:                                   "order",
		`{"dependsOn":{"` + one + `":["` + noCase + `"]}}`:               "dependsOn",
		`{"dependsOn":{"` + one + `":["` + one + `"]}}`:                  `dependsOn: has a cycle: "one" needs "one"`,
		`{"dependsOn":[]}`:                                               "dependsOn",
	} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", path, text, field)
	}
	w.refused(w.member, 400, "INVALID_TEST_CASES", "POST", path, `{"dependsOn":{"x":[]}}`)
	w.refused(w.member, 400, "INVALID_TEST_CASES", "POST", path, `{"order":["x"]}`)
	w.refused(w.member, 400, "INVALID_TEST_CASES", "POST", path, `{"sharedTestCases":[],"addSharedTestCases":["`+one+`"]}`)
	require.Nil(t, w.ok(w.member, 200, "POST", path, `{"filter":null}`)["filter"])
	w.refused(w.member, 400, "TEST_CASES_NOT_FOUND", "POST", path, `{"sharedTestCases":["`+noCase+`"]}`)
}

func TestSettingsOfSuiteRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := w.newCase(w.member, "one", nil), w.newCase(w.member, "two", nil)
	home := w.newSuite(w.member, "home", one, two)
	made := w.ok(w.member, 201, "POST", "/testsuites", p(`{"name":"both","sharedTestCases":[%q],"maxDuration":600}`, one))
	require.Equal(t, []any{one}, made["sharedTestCases"])
	require.Equal(t, home, w.ok(w.member, 200, "GET", "/testcases/"+one, "")["testSuiteId"], "its home is what it was")
	path := "/testsuites/" + made["id"].(string)
	got := w.ok(w.member, 200, "POST", path, p(`{"addSharedTestCases":[%q],"order":[%q,%q],"dependsOn":{%q:[%q]}}`, two, two, one, two, one))
	require.Equal(t, []any{two, one}, got["order"])
	require.Equal(t, tree{two: []any{one}}, got["dependsOn"])
	require.Equal(t, got, w.ok(w.member, 200, "POST", path, p(`{"order":[%q,%q],"dependsOn":{%q:[%q]},"maxDuration":600}`,
		two, one, strings.ToUpper(two), one)), "nothing changes")
	require.Len(t, w.ok(w.member, 200, "GET", path+"/matrix", "")["items"], 2)

	run := w.ok(w.member, 200, "POST", path+"/run", `{"maxDuration":60,"shard":{"index":1,"of":2},"buildName":"1.4"}`)
	require.Equal(t, 60.0, run["maxDuration"])
	require.Equal(t, tree{"index": 1.0, "of": 2.0, "key": "1.4"}, run["shard"])
	require.Equal(t, 2.0, run["runCount"], "what needs one another is in one shard")
	w.refused(w.member, 400, "TEST_SUITE_NO_RUN_JOBS", "POST", path+"/run", `{"shard":{"index":2,"of":2},"buildName":"1.4"}`)
	for text, field := range map[string]string{
		`{"shard":{"index":1,"of":2}}`: "shard.key", `{"shard":{"index":3,"of":2,"key":"a"}}`: "shard.index", `{"shard":{"of":2}}`: "shard",
		`{"shard":{"index":1,"of":257,"key":"a"}}`: "shard.of", `{"shard":{"index":1,"of":2,"keys":"a"}}`: "shard.keys",
		`{"shard":"1/2"}`: "shard",
		`{"shard":{"index":1,"of":2,"key":"` + strings.Repeat("a", 201) + `"}}`: "shard.key", `{"maxDuration":0}`: "maxDuration",
	} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", path+"/run", text, field)
	}

	jobs := w.fanOut(idOf(run))
	w.end(jobs["one"], store.JobEnd{Status: store.Failed, ErrorCode: store.CodeStepFailed, Error: "no element"})
	w.end(jobs["two"], store.JobEnd{Status: store.Cancelled, ErrorCode: store.CodeNeeds, Error: `skipped: it needs "one", which failed`})
	at := path + "/runs/" + run["id"].(string)
	second := w.ok(w.member, 200, "GET", at, "")["caseRuns"].([]any)[1].(tree)
	require.Equal(t, tree{"code": "DEPENDENCY_NOT_PASSED", "detail": `skipped: it needs "one", which failed`}, jobOf(second, 0)["error"])
	require.Contains(t, w.call(w.member, "GET", at+"?format=junit", "").Body.String(),
		`<skipped message="skipped: it needs &#34;one&#34;, which failed"></skipped>`)
}

func TestRunsOfABrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := w.newCase(w.member, "one", nil)
	run := w.ok(w.member, 200, "POST", "/testcases/"+one+"/run",
		`{"targets":[{"capabilities":{"browserName":"firefox"}},{"capabilities":{"browserName":"chrome"}}]}`)
	w.ok(w.member, 200, "POST", "/testcases/"+one+"/run", `{"targets":[{"capabilities":{"browserName":"chrome"}}]}`)
	for browser, want := range map[string]float64{"": 2, "Firefox": 1, "chrome": 2, "safari": 0} {
		require.Equal(t, want, w.ok(w.member, 200, "GET", "/runs?browser="+browser, "")["total"], browser)
	}
	require.Equal(t, run["id"], w.ok(w.member, 200, "GET", "/runs?browser=firefox", "")["items"].([]any)[0].(tree)["id"])
	w.refused(w.member, 400, "INVALID_QUERY", "GET", "/runs?browser="+strings.Repeat("a", 101), "")
}
