package authoring_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/run/reading"
	"github.com/slipway-qa/slipway/tasks/outbound"
)

// inputs is a body with all that a pipeline gives a run.
func inputs(build int64) string {
	return p(`{"testUrl":"https://pr-7.example.com","variables":{"user":"ann-of-pr-7","lang":"en"},"buildId":%d,
		"targets":[{"capabilities":{"browserName":"firefox"}},{"capabilities":{"platformName":"Android"}}]}`, build)
}

func TestRunTakesInputs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withObjects(t))
	build, other := w.newBuild("shop.apk"), w.newBuild("other.apk")
	id := w.newCase(w.member, "case", tree{"runSettings": tree{"testUrl": "https://shop.example.com/cart",
		"target": tree{"capabilities": tree{"browserName": "chrome"}}}})
	revision := w.ok(w.member, 200, "GET", "/testcases/"+id, "")["revisions"].([]any)[0].(tree)["id"].(string)
	for _, path := range []string{"/testcases/" + id + "/run", "/testcases/" + id + "/run/" + revision} {
		run := w.ok(w.member, 200, "POST", path, inputs(build))
		requireMembers(t, run, tree{"testUrl": "https://pr-7.example.com/cart", "buildId": float64(build),
			"variableNames": []any{"lang", "user"}})
		require.NotContains(t, run, "warnings")
		require.Len(t, run["jobs"], 2)
		require.Equal(t, "firefox", jobOf(run, 0)["target"].(tree)["capabilities"].(tree)["browserName"])
		require.Equal(t, fmt.Sprintf("storage:%d", build), jobOf(run, 1)["target"].(tree)["capabilities"].(tree)["appium:app"])
		read := w.call(w.neighbor, "GET", "/testcases/"+id+"/runs/"+run["id"].(string), "")
		require.NotContains(t, read.Body.String(), "ann-of-pr-7")
	}
	guarded := w.ok(w.member, 200, "POST", "/testcases/"+id+"/run", `{"testUrl":"https://ann:secret@pr-8.example.com/x?token=secret"}`)
	require.Equal(t, "https://ann:***@pr-8.example.com/x?token=secret", guarded["testUrl"])
	require.Equal(t, 1, w.count(`select count(*) from audit_events where detail->>'test_url' = 'https://pr-8.example.com/x'`))
	require.Zero(t, w.count(`select count(*) from audit_events where detail::text like '%secret%'`))
	plain := w.start(id, `{"testUrl":null,"variables":null,"buildId":null}`)
	require.Equal(t, "https://shop.example.com/cart", plain["testUrl"])
	for _, name := range []string{"buildId", "variableNames"} {
		require.NotContains(t, plain, name)
	}
	require.Equal(t, 0, w.count(`select count(*) from test_runs where variable_names = '{}' and sealed_variables is not null`))

	for query, want := range map[string]float64{"": 4, p("buildId=%d", build): 2, p("buildId=%d", other): 0, "buildId=": 4} {
		require.Equal(t, want, w.ok(w.member, 200, "GET", "/testcases/"+id+"/runs?"+query, "")["total"], query)
		require.Equal(t, want, w.ok(w.member, 200, "GET", "/runs?"+query, "")["total"], query)
	}
	for _, wrong := range []string{"x", "0", "-1", "1.5", "99999999999999999999"} {
		w.refused(w.member, 400, "INVALID_QUERY", "GET", "/testcases/"+id+"/runs?buildId="+wrong, "", "buildId")
		w.refused(w.member, 400, "INVALID_QUERY", "GET", "/runs?buildId="+wrong, "", "buildId")
	}
}

