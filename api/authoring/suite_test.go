package authoring_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/storage/account"
)

func TestSuiteIsShownWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := w.newCase(w.member, "one", nil), w.newCase(w.member, "two", nil)
	made := w.ok(w.member, 201, "POST", "/testsuites", p(`{"name":"smoke","testCases":[%q,%q,%q],"tags":["nightly"]}`,
		one, strings.ToUpper(two), one))
	requireUUID(t, made["id"])
	requireTime(t, made["creationDate"])
	requireTime(t, made["lastUpdate"])
	for name, want := range map[string]any{
		"orgId": w.ours.UUID.String(), "teamId": w.one.UUID.String(), "name": "smoke", "tags": []any{"nightly"},
		"creatorUserId": w.member.UserUUID.String(), "creatorUserName": "Person member",
		"lastModifierUserId": w.member.UserUUID.String(), "lastModifierUserName": "Person member",
		"healing": nil, "drift": nil, "trace": nil, "retries": nil, "testCaseCount": 2.0, "runCount": 0.0, "login": nil,
		"runRetention": tree{"days": nil, "runs": nil}, "filter": nil, "maxDuration": nil} {
		require.Equal(t, want, made[name], name)
	}
	require.Len(t, made, 22)
	id := made["id"].(string)
	require.Equal(t, made, w.ok(w.neighbor, 200, "GET", "/testsuites/"+id, ""))
	require.Equal(t, made, w.ok(w.member, 200, "GET", "/testsuites/"+bare(id), ""))
	item := w.ok(w.member, 200, "GET", "/testsuites", "")["items"].([]any)[0].(tree)
	require.NotContains(t, item, "runCount", "only create, get and update answer it")
	delete(made, "runCount")
	delete(made, "login")
	require.Equal(t, made, item)
}

func TestCreateSuite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bareMade := w.ok(w.both, 201, "POST", "/testsuites", `{"name":"bare","teamId":"`+bare(w.two.UUID)+`","tags":null,"testCases":null}`)
	require.Equal(t, w.two.UUID.String(), bareMade["teamId"])
	require.Equal(t, []any{}, bareMade["tags"])
	require.Equal(t, 0.0, bareMade["testCaseCount"])

	one := w.newCase(w.member, "one", nil)
	first := w.newSuite(w.member, "first", one)
	second := w.ok(w.member, 201, "POST", "/testsuites", `{"name":"second","testCaseIds":["`+one+`"]}`)
	require.Equal(t, 1.0, second["testCaseCount"])
	require.Equal(t, 0.0, w.ok(w.member, 200, "GET", "/testsuites/"+first, "")["testCaseCount"], "a case is in one suite")
	require.Equal(t, second["id"], w.ok(w.member, 200, "GET", "/testcases/"+one, "")["testSuiteId"])

	for text, field := range map[string]string{
		``: "name", `{}`: "name", `{"name":null}`: "name", `{"name":" "}`: "name", `{"name":["x"]}`: "name",
		`{"name":"` + strings.Repeat("x", 256) + `"}`: "name", `{"name":"x\u0000"}`: "name",
		`{"name":"x","testCases":"` + noCase + `"}`: "testCases", `{"name":"x","testCases":[7]}`: "testCases[0]: must be a string",
		`{"name":"x","tags":"a"}`: "tags", `{"name":"x","tags":["` + strings.Repeat("x", 61) + `"]}`: "tags",
		tooManyTags(t):              "tags",
		`{"name":"x","teamId":"7"}`: "teamId", `{"name":"x","teamId":"` + noUUID + `"}`: "teamId", `[]`: "", `{`: "",
	} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", "/testsuites", text, field)
	}
	for _, text := range []string{`{"name":"x","testCases":["7"]}`, `{"name":"x","testCases":[""]}`,
		`{"name":"x","testCases":[],"testCaseIds":[]}`, `{"name":"x","testCases":["` + noUUID + `"]}`} {
		w.refused(w.member, 400, "INVALID_TEST_CASES", "POST", "/testsuites", text, "testCases")
	}
	w.refused(w.member, 404, "TEST_CASES_NOT_FOUND", "POST", "/testsuites", p(`{"name":"x","testCases":[%q,%q]}`, one, noCase), noCase)
	abroad := w.newCase(w.stranger, "abroad", nil)
	w.refused(w.member, 404, "TEST_CASES_NOT_FOUND", "POST", "/testsuites", p(`{"name":"x","testCases":[%q]}`, abroad), abroad)
	w.refused(w.member, 403, "FORBIDDEN", "POST", "/testsuites", `{"name":"x","teamId":"`+w.two.UUID.String()+`"}`)
	w.refused(w.neighbor, 403, "FORBIDDEN", "POST", "/testsuites", p(`{"name":"x","testCases":[%q]}`, one))
	require.EqualValues(t, 3, w.ok(w.member, 200, "GET", "/testsuites?limit=0", "")["total"], "what is refused leaves nothing")
}

