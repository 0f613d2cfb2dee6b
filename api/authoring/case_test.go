package authoring_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

func TestCaseIsShownWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	suite := w.newSuite(w.member, "smoke")
	made := w.ok(w.member, 201, "POST", "/testcases", importText(t, "log in", tree{
		"testSuiteId": bare(suite), "tags": []string{"a", "b"}, "intent": "log in as a user", "description": "by hand"}))

	id := made["id"].(string)
	require.Regexp(t, `^[0-9a-f]{24}$`, id)
	for name, want := range map[string]any{
		"orgId": w.ours.UUID.String(), "teamId": w.one.UUID.String(), "creatorUserId": w.member.UserUUID.String(),
		"lastModifierUserId": w.member.UserUUID.String(), "testSuiteId": suite, "name": "log in",
		"tags": []any{"a", "b"}, "creatorUserName": "Person member", "lastModifierUserName": "Person member"} {
		require.Equal(t, want, made[name], name)
	}
	requireTime(t, made["creationDate"])
	requireTime(t, made["lastUpdateDate"])
	chrome := tree{"capabilities": tree{"browserName": "chrome"}, "isRdc": false}
	require.Equal(t, tree{"testUrl": "https://shop.example.com/", "scTunnelName": nil, "primaryTarget": chrome,
		"runTargets": []any{chrome}, "lastBuildName": "", "strict": true, "healing": nil, "drift": nil, "trace": nil,
		"retries": nil}, made["runSettings"])

	revisions := made["revisions"].([]any)
	require.Len(t, revisions, 1)
	first := revisions[0].(tree)
	require.Regexp(t, `^[0-9a-f]{24}$`, first["id"])
	require.Equal(t, "log in as a user", first["intent"])
	require.Equal(t, "by hand", first["description"])
	require.Equal(t, "", first["discoveredIntent"])
	require.Equal(t, []any{}, first["reasoning"])
	requireTime(t, first["creationDate"])
	require.Equal(t, []any{
		tree{"id": "s1", "tool": tree{"type": "go_to_url", "args": tree{"url": "/login"}}, "result": nil, "screenshotUrl": ""},
		tree{"id": "s2", "tool": tree{"type": "click", "args": tree{"selector": tree{"type": "css", "value": "#go"}}},
			"result": nil, "screenshotUrl": ""},
	}, first["steps"])

	require.Equal(t, made, w.ok(w.neighbor, 200, "GET", "/testcases/"+id, ""), "the whole organization reads")
	require.Equal(t, made, w.ok(w.member, 200, "GET", "/testcases/"+strings.ToUpper(id), ""))

	item := w.ok(w.member, 200, "GET", "/testcases", "")["items"].([]any)[0].(tree)
	for _, name := range []string{"revisions", "creatorUserName", "lastModifierUserName", "data"} {
		require.NotContains(t, item, name, "only get, rename and import answer it")
		delete(made, name)
	}
	require.Equal(t, made, item)
}

func TestRecordedStepsAreShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, file := w.newCase(w.member, "recorded", nil), uuid.NewString()
	steps := `[{"id":"a","tool":{"type":"finish","args":{}},"result":{"success":true,"message":"done"},"screenshotId":"` + file + `"}]`
	_, err := w.db.ExecContext(t.Context(), `update test_revisions set steps = $2 where case_id = $1`, id, steps)
	require.NoError(t, err)
	got := w.ok(w.member, 200, "GET", "/testcases/"+id, "")["revisions"].([]any)[0].(tree)["steps"].([]any)[0].(tree)
	require.Equal(t, tree{"success": true, "message": "done"}, got["result"])
	require.Equal(t, base+"/v1/ai-authoring/files/"+file, got["screenshotUrl"])
}