func TestSuiteRunTakesInputs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withObjects(t))
	build := w.newBuild("shop.apk")
	suite := w.newSuite(w.member, "smoke", w.newCase(w.member, "a", nil), w.newCase(w.member, "b without a target",
		tree{"runSettings": tree{"testUrl": "https://shop.example.com/cart"}}))
	path := "/testsuites/" + suite
	made := w.ok(w.member, 200, "POST", path+"/run", inputs(build))
	requireMembers(t, made, tree{"testUrl": "https://pr-7.example.com", "buildId": float64(build),
		"variableNames": []any{"lang", "user"}, "runCount": 2.0})
	jobs := w.fanOut(idOf(made))
	require.Len(t, jobs, 2)
	got := w.ok(w.member, 200, "GET", path+"/runs/"+made["id"].(string), "")
	runs := got["caseRuns"].([]any)
	require.Equal(t, "https://pr-7.example.com/cart", runs[1].(tree)["testUrl"])
	require.Len(t, runs[1].(tree)["jobs"], 2)
	require.Equal(t, float64(build), runs[1].(tree)["buildId"])
	text, err := json.Marshal(got)
	require.NoError(t, err)
	require.NotContains(t, string(text), "ann-of-pr-7")

	w.begin(jobs["a"])
	end, _ := failedEnd(jobs["a"])
	w.end(jobs["a"], end)
	report := w.call(w.member, "GET", path+"/runs/"+made["id"].(string)+"?format=junit", "").Body.String()
	property := p(`<property name="buildId" value="%d"></property>`, build)
	require.Contains(t, report, property)
	require.Contains(t, report, `<property name="healed" value="1"></property>`)
	require.Equal(t, 1, strings.Count(report, property), "of the whole, once")
	caseRun := w.call(w.member, "GET", "/testcases/"+runs[0].(tree)["testCaseId"].(string)+"/runs/"+runs[0].(tree)["id"].(string)+
		"?format=junit", "")
	require.Contains(t, caseRun.Body.String(), property)

	require.NotContains(t, w.ok(w.member, 200, "POST", path+"/run", `{}`), "buildId")
	for query, want := range map[string]float64{"": 2, p("?buildId=%d", build): 1, p("?buildId=%d", build+1000): 0} {
		require.Equal(t, want, w.ok(w.member, 200, "GET", path+"/runs"+query, "")["total"], query)
	}
	w.refused(w.member, 400, "INVALID_QUERY", "GET", path+"/runs?buildId=x", "", "buildId")

	// The same key starts one run, whatever else is sent.
	for _, text := range []string{inputs(build), `{"variables":{"user":"bob"}}`} {
		rec := w.call(w.member, "POST", path+"/run", text, "Idempotency-Key", "job-7")
		require.Equal(t, 200, rec.Code)
		require.Contains(t, rec.Body.String(), `"variableNames":["lang","user"]`)
	}
}

func TestInputsAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	build := w.newBuild("shop.apk")
	id, theirs := w.newCase(w.member, "case", nil), w.newCase(w.stranger, "case", nil)
	suite, theirSuite := w.newSuite(w.member, "suite", id), w.newSuite(w.stranger, "suite", theirs)
	many := make([]string, 101)
	for i := range many {
		many[i] = p(`"n%d":"v"`, i)
	}
	for _, tc := range []struct{ text, code, says string }{
		{`{"testUrl":7}`, "INVALID_BODY", "testUrl"},
		{`{"testUrl":""}`, "INVALID_BODY", "testUrl"},
		{`{"testUrl":"/cart"}`, "INVALID_BODY", "testUrl"},
		{`{"testUrl":"file:///etc/passwd"}`, "INVALID_BODY", "testUrl"},
		{p(`{"testUrl":%q}`, metadata), "INVALID_BODY", "testUrl: the address is not allowed"},
		{p(`{"testUrl":"https://a.example.com/%s"}`, strings.Repeat("x", 2048)), "INVALID_BODY", "testUrl"},
		{`{"variables":[]}`, "INVALID_BODY", "variables"},
		{`{"variables":"a"}`, "INVALID_BODY", "variables"},
		{`{"variables":{"user":7}}`, "INVALID_BODY", "variables.user"},
		{`{"variables":{"user":null}}`, "INVALID_BODY", "variables.user"},
		{`{"variables":{"user":{"a":"b"}}}`, "INVALID_BODY", "variables.user"},
		{`{"variables":{"User":"hunter2"}}`, "INVALID_BODY", "variables"},
		{`{"variables":{"user":"a\u0000"}}`, "INVALID_BODY", "variables"},
		{p(`{"variables":{"user":%q}}`, strings.Repeat("x", 4097)), "INVALID_BODY", "variables.user"},
		{`{"variables":{` + strings.Join(many, ",") + `}}`, "INVALID_BODY", "variables"},
		{`{"buildId":"7"}`, "INVALID_BODY", "buildId"},
		{`{"buildId":1.5}`, "INVALID_BODY", "buildId"},
		{`{"buildId":0}`, "BUILD_NOT_FOUND", "buildId"},
		{p(`{"buildId":%d}`, build+1000), "BUILD_NOT_FOUND", "buildId"},
		{`{"targets":[7]}`, "INVALID_BODY", "targets[0]"},
		{`{"targets":[{"capabilities":{"browserName":"chrome","goog:chromeOptions":{"binary":"/bin/sh"}}}]}`, "INVALID_BODY",
			"targets[0].capabilities"},
		{`{"targets":[{"capabilities":{"browserName":"chrome","slipway:options":{"tunnelName":"gone"}}}]}`, "SC_TUNNEL_NOT_FOUND", "targets[0]"},
		{`{"targets":[{"capabilities":{"platformName":"Android","appium:app":"storage:99999"}}]}`, "APP_NOT_FOUND", "appium:app"},
		{`{"retries":4}`, "INVALID_BODY", "retries"},
		{`{"retries":"2"}`, "INVALID_BODY", "retries"},
		{`{"environment":{}}`, "INVALID_BODY", "environment"},
	} {
		for _, path := range []string{"/testcases/" + id + "/run", "/testsuites/" + suite + "/run"} {
			w.refused(w.member, 400, tc.code, "POST", path, tc.text, tc.says)
		}
	}
	w.refused(w.member, 400, "INVALID_BODY", "POST", "/testsuites/"+suite+"/run", `{"scTunnelName":"office"}`, "scTunnelName")
	w.refused(w.member, 400, "INVALID_BODY", "POST", "/testsuites/"+suite+"/run", `{"targets":[
		{"capabilities":{"browserName":"chrome","slipway:options":{"tunnelName":"a"}}},{"capabilities":{"browserName":"chrome",`+
		`"slipway:options":{"tunnelName":"b"}}}]}`, "one tunnel")
	for _, path := range []string{"/testcases/" + theirs + "/run", "/testsuites/" + theirSuite + "/run"} {
		w.refused(w.stranger, 400, "BUILD_NOT_FOUND", "POST", path, p(`{"buildId":%d}`, build))
	}
	require.Zero(t, w.count(`select (select count(*) from test_runs) + (select count(*) from suite_runs)`))
	require.Zero(t, w.count(`select count(*) from tasks`))
	for _, path := range []string{"/testcases/" + id + "/run", "/testsuites/" + suite + "/run"} {
		started := w.ok(w.member, 200, "POST", path, `{"targets":[],"variables":{},"somethingElse":1}`)
		require.Len(t, started["warnings"], 1, "what nobody knows is named")
	}
}