func tooManyTags(t *testing.T) string {
	many := make([]string, 21)
	for i := range many {
		many[i] = p("tag %d", i)
	}
	text, err := json.Marshal(tree{"name": "x", "tags": many})
	require.NoError(t, err)
	return string(text)
}

func TestSuitesAreFiltered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := map[string]string{}
	for _, one := range []struct {
		name, at string
		by       *auth.Caller
	}{
		{"Smoke", "2026-01-01T00:00:00Z", w.member}, {"SMOKE deep", "2026-01-02T12:00:00Z", w.neighbor},
		{"Nightly", "2026-01-03T00:00:00Z", w.member},
	} {
		ids[one.name] = w.newSuite(one.by, one.name)
		w.created("test_suites", ids[one.name], one.at)
	}
	abroad := w.newSuite(w.stranger, "abroad")
	for query, want := range map[string][]string{
		"":                    {"Nightly", "SMOKE deep", "Smoke"},
		"search=smoke":        {"SMOKE deep", "Smoke"},
		"ids=" + ids["Smoke"]: {"Smoke"},
		"ids=" + bare(ids["Smoke"]) + "," + noUUID:       {"Smoke"},
		p("ids=%s&ids=%s", ids["Smoke"], ids["Nightly"]): {"Nightly", "Smoke"},
		p("ids[]=%s&ids[]=%s", ids["Smoke"], abroad):     {"Smoke"},
		"ids=" + noUUID:                          {},
		"ids=":                                   {"Nightly", "SMOKE deep", "Smoke"},
		"startDate=2026-01-02":                   {"Nightly", "SMOKE deep"},
		"endDate=2026-01-02":                     {"SMOKE deep", "Smoke"},
		"endDate=2026-01-02T11:59:59Z":           {"Smoke"},
		"userId=" + w.neighbor.UserUUID.String(): {"SMOKE deep"},
		"teamId=" + bare(w.one.UUID):             {"Nightly", "Smoke"},
		"search=smoke&teamId=" + w.one.UUID.String() + "&ids=" + ids["Smoke"]: {"Smoke"},
	} {
		got := w.ok(w.member, 200, "GET", "/testsuites?"+query, "")
		require.Equal(t, want, names(got, "name"), query)
		require.EqualValues(t, len(want), got["total"], query)
	}
	for query, want := range map[string][]string{"skip=1&limit=1": {"SMOKE deep"}, "limit=0": {}, "skip=3": {}} {
		got := w.ok(w.member, 200, "GET", "/testsuites?"+query, "")
		require.Equal(t, want, names(got, "name"), query)
		require.EqualValues(t, 3, got["total"], query)
	}
	for query, field := range badQueries {
		w.refused(w.member, 400, "INVALID_QUERY", "GET", "/testsuites?"+query, "", field)
	}
	for _, query := range []string{"ids=7", "ids=null", "ids[]=" + noCase} {
		w.refused(w.member, 400, "INVALID_QUERY", "GET", "/testsuites?"+query, "", "ids")
	}
}

func TestUpdateSuite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two, three := w.newCase(w.member, "one", nil), w.newCase(w.member, "two", nil), w.newCase(w.member, "three", nil)
	id := w.newSuite(w.member, "suite", one)
	path := "/testsuites/" + id
	inside := func() []string { return names(w.ok(w.member, 200, "GET", "/testcases?testSuiteId="+id, ""), "name") }
	for _, step := range []struct {
		text, name string
		tags       []any
		cases      []string
	}{
		{`{}`, "suite", []any{}, []string{"one"}},
		{``, "suite", []any{}, []string{"one"}},
		{`{"name":"renamed"}`, "renamed", []any{}, []string{"one"}},
		{`{"tags":["a"],"name":null,"testCaseIds":null}`, "renamed", []any{"a"}, []string{"one"}},
		{p(`{"addTestCases":[%q,%q]}`, strings.ToUpper(two), one), "renamed", []any{"a"}, []string{"one", "two"}},
		{p(`{"addTestCases":[%q],"removeTestCases":[%q]}`, three, one), "renamed", []any{"a"}, []string{"three", "two"}},
		{p(`{"testCaseIds":[%q]}`, one), "renamed", []any{"a"}, []string{"one"}},
		{p(`{"testCases":[%q,%q],"tags":[]}`, one, two), "renamed", []any{}, []string{"one", "two"}},
		{`{"testCaseIds":[]}`, "renamed", []any{}, []string{}},
	} {
		got := w.ok(w.both, 200, "POST", path, step.text)
		require.Equal(t, step.name, got["name"], step.text)
		require.Equal(t, step.tags, got["tags"], step.text)
		require.EqualValues(t, len(step.cases), got["testCaseCount"], step.text)
		require.ElementsMatch(t, step.cases, inside(), step.text)
		require.Equal(t, 0.0, got["runCount"])
	}
	got := w.ok(w.owner, 200, "POST", "/testsuites/"+bare(id), `{"name":"by the owner"}`)
	require.Equal(t, w.owner.UserUUID.String(), got["lastModifierUserId"])
	require.Equal(t, w.member.UserUUID.String(), got["creatorUserId"])
}

func TestUpdateSuiteRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, abroad := w.newCase(w.member, "one", nil), w.newCase(w.stranger, "abroad", nil)
	path := "/testsuites/" + w.newSuite(w.member, "suite", one)
	before := w.ok(w.member, 200, "GET", path, "")
	for text, field := range map[string]string{`{"name":""}`: "name", `{"name":1}`: "name", `{"tags":{}}`: "tags",
		`{"testCaseIds":7}`: "testCaseIds", `{"addTestCases":[{}]}`: "addTestCases", `[]`: "", `{"name":`: ""} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", path, text, field)
	}
	for _, text := range []string{
		`{"testCaseIds":["x"]}`, `{"testCases":["` + one + `0"]}`, `{"addTestCases":[""]}`, `{"removeTestCases":["` + noUUID + `"]}`,
		p(`{"testCaseIds":[%q],"addTestCases":[%q]}`, one, one), p(`{"testCases":[],"removeTestCases":[%q]}`, one),
		p(`{"testCases":[%q],"testCaseIds":[%q]}`, one, one), p(`{"addTestCases":[%q],"removeTestCases":[%q]}`, one, strings.ToUpper(one)),
	} {
		w.refused(w.member, 400, "INVALID_TEST_CASES", "POST", path, text)
	}
	for _, text := range []string{p(`{"testCaseIds":[%q]}`, noCase), p(`{"addTestCases":[%q,%q]}`, one, noCase)} {
		w.refused(w.member, 400, "TEST_CASES_NOT_FOUND", "POST", path, text, noCase)
	}
	w.refused(w.member, 400, "TEST_CASES_NOT_FOUND", "POST", path, p(`{"testCaseIds":[%q]}`, abroad), abroad)
	w.refused(w.neighbor, 403, "FORBIDDEN", "POST", path, `{"name":"x"}`)
	w.refused(w.stranger, 404, "TEST_SUITE_NOT_FOUND", "POST", path, `{"name":"x"}`)
	w.refused(w.member, 404, "TEST_SUITE_NOT_FOUND", "POST", "/testsuites/"+noUUID, `{"name":"x"}`)
	w.refused(w.member, 400, "INVALID_PARAMS", "POST", "/testsuites/"+noCase, `{"name":"x"}`, "id")
	require.Equal(t, before, w.ok(w.member, 200, "GET", path, ""))
}

func TestSuitePaths(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newSuite(w.member, "ours")
	w.refused(w.stranger, 404, "TEST_SUITE_NOT_FOUND", "GET", "/testsuites/"+id, "")
	w.refused(w.member, 404, "TEST_SUITE_NOT_FOUND", "GET", "/testsuites/"+bare(noUUID), "")
	for _, wrong := range []string{"7", noCase, "{" + noUUID + "}", "urn:uuid:" + noUUID, id + "0"} {
		w.refused(w.member, 400, "INVALID_PARAMS", "GET", "/testsuites/"+wrong, "", "id", "UUID")
	}
}

func TestDeleteSuite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for text, with := range map[string]bool{``: false, `{}`: false, `{"deleteTestCases":false}`: false,
		`{"deleteTestCases":null}`: false, `{"deleteTestCases":true}`: true} {
		one := w.newCase(w.member, "one", nil)
		id, run := w.newSuite(w.member, "suite", one), w.newRun(one)
		w.ok(w.member, 204, "DELETE", "/testsuites/"+bare(id), text)
		w.refused(w.member, 404, "TEST_SUITE_NOT_FOUND", "GET", "/testsuites/"+id, "")
		w.refused(w.member, 404, "TEST_SUITE_NOT_FOUND", "DELETE", "/testsuites/"+id, "")
		require.Equal(t, 1, w.count(`select count(*) from audit_events where subject = $1 and type = $2`,
			"test suite "+id, account.TestSuiteDeleted))
		if with {
			w.refused(w.member, 404, "TEST_CASE_NOT_FOUND", "GET", "/testcases/"+one, "")
			require.Equal(t, "cancelled", w.taskState(run))
			continue
		}
		require.NotContains(t, w.ok(w.member, 200, "GET", "/testcases/"+one, ""), "testSuiteId", text)
		require.Equal(t, "queued", w.taskState(run))
	}
}

func TestDeleteSuiteRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := "/testsuites/" + w.newSuite(w.member, "suite")
	for _, text := range []string{`{"deleteTestCases":1}`, `{"deleteTestCases":"true"}`} {
		w.refused(w.member, 400, "INVALID_BODY", "DELETE", path, text, "deleteTestCases")
	}
	w.refused(w.member, 400, "INVALID_BODY", "DELETE", path, `[]`)
	w.refused(w.member, 400, "INVALID_PARAMS", "DELETE", "/testsuites/x", "", "id")
	w.refused(w.neighbor, 403, "FORBIDDEN", "DELETE", path, "")
	w.refused(w.stranger, 404, "TEST_SUITE_NOT_FOUND", "DELETE", path, "")
	w.ok(w.owner, 204, "DELETE", path, "")
}