func TestCasesAreFiltered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	smoke, deep := w.newSuite(w.both, "smoke"), w.newSuite(w.both, "deep")
	for _, one := range []struct {
		name, at string
		by       *auth.Caller
		members  tree
	}{
		{"Log in", "2026-01-01T00:00:00Z", w.member, tree{"testSuiteId": smoke}},
		{"log OUT 100%", "2026-01-02T12:00:00Z", w.member, tree{"testSuiteId": deep}},
		{"Search", "2026-01-03T23:59:59.5Z", w.neighbor, nil},
		{"Buy", "2026-01-04T00:00:00Z", w.both, tree{"teamId": w.two.UUID.String()}},
	} {
		w.created("test_cases", w.newCase(one.by, one.name, one.members), one.at)
	}
	w.newCase(w.stranger, "Log in abroad", nil)

	for query, want := range map[string][]string{
		"":                      {"Buy", "Search", "log OUT 100%", "Log in"},
		"search=LOG":            {"log OUT 100%", "Log in"},
		"search=%20log%20in%20": {"Log in"},
		"search=100%25":         {"log OUT 100%"},
		"search=" + url.QueryEscape(strings.Repeat("ä", 255)): {},
		"search=_":             {},
		"startDate=2026-01-03": {"Buy", "Search"},
		"endDate=2026-01-03":   {"Search", "log OUT 100%", "Log in"},
		"startDate=2026-01-02T12:00:00Z&endDate=2026-01-02T12:00:00Z": {"log OUT 100%"},
		"endDate=2026-01-02T13:00:00%2B01:00":                         {"log OUT 100%", "Log in"},
		"userId=" + w.neighbor.UserUUID.String():                      {"Search"},
		"userId=" + bare(w.member.UserUUID):                           {"log OUT 100%", "Log in"},
		"userId=" + noUUID:                                            {},
		"teamId=" + w.two.UUID.String():                               {"Buy", "Search"},
		"teamId=" + bare(w.one.UUID):                                  {"log OUT 100%", "Log in"},
		"testSuiteId=" + smoke:                                        {"Log in"},
		"testSuiteId=" + bare(smoke):                                  {"Log in"},
		p("testSuiteId=%s&testSuiteId=%s", smoke, deep):               {"log OUT 100%", "Log in"},
		p("testSuiteId=%s,%s", smoke, deep):                           {"log OUT 100%", "Log in"},
		p("testSuiteId[]=%s&testSuiteId[]=null", smoke):               {"Buy", "Search", "Log in"},
		"testSuiteId=null":                                            {"Buy", "Search"},
		"testSuiteId=" + noUUID:                                       {},
		"testSuiteId=":                                                {"Buy", "Search", "log OUT 100%", "Log in"},
		"search=log&testSuiteId=null":                                 {},
		"search=s&teamId=" + w.two.UUID.String() + "&startDate=2026-01-01&userId=" + w.neighbor.UserUUID.String(): {"Search"},
	} {
		got := w.ok(w.member, 200, "GET", "/testcases?"+query, "")
		require.Equal(t, want, names(got, "name"), query)
		require.EqualValues(t, len(want), got["total"], query)
	}
	for query, want := range map[string][]string{
		"skip=1&limit=2": {"Search", "log OUT 100%"}, "skip=3": {"Log in"}, "skip=4": {}, "limit=0": {}, "limit=1": {"Buy"},
		"skip=1000000": {}, "limit=99999999999999999999": {"Buy", "Search", "log OUT 100%", "Log in"},
	} {
		got := w.ok(w.owner, 200, "GET", "/testcases?"+query, "")
		require.Equal(t, want, names(got, "name"), query)
		require.EqualValues(t, 4, got["total"], query)
	}
	require.Equal(t, []string{"Log in abroad"}, names(w.ok(w.stranger, 200, "GET", "/testcases", ""), "name"))
}

func TestListLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.newCase(w.member, "one", nil)
	_, err := w.db.ExecContext(t.Context(), `
		insert into test_cases (id, organization_id, team_id, name, run_settings, runnable, creator_uuid, modifier_uuid)
		select lpad(n::text, 24, '0'), c.organization_id, c.team_id, 'copy', c.run_settings, false, c.creator_uuid, c.creator_uuid
		from test_cases c, generate_series(1, 120) n`)
	require.NoError(t, err)
	for query, want := range map[string]int{"": 20, "limit=100": 100, "limit=101": 100, "limit=100&skip=50": 71} {
		got := w.ok(w.member, 200, "GET", "/testcases?"+query, "")
		require.Len(t, got["items"], want, query)
		require.EqualValues(t, 121, got["total"])
	}
}

