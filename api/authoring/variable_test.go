package authoring_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
)

func (w *world) newVariable(text string) tree {
	w.t.Helper()
	return w.ok(w.owner, 201, "POST", "/variables", text)
}

func TestVariableIsShownWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "case", nil)
	suite := w.newSuite(w.member, "suite")
	for scope, place := range map[string]struct{ text, member, id string }{
		"org":       {``, "", ""},
		"team":      {p(`,"teamId":%q`, w.one.UUID), "teamId", w.one.UUID.String()},
		"testSuite": {p(`,"testSuiteId":%q`, bare(suite)), "testSuiteId", suite},
		"testCase":  {p(`,"testCaseId":%q`, strings.ToUpper(id)), "testCaseId", id},
	} {
		made := w.newVariable(p(`{"scope":%q,"name":"user_1","value":"ada {}"%s}`, scope, place.text))
		requireUUID(t, made["id"])
		requireTime(t, made["creationDate"])
		requireTime(t, made["lastUpdateDate"])
		want := tree{"scope": scope, "teamId": nil, "testSuiteId": nil, "testCaseId": nil, "name": "user_1", "value": "ada {}",
			"isSecret": false, "version": 1.0, "creatorUserId": w.owner.UserUUID.String(), "lastModifierUserId": w.owner.UserUUID.String()}
		if place.member != "" {
			want[place.member] = place.id
		}
		requireMembers(t, made, want)
		require.Len(t, made, 13, members(made))
		path := "/variables/" + made["id"].(string)
		require.Equal(t, made, w.ok(w.neighbor, 200, "GET", path, ""))
		require.Equal(t, `"1"`, w.call(w.member, "GET", path, "").Header().Get("ETag"))
		require.Equal(t, []any{made}, w.ok(w.member, 200, "GET", "/variables?scope="+scope, "")["items"])
		w.refused(w.stranger, 404, "VARIABLE_NOT_FOUND", "GET", path, "")
		w.refused(w.stranger, 404, "VARIABLE_NOT_FOUND", "PATCH", path, `{"value":"x"}`)
		w.refused(w.stranger, 404, "VARIABLE_NOT_FOUND", "DELETE", path, "")
	}
}

func TestSecretStaysInside(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-<more>"
	w := newWorld(t)
	answers := func(method, path, text string, status int) tree {
		rec := w.call(w.owner, method, path, text)
		require.Equal(t, status, rec.Code, rec.Body.String())
		require.NotContains(t, rec.Body.String(), "hunter2")
		var answer struct{ Data tree }
		require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &answer))
		return answer.Data
	}
	text := p(`{"scope":"org","name":"password","value":%q,"isSecret":true}`, secret)
	made := answers("POST", "/variables", text, 201)
	requireMembers(t, made, tree{"value": "", "isSecret": true})
	path := "/variables/" + made["id"].(string)
	answers("GET", path, "", 200)
	answers("GET", "/variables", "", 200)
	requireMembers(t, answers("PATCH", path, `{"name":"word"}`, 200), tree{"name": "word", "value": "", "version": 2.0})
	requireMembers(t, answers("PATCH", path, p(`{"value":%q}`, secret+"2"), 200), tree{"value": "", "version": 3.0})
	answers("PATCH", path, `{"isSecret":false}`, 400)
	answers("POST", "/variables", strings.Replace(text, "password", "word", 1), 409)
	answers("POST", "/variables", strings.Replace(text, "password", "No Name", 1), 400)
	answers("POST", "/variables", p(`{"scope":"org","name":"x","value":[%q]}`, secret), 400)
	answers("POST", "/variables", p(`{"scope":"other","name":"x","value":%q}`, secret), 400)
	answers("POST", "/variables", `{"scope":"org","name":"x","value":"`+secret, 400)
	require.Zero(t, w.count(`select count(*) from audit_events where detail::text like '%hunter2%'`))
	require.Zero(t, w.count(`select count(*) from test_variables
		where value is not null or position('hunter2' in encode(sealed, 'escape')) > 0`))
	requireMembers(t, w.ok(w.owner, 200, "PATCH", path, `{"isSecret":false,"value":"open"}`), tree{"value": "open", "isSecret": false})
	requireMembers(t, w.ok(w.owner, 200, "PATCH", path, `{"isSecret":true}`), tree{"value": "", "isSecret": true})
}

func TestCreateVariableRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, abroad := w.newCase(w.member, "case", nil), w.newCase(w.stranger, "abroad", nil)
	w.newVariable(`{"scope":"org","name":"taken","value":""}`)
	for _, tc := range []struct {
		status           int
		code, text, says string
	}{
		{400, "INVALID_BODY", `[]`, "object"},
		{400, "INVALID_BODY", `{"scope":"org","value":""}`, "name"},
		{400, "INVALID_BODY", `{"scope":"org","name":"A b","value":""}`, "name"},
		{400, "INVALID_BODY", `{"scope":"org","name":"","value":""}`, "name"},
		{400, "INVALID_BODY", `{"scope":"org","name":"a"}`, "value"},
		{400, "INVALID_BODY", `{"scope":"org","name":"a","value":7}`, "value"},
		{400, "INVALID_BODY", `{"scope":"org","name":"a","value":true}`, "value"},
		{400, "INVALID_BODY", p(`{"scope":"org","name":"a","value":%q}`, strings.Repeat("x", 16<<10+1)), "value"},
		{400, "INVALID_BODY", `{"scope":"org","name":"a","value":"","isSecret":"yes"}`, "isSecret"},
		{400, "INVALID_BODY", `{"scope":"testSuite","testSuiteId":"7","name":"a","value":""}`, "testSuiteId"},
		{400, "INVALID_BODY", `{"scope":"testCase","testCaseId":"7","name":"a","value":""}`, "testCaseId"},
		{400, "INVALID_BODY", `{"scope":"team","teamId":"7","name":"a","value":""}`, "teamId"},
		{400, "VARIABLE_SCOPE_INVALID", `{"name":"a","value":""}`, "scope"},
		{400, "VARIABLE_SCOPE_INVALID", `{"scope":"world","name":"a","value":""}`, "scope"},
		{400, "VARIABLE_SCOPE_INVALID", `{"scope":"team","name":"a","value":""}`, "teamId"},
		{400, "VARIABLE_SCOPE_INVALID", p(`{"scope":"org","testCaseId":%q,"name":"a","value":""}`, id), "testCaseId"},
		{400, "VARIABLE_SCOPE_INVALID", p(`{"scope":"team","teamId":%q,"name":"a","value":""}`, noUUID), "not exist"},
		{400, "VARIABLE_SCOPE_INVALID", p(`{"scope":"testSuite","testSuiteId":%q,"name":"a","value":""}`, noUUID), "not exist"},
		{400, "VARIABLE_SCOPE_INVALID", p(`{"scope":"testCase","testCaseId":%q,"name":"a","value":""}`, abroad), "not exist"},
		{409, "VARIABLE_NAME_CONFLICT", `{"scope":"org","name":"taken","value":""}`, "name"},
	} {
		w.refused(w.owner, tc.status, tc.code, "POST", "/variables", tc.text, tc.says)
	}
	w.refused(w.member, 403, "VARIABLE_FORBIDDEN", "POST", "/variables", `{"scope":"org","name":"a","value":""}`)
	w.refused(w.neighbor, 403, "VARIABLE_FORBIDDEN", "POST", "/variables", p(`{"scope":"testCase","testCaseId":%q,"name":"a","value":""}`, id))
	require.Equal(t, 1, w.count(`select count(*) from test_variables`))
}