// By the service's own check: private addresses need their setting, and one with a variable
// is checked when it is opened.
func TestInputsKeepToTheAddresses(t *testing.T) {
	t.Parallel()
	for private, status := range map[bool]int{false: 400, true: 200} {
		guard, err := outbound.New(outbound.Config{AllowPrivate: private})
		require.NoError(t, err)
		w := newWorld(t, func(cfg *handler.Config) { cfg.CheckURL = outbound.Pages{Guard: guard}.Check })
		id := w.newCase(w.member, "case", nil)
		for _, path := range []string{"/testcases/" + id + "/run", "/testsuites/" + w.newSuite(w.member, "suite", id) + "/run"} {
			rec := w.call(w.member, "POST", path, `{"testUrl":"http://127.0.0.1:8080/"}`)
			require.Equal(t, status, rec.Code, "%t: %s", private, rec.Body)
			require.Equal(t, 200, w.call(w.member, "POST", path, `{"testUrl":"{{preview}}/x"}`).Code)
		}
	}
}

// A service account, as a CI job has one, creates a case, runs it, and is who did so.
func TestServiceAccountInAuthoring(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var robot *account.User
	w.tx(func(ctx context.Context, tx *storage.Tx) (err error) {
		robot, err = account.CreateServiceAccount(ctx, tx, account.CLI(), account.NewServiceAccount{OrganizationID: w.ours.ID,
			Username: "robot", Role: account.Member, TeamID: w.one.ID})
		return err
	})
	as := &auth.Caller{OrganizationID: w.ours.ID, OrganizationUUID: w.ours.UUID, Username: "robot", Role: account.Member, Service: true,
		UserID: robot.ID, UserUUID: robot.UUID, Teams: []account.TeamPlace{{ID: w.one.ID}}}
	require.NotEqual(t, uuid.Nil, robot.UUID)
	id := w.newCase(as, "by a robot", nil)
	require.Equal(t, robot.UUID.String(), w.ok(as, 200, "GET", "/testcases/"+id, "")["creatorUserId"])
	run := w.ok(as, 200, "POST", "/testcases/"+id+"/run", `{}`)
	require.Equal(t, robot.UUID.String(), run["userId"])
	suite := w.newSuite(as, "by a robot", id)
	require.Equal(t, robot.UUID.String(), w.ok(as, 200, "POST", "/testsuites/"+suite+"/run", `{}`)["userId"])
	require.Equal(t, 1.0, w.ok(w.member, 200, "GET", "/testcases/"+id+"/runs?userId="+robot.UUID.String(), "")["total"])
	_, err := reading.ByID(t.Context(), w.db, w.ours.ID, id, idOf(run))
	require.NoError(t, err)
}