// badQueries are wrong in every list.
var badQueries = map[string]string{
	"limit=-1": "limit", "limit=ten": "limit", "limit=1.5": "limit", "skip=-1": "skip", "skip=x": "skip",
	"limit=-99999999999999999999": "limit", "skip=1000001": "skip", "skip=99999999999999999999": "skip",
	"startDate=yesterday": "startDate", "endDate=2026-13-01": "endDate", "startDate=2026-01-02&endDate=2026-01-01": "endDate",
	"userId=7": "userId", "teamId=x": "teamId", "userId=" + noCase: "userId",
	"userId={01890000-0000-7000-8000-000000000000}": "userId", "userId=urn:uuid:" + noUUID: "userId",
	"search=" + strings.Repeat("x", 256): "search", "search=" + url.QueryEscape(strings.Repeat("ä", 256)): "search",
	"search=%00": "search", "search=%ff": "search",
}

func TestCasesRefuseQueries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for query, field := range badQueries {
		w.refused(w.member, 400, "INVALID_QUERY", "GET", "/testcases?"+query, "", field)
	}
	many := ""
	for i := range 201 {
		many += p(",01890000-0000-7000-8000-%012d", i)
	}
	for _, query := range []string{"testSuiteId=7", "testSuiteId=null,7", "testSuiteId=" + many, "testSuiteId=NULL"} {
		w.refused(w.member, 400, "INVALID_QUERY", "GET", "/testcases?"+query, "", "testSuiteId")
	}
}

func TestRenameCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "old", nil)
	path := "/testcases/" + id + "/rename"
	got := w.ok(w.both, 200, "POST", path, `{"name":"new"}`)
	require.Equal(t, "new", got["name"])
	require.Equal(t, w.member.UserUUID.String(), got["creatorUserId"])
	require.Equal(t, w.both.UserUUID.String(), got["lastModifierUserId"])
	require.Equal(t, "Person both", got["lastModifierUserName"])
	require.Len(t, got["revisions"], 1)
	require.Equal(t, got, w.ok(w.owner, 200, "GET", "/testcases/"+id, ""))
	longest := strings.Repeat("ü", 255)
	require.Equal(t, longest, w.ok(w.owner, 200, "POST", "/testcases/"+strings.ToUpper(id)+"/rename", `{"name":"`+longest+`"}`)["name"])

	for _, text := range []string{``, `{}`, `{"name":null}`, `{"name":""}`, `{"name":"  "}`, `{"name":7}`,
		`{"name":"` + longest + `x"}`, `{"name":"\u0000"}`} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", path, text, "name")
	}
	for _, text := range []string{`[]`, `{"name":"x"`, `"x"`, `{"name":"x"}{}`} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", path, text)
	}
	w.refused(w.neighbor, 403, "FORBIDDEN", "POST", path, `{"name":"x"}`)
	w.refused(w.stranger, 404, "TEST_CASE_NOT_FOUND", "POST", path, `{"name":"x"}`)
	w.refused(w.member, 404, "TEST_CASE_NOT_FOUND", "POST", "/testcases/"+noCase+"/rename", `{"name":"x"}`)
	w.refused(w.member, 400, "INVALID_PARAMS", "POST", "/testcases/7/rename", `{"name":"x"}`, "id")
	require.Equal(t, longest, w.ok(w.member, 200, "GET", "/testcases/"+id, "")["name"])
}

func TestFormsAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "case", nil)
	for kind, status := range map[string]int{"application/x-www-form-urlencoded": 400, "text/plain": 400,
		"multipart/form-data; boundary=x": 400} {
		rec := w.call(w.member, "POST", "/testcases/"+id+"/rename", "name=x", "Content-Type", kind)
		require.Equal(t, status, rec.Code, kind)
		require.Contains(t, rec.Body.String(), `"INVALID_BODY"`)
		require.Contains(t, rec.Body.String(), `Content-Type: must be application/json"`, kind)
	}
	rec := w.call(w.member, "POST", "/testcases/"+id+"/rename", ` {"name":"by curl -d"}`, "Content-Type", "application/x-www-form-urlencoded")
	require.Equal(t, 200, rec.Code, "JSON that calls itself a form: %s", rec.Body)
	rec = w.call(w.member, "DELETE", "/testsuites/"+w.newSuite(w.member, "s"), "", "Content-Type", "application/x-www-form-urlencoded")
	require.Equal(t, 204, rec.Code, "an empty body has no type to be wrong")
}