func TestUpdateVariable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	team := p(`"scope":"team","teamId":%q`, w.one.UUID)
	w.newVariable(`{` + team + `,"name":"other","value":""}`)
	path := "/variables/" + w.newVariable(`{` + team + `,"name":"word","value":"one"}`)["id"].(string)
	got := w.ok(w.member, 200, "PATCH", path, `{"value":"two","version":1}`)
	requireMembers(t, got, tree{"name": "word", "value": "two", "version": 2.0, "lastModifierUserId": w.member.UserUUID.String(),
		"creatorUserId": w.owner.UserUUID.String()})
	require.Equal(t, got, w.ok(w.member, 200, "PATCH", path, `{"name":null}`))
	for _, tc := range []struct {
		text    string
		headers []string
		status  int
	}{
		{`{"value":"x","version":1}`, nil, 412},
		{`{"value":"x"}`, []string{"If-Match", `"1"`}, 412},
		{`{"value":"x"}`, []string{"If-Match", `"x"`}, 412},
		{`{"value":"x","version":2}`, []string{"If-Match", `"3"`}, 412},
		{`{"value":"3"}`, []string{"If-Match", `"2"`}, 200},
		{`{"value":"4"}`, []string{"If-Match", `W/"3"`}, 200},
		{`{"value":"5"}`, []string{"If-Match", `*`}, 200},
		{`{"value":"6","version":5}`, []string{"If-Match", `5`}, 200},
	} {
		rec := w.call(w.member, "PATCH", path, tc.text, tc.headers...)
		require.Equal(t, tc.status, rec.Code, tc)
		require.Equal(t, tc.status == 412, strings.Contains(rec.Body.String(), "VARIABLE_VERSION_CONFLICT"), tc)
	}
	require.Equal(t, `"6"`, w.call(w.member, "GET", path, "").Header().Get("ETag"))
	for text, says := range map[string]string{`{"value":7}`: "value", `{"name":""}`: "name", `{"isSecret":1}`: "isSecret",
		`{"version":"1"}`: "version", `{"version":0}`: "version", `{"version":1.5}`: "version", `7`: "object"} {
		w.refused(w.member, 400, "INVALID_BODY", "PATCH", path, text, says)
	}
	same := p(`{"scope":"team","teamId":%q,"testCaseId":null,"value":"6"}`, bare(w.one.UUID))
	require.Equal(t, 6.0, w.ok(w.member, 200, "PATCH", path, same)["version"], "nothing is changed")
	for text, says := range map[string]string{`{"scope":"org"}`: "scope:", p(`{"teamId":%q}`, w.two.UUID): "teamId:",
		p(`{"testSuiteId":%q}`, noUUID): "testSuiteId:", p(`{"testCaseId":%q}`, noCase): "testCaseId:", `{"testCaseId":"7"}`: "testCaseId:",
		`{"isSecret":true}`: "value:"} {
		w.refused(w.member, 400, "INVALID_BODY", "PATCH", path, text, says)
	}
	w.refused(w.member, 409, "VARIABLE_NAME_CONFLICT", "PATCH", path, `{"name":"other"}`)
	w.refused(w.neighbor, 403, "VARIABLE_FORBIDDEN", "PATCH", path, `{"value":"x"}`)
	w.refused(w.neighbor, 403, "VARIABLE_FORBIDDEN", "DELETE", path, ``)
	w.refused(w.member, 404, "VARIABLE_NOT_FOUND", "PATCH", "/variables/"+noUUID, `{"value":"x"}`)
	for _, method := range []string{"GET", "PATCH", "DELETE"} {
		w.refused(w.member, 400, "INVALID_PARAMS", method, "/variables/7", `{}`, "id")
	}
	w.ok(w.member, 204, "DELETE", path, ``)
	w.refused(w.member, 404, "VARIABLE_NOT_FOUND", "DELETE", path, ``)
	w.refused(w.member, 404, "VARIABLE_NOT_FOUND", "GET", path, ``)
	require.Equal(t, 5, w.count(`select count(*) from audit_events where type = $1`, account.VariableUpdated))
	require.Equal(t, 1, w.count(`select count(*) from audit_events where type = $1`, account.VariableDeleted))
}

func TestVariables(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, suite := w.newCase(w.member, "case", nil), w.newSuite(w.member, "suite")
	w.newVariable(`{"scope":"org","name":"a_org","value":"1"}`)
	w.newVariable(p(`{"scope":"team","teamId":%q,"name":"b_team","value":"1"}`, w.one.UUID))
	w.newVariable(p(`{"scope":"testSuite","testSuiteId":%q,"name":"c_suite","value":"1"}`, suite))
	w.newVariable(p(`{"scope":"testCase","testCaseId":%q,"name":"d_case","value":"1"}`, id))
	for query, want := range map[string][]string{
		"": {"a_org", "b_team", "c_suite", "d_case"}, "scope=org": {"a_org"}, "teamId=" + bare(w.one.UUID): {"b_team"},
		"testSuiteId=" + suite: {"c_suite"}, "testCaseId=" + strings.ToUpper(id): {"d_case"}, "search=_S": {"c_suite"},
		"scope=team&testCaseId=" + id: {}, "testCaseId=" + noCase: {},
	} {
		got := w.ok(w.neighbor, 200, "GET", "/variables?"+query, "")
		require.Equal(t, want, names(got, "name"), query)
		require.EqualValues(t, len(want), got["total"], query)
	}
	for query, want := range map[string][]string{"skip=1&limit=2": {"b_team", "c_suite"}, "limit=0": {}} {
		got := w.ok(w.member, 200, "GET", "/variables?"+query, "")
		require.Equal(t, want, names(got, "name"), query)
		require.Equal(t, 4.0, got["total"])
	}
	require.Equal(t, 0.0, w.ok(w.stranger, 200, "GET", "/variables", "")["total"])
	for query, field := range map[string]string{"scope=world": "scope", "teamId=7": "teamId", "testSuiteId=7": "testSuiteId",
		"testCaseId=7": "testCaseId", "limit=-1": "limit"} {
		w.refused(w.member, 400, "INVALID_QUERY", "GET", "/variables?"+query, "", field)
	}
}