func TestDeleteCase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "gone", nil)
	path := "/testcases/" + id
	w.refused(w.neighbor, 403, "FORBIDDEN", "DELETE", path, "")
	w.refused(w.stranger, 404, "TEST_CASE_NOT_FOUND", "DELETE", path, "")
	w.ok(w.member, 204, "DELETE", path, "")
	w.refused(w.member, 404, "TEST_CASE_NOT_FOUND", "DELETE", path, "")
	w.refused(w.member, 404, "TEST_CASE_NOT_FOUND", "GET", path, "")
	w.refused(w.member, 400, "INVALID_PARAMS", "DELETE", "/testcases/"+noUUID, "", "id")
	require.EqualValues(t, 0, w.ok(w.member, 200, "GET", "/testcases?limit=0", "")["total"])
	require.Equal(t, 1, w.count(`select count(*) from audit_events where subject = $1 and type = $2 and actor_user_id = $3`,
		"test case "+id, account.TestCaseDeleted, w.member.UserID))
}

func TestCasePaths(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "ours", nil)
	w.refused(w.stranger, 404, "TEST_CASE_NOT_FOUND", "GET", "/testcases/"+id, "")
	w.refused(w.member, 404, "TEST_CASE_NOT_FOUND", "GET", "/testcases/"+noCase, "")
	for _, wrong := range []string{"7", noCase + "0", "0123456789abcdef0123456g", noUUID, "%00", "%ff"} {
		w.refused(w.member, 400, "INVALID_PARAMS", "GET", "/testcases/"+wrong, "", "id", "24 hexadecimal digits")
	}
}

func TestTestersHaveNoAccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tester := w.person(w.ours, "tester", "tester", w.one)
	rec := w.call(tester, "GET", "/testcases", "")
	require.Equal(t, 403, rec.Code)
	var answer struct{ Error struct{ Code string } }
	require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &answer))
	require.Equal(t, "FORBIDDEN", answer.Error.Code)
}

func TestDeletedCaseStopsItsTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kept, gone := w.newCase(w.member, "kept", nil), w.newCase(w.member, "gone", nil)
	open, other := w.newRun(kept), w.newRun(gone)
	w.ok(w.member, 204, "DELETE", "/testcases/"+gone, "")
	require.Equal(t, "queued", w.taskState(open))
	require.Equal(t, "cancelled", w.taskState(other))
	require.Equal(t, "QUEUED", w.jobStatus(open))
	require.Equal(t, "CANCELLED", w.jobStatus(other))
}

// TestDatabaseAway: what cannot be read is not called missing.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, suite := w.newCase(w.member, "case", nil), w.newSuite(w.member, "suite")
	away, err := storage.Open(storage.Config{URL: "postgres://x:y@127.0.0.1:1/none"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = away.Close() })
	w.engine = w.router(handler.Config{DB: away, CheckURL: checkURL})
	for _, r := range [][3]string{
		{"GET", "/testcases", ""}, {"GET", "/testcases/" + id, ""}, {"DELETE", "/testcases/" + id, ""},
		{"POST", "/testcases/" + id + "/rename", `{"name":"x"}`}, {"POST", "/testcases", importText(t, "x", nil)},
		{"GET", "/testcases/" + id + "/code?target=side", ""}, {"GET", "/testcases/" + id + "/code/targets", ""},
		{"GET", "/testsuites", ""}, {"POST", "/testsuites", `{"name":"x"}`}, {"GET", "/testsuites/" + suite, ""},
		{"POST", "/testsuites/" + suite, `{"name":"x"}`}, {"DELETE", "/testsuites/" + suite, ""},
	} {
		w.refused(w.member, 503, "UNAVAILABLE", r[0], r[1], r[2])
	}
}
