package authoring_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

const chrome = `{"capabilities":{"browserName":"chrome"}}`

func TestRunIsShownWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "Sign in", nil)
	made := w.start(strings.ToUpper(id), ``)
	requireUUID(t, made["id"])
	requireUUID(t, made["orgId"])
	requireTime(t, made["creationDate"])
	revisions := w.ok(w.member, 200, "GET", "/testcases/"+id, "")["revisions"].([]any)
	requireMembers(t, made, tree{"build": "Sign in", "orgId": w.ours.UUID.String(), "teamId": w.one.UUID.String(), "testCaseId": id,
		"userId": w.member.UserUUID.String(), "testUrl": "https://shop.example.com/", "status": "QUEUED", "testCaseName": "Sign in",
		"revisionId": revisions[0].(tree)["id"], "suiteRunId": nil, "scTunnelName": "", "healed": 0.0, "drifted": 0.0, "flaky": 0.0})
	require.Len(t, made, 19, "no startDate and no endDate yet: %v", members(made))
	require.Len(t, made["jobs"], 1)
	job := jobOf(made, 0)
	requireMembers(t, job, tree{"name": "Sign in", "url": "https://shop.example.com/", "error": nil, "status": "QUEUED",
		"steps": []any{}, "files": []any{}, "healed": 0.0, "drifted": 0.0, "target": tree{"isRdc": false,
			"capabilities": tree{"browserName": "chrome",
				"slipway:options": tree{"name": "Sign in", "build": "Sign in"}}}})
	require.NotContains(t, job, "success")
	require.Equal(t, "queued", w.taskState(idOf(job)), "the job's task has its id")
	require.Equal(t, 1, w.count(`select count(*) from audit_events where type = $1`, account.TestRunStarted))
	require.Equal(t, made, w.ok(w.neighbor, 200, "GET", "/testcases/"+id+"/runs/"+bare(made["id"]), ""))
	require.Equal(t, "Sign in", w.ok(w.member, 200, "GET", "/testcases/"+id, "")["runSettings"].(tree)["lastBuildName"])
}

func TestRunTargetsAndNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.newTunnel("office")
	long := strings.Repeat("ä", 150)
	plain := w.newCase(w.member, "plain", nil)
	named := w.newCase(w.member, long, nil)
	bound := w.newCase(w.member, "bound", tree{"runSettings": tree{"scTunnelName": "office",
		"primaryTarget": tree{"capabilities": tree{"browserName": "chrome", "browserVersion": "120"}},
		"runTargets":    []any{tree{"capabilities": tree{"browserName": "firefox"}}, tree{"capabilities": tree{"acceptInsecureCerts": true}}}}})
	none := w.newCase(w.member, "none", tree{"runSettings": tree{}})
	for name, tc := range map[string]struct {
		id, text, build, tunnel string
		capabilities            []string // of the targets, without the vendor's options
	}{
		"stored":         {plain, `{}`, "plain", "", []string{`{"browserName":"chrome"}`}},
		"nulls":          {plain, `{"buildName":null,"targets":null,"scTunnelName":null}`, "plain", "", []string{`{"browserName":"chrome"}`}},
		"no targets":     {plain, `{"targets":[]}`, "plain", "", []string{`{"browserName":"chrome"}`}},
		"build":          {plain, `{"buildName":" build 7 "}`, "build 7", "", []string{`{"browserName":"chrome"}`}},
		"default is cut": {named, ``, strings.Repeat("ä", 100), "", []string{`{"browserName":"chrome"}`}},
		"as long as can": {plain, p(`{"buildName":%q}`, long[:200]), long[:200], "", []string{`{"browserName":"chrome"}`}},
		"given": {plain, `{"targets":[{"capabilities":{"browserName":"firefox"},"isRdc":true}]}`, "plain",
			"", []string{`{"browserName":"firefox"}`}},
		"given to none": {none, `{"targets":[` + chrome + `]}`, "none", "", []string{`{"browserName":"chrome"}`}},
		"empty targets": {bound, `{"targets":[{},{"capabilities":{}},{"capabilities":null,"isRdc":true}]}`, "bound", "office",
			[]string{`{"browserName":"firefox"}`, `{"browserName":"chrome","browserVersion":"120","acceptInsecureCerts":true}`}},
		"one is empty": {bound, `{"targets":[{},` + chrome + `],"scTunnelName":null}`, "bound", "", []string{`{"browserName":"chrome"}`}},
		"over primary": {bound, ``, "bound", "office", []string{`{"browserName":"firefox"}`,
			`{"browserName":"chrome","browserVersion":"120","acceptInsecureCerts":true}`}},
		"tunnel":       {plain, `{"scTunnelName":"office"}`, "plain", "office", []string{`{"browserName":"chrome"}`}},
		"empty tunnel": {bound, `{"scTunnelName":"","targets":[` + chrome + `]}`, "bound", "", []string{`{"browserName":"chrome"}`}},
		"other app": {plain, `{"targets":[{"capabilities":{"appium:app":"https://x.example.com/a.apk"}}]}`, "plain",
			"", []string{`{"appium:app":"https://x.example.com/a.apk"}`}},
		"of another type": {plain, `{"targets":[` + chrome + `,` + chrome + `]}`, "plain", "",
			[]string{`{"browserName":"chrome"}`, `{"browserName":"chrome"}`}},
	} {
		run := w.start(tc.id, tc.text)
		require.Equal(t, tc.build, run["build"], name)
		require.Equal(t, tc.tunnel, run["scTunnelName"], name)
		require.Len(t, run["jobs"], len(tc.capabilities), name)
		for i, want := range tc.capabilities {
			job := jobOf(run, i)
			capabilities := job["target"].(tree)["capabilities"].(tree)
			options := tree{"name": run["testCaseName"], "build": tc.build}
			if tc.tunnel != "" {
				options["tunnelName"] = tc.tunnel
			}
			require.Equal(t, options, capabilities["slipway:options"], name)
			delete(capabilities, "slipway:options")
			require.JSONEq(t, want, asJSON(t, capabilities), name)
			require.Equal(t, "queued", w.taskState(idOf(job)), name)
		}
	}
	run := w.start(bound, ``)
	require.Equal(t, "bound (target 1: firefox)", jobOf(run, 0)["name"])
	require.Equal(t, "bound (target 2: chrome 120)", jobOf(run, 1)["name"])
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "case", nil)
	none := w.newCase(w.member, "none", tree{"runSettings": tree{}})
	empty := w.newCase(w.member, "empty", nil)
	gone := w.newCase(w.member, "gone tunnel", tree{"runSettings": tree{"scTunnelName": "gone",
		"target": tree{"capabilities": tree{"browserName": "chrome"}}}})
	_, err := w.db.ExecContext(t.Context(), `update test_revisions set steps = '[]' where case_id = $1`, empty)
	require.NoError(t, err)
	many := "[" + strings.Repeat(chrome+",", authoring.MaxTargets) + chrome + "]"
	for _, tc := range []struct {
		id, text, code, says string
	}{
		{id, `[]`, "INVALID_BODY", "object"},
		{id, `"x"`, "INVALID_BODY", "object"},
		{id, `{"buildName":7}`, "INVALID_BODY", "buildName"},
		{id, p(`{"buildName":%q}`, strings.Repeat("x", 101)), "INVALID_BODY", "buildName"},
		{id, `{"buildName":"a\u0001b"}`, "INVALID_BODY", "buildName"},
		{id, `{"targets":{}}`, "INVALID_BODY", "targets"},
		{id, `{"targets":[7]}`, "INVALID_BODY", "targets[0]"},
		{id, `{"targets":[` + chrome + `,null]}`, "INVALID_BODY", "targets[1]"},
		{id, `{"targets":[{"capabilities":7}]}`, "INVALID_BODY", "targets[0].capabilities"},
		{id, `{"targets":[{"capabilities":{"browserName":7}}]}`, "INVALID_BODY", "targets[0].capabilities.browserName"},
		{id, `{"targets":[{"capabilities":{"unknown":7}}]}`, "INVALID_BODY", "targets[0].capabilities.unknown"},
		{id, `{"targets":` + many + `}`, "INVALID_BODY", "targets"},
		{id, `{"scTunnelName":7}`, "INVALID_BODY", "scTunnelName"},
		{id, `{"scTunnelName":"a\u0000"}`, "INVALID_BODY", "scTunnelName"},
		{id, `{"scTunnelName":"office"}`, "SC_TUNNEL_NOT_FOUND", "scTunnelName"},
		{gone, `{}`, "SC_TUNNEL_NOT_FOUND", "scTunnelName"},
		{none, `{}`, "NO_RUN_TARGETS", "target"},
		{none, `{"targets":[{"isRdc":true}]}`, "NO_RUN_TARGETS", "target"},
		{empty, `{}`, "TEST_CASE_EMPTY", "no steps"},
		{none, `{"targets":[{"capabilities":{"platformName":"Android","appium:app":"storage:99999"},"isRdc":true}]}`,
			"APP_NOT_FOUND", "appium:app"},
		{id, `{"targets":[{"capabilities":{"appium:app":"storage:filename=shop.apk"}}]}`, "APP_NOT_FOUND", "appium:app"},
		{id, `{"targets":[{"capabilities":{"appium:options":{"app":"storage:x"}}}]}`, "APP_NOT_FOUND", "appium:app"},
	} {
		w.refused(w.member, 400, tc.code, "POST", "/testcases/"+tc.id+"/run", tc.text, tc.says)
	}
	w.refused(w.member, 400, "INVALID_PARAMS", "POST", "/testcases/7/run", `{}`, "id")
	w.refused(w.member, 400, "INVALID_PARAMS", "POST", "/testcases/7/run/"+noCase, `{}`, "id")
	w.refused(w.member, 400, "INVALID_PARAMS", "POST", "/testcases/"+id+"/run/7", `{}`, "revisionId")
	w.refused(w.member, 404, "TEST_CASE_NOT_FOUND", "POST", "/testcases/"+noCase+"/run", `{}`)
	w.refused(w.stranger, 404, "TEST_CASE_NOT_FOUND", "POST", "/testcases/"+id+"/run", `{}`)
	w.refused(w.member, 404, "TEST_CASE_REVISION_NOT_FOUND", "POST", "/testcases/"+id+"/run/"+noCase, `{}`)
	w.refused(w.neighbor, 403, "FORBIDDEN", "POST", "/testcases/"+id+"/run", `{}`)
	require.Zero(t, w.count(`select count(*) from test_runs`))
	require.Zero(t, w.count(`select count(*) from tasks`))
}

func TestRunOfAnApp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, build := w.newCase(w.member, "case", nil), w.newBuild("shop.apk")
	for _, app := range []string{fmt.Sprintf("storage:%d", build), "storage:filename=shop.apk"} {
		text := p(`{"targets":[{"capabilities":{"appium:app":%q},"isRdc":true}]}`, app)
		target := jobOf(w.start(id, text), 0)["target"].(tree)
		require.Equal(t, app, target["capabilities"].(tree)["appium:app"])
		require.Equal(t, true, target["isRdc"])
		theirs := w.newCase(w.stranger, "case", nil)
		w.refused(w.stranger, 400, "APP_NOT_FOUND", "POST", "/testcases/"+theirs+"/run", text)
	}
}

func TestRunRevision(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, other := w.newCase(w.member, "case", nil), w.newCase(w.member, "other", nil)
	revisionOf := func(id string) string {
		return w.ok(w.member, 200, "GET", "/testcases/"+id, "")["revisions"].([]any)[0].(tree)["id"].(string)
	}
	run := w.ok(w.member, 200, "POST", "/testcases/"+id+"/run/"+strings.ToUpper(revisionOf(id)), `{"buildName":"b"}`)
	require.Equal(t, revisionOf(id), run["revisionId"])
	require.Equal(t, "b", run["build"])
	w.refused(w.member, 404, "TEST_CASE_REVISION_NOT_FOUND", "POST", "/testcases/"+id+"/run/"+revisionOf(other), ``)
}

func TestRunIsStartedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, other := w.newCase(w.member, "case", nil), w.newCase(w.member, "other", nil)
	suite := w.newSuite(w.member, "suite", id)
	for _, path := range []string{"/testcases/" + id + "/run", "/testsuites/" + suite + "/run"} {
		answers := make([]tree, 6)
		var wg sync.WaitGroup
		for i := range answers {
			wg.Go(func() {
				rec := w.call(w.member, "POST", path, `{}`, "Idempotency-Key", "key-1")
				var answer struct{ Data tree }
				if rec.Code == 200 && json.Unmarshal(rec.Body.Bytes(), &answer) == nil {
					answers[i] = answer.Data
				}
			})
		}
		wg.Wait()
		for _, answer := range answers {
			require.NotNil(t, answer)
			require.Equal(t, answers[0], answer)
		}
		for _, key := range []string{" x", strings.Repeat("x", 256), "a\tb"} {
			rec := w.call(w.member, "POST", path, `{}`, "Idempotency-Key", key)
			require.Equal(t, 400, rec.Code, key)
			require.Contains(t, rec.Body.String(), "Idempotency-Key", key)
		}
		rec := w.call(w.member, "POST", path, `{}`, "Idempotency-Key", "key-2")
		require.Equal(t, 200, rec.Code)
		require.NotContains(t, rec.Body.String(), answers[0]["id"])
	}
	require.Equal(t, 200, w.call(w.member, "POST", "/testcases/"+other+"/run", ``, "Idempotency-Key", "key-1").Code)
	require.Equal(t, 3, w.count(`select count(*) from test_runs`), "a key stands for one case")
	require.Equal(t, 2, w.count(`select count(*) from suite_runs`))
	require.Equal(t, 5, w.count(`select count(*) from tasks`))
}

// failedEnd is how a job ends of which the first step was healed and the second
// failed.
func failedEnd(job uuid.UUID) (store.JobEnd, uuid.UUID) {
	picture := uuid.New()
	healed := &playback.Healed{From: step.Selector{Type: step.CSS, Value: "#old"}, To: step.Selector{Type: step.CSS, Value: "#new"},
		Score: 0.9, Reason: "same text"}
	return store.JobEnd{Status: store.Failed, ErrorCode: store.CodeAssertionFailed, Error: `found "a", not "b"`,
		Records: []playback.Record{
			{StepID: "s1", Tool: step.Tool{Type: step.Click}, Status: playback.Passed, Result: step.Outcome{Success: true,
				Message: "clicked"},
				Healed: healed, StartMS: 5, TookMS: 7, ScreenshotID: picture.String()},
			{StepID: "s2", Tool: step.Tool{Type: step.Assert}, Status: playback.Failed, Result: step.Outcome{Message: "not equal"},
				StartMS: 12}},
		Files: []store.NewFile{{ID: picture, Kind: store.Screenshot, Key: store.FileKey(job, picture), ContentType: "image/png", Size: 3}},
	}, picture
}

func TestRunThatFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withObjects(t))
	id := w.newCase(w.member, "case", nil)
	run := w.start(id, `{"targets":[`+chrome+`,`+chrome+`]}`)
	path := "/testcases/" + id + "/runs/" + run["id"].(string)
	first, second := idOf(jobOf(run, 0)), idOf(jobOf(run, 1))
	w.begin(first)
	got := w.ok(w.member, 200, "GET", path, "")
	require.Equal(t, "RUNNING", got["status"])
	requireTime(t, got["startDate"])
	requireTime(t, jobOf(got, 0)["startDate"])
	require.NotContains(t, got, "endDate")
	require.NotContains(t, jobOf(got, 0), "success")
	end, picture := failedEnd(first)
	w.end(first, end)
	w.end(second, store.JobEnd{Status: store.Passed})

	got = w.ok(w.member, 200, "GET", path, "")
	require.Equal(t, "FAILED", got["status"])
	require.Equal(t, 1.0, got["healed"])
	requireTime(t, got["endDate"])
	job := jobOf(got, 0)
	require.Equal(t, false, job["success"])
	require.Equal(t, tree{"code": "ASSERTION_FAILED", "detail": `found "a", not "b"`}, job["error"])
	require.Equal(t, 1.0, job["healed"])
	requireTime(t, job["endDate"])
	link := job["files"].([]any)[0].(tree)["url"].(string)
	require.Contains(t, link, base+"/objects/runs/"+first.String())
	require.Contains(t, link, "name=screenshot-1.png")
	require.Equal(t, []any{tree{"id": picture.String(), "kind": "screenshot", "step": 0.0, "contentType": "image/png",
		"size": 3.0, "url": link}}, job["files"])
	healed := tree{"from": tree{"type": "css", "value": "#old"}, "to": tree{"type": "css", "value": "#new"}, "score": 0.9,
		"reason": "same text"}
	healing := w.ok(w.member, 200, "GET", "/testcases/"+id+"/healings", "")["items"].([]any)[0].(tree)["id"]
	require.Equal(t, []any{
		tree{"id": "s1", "tool": tree{"type": "click", "args": tree{}}, "status": "PASSED", "result": tree{"success": true, "message": "clicked"},
			"healed": healed, "healingId": healing, "startMs": 5.0, "tookMs": 7.0, "screenshotUrl": link},
		tree{"id": "s2", "tool": tree{"type": "assert", "args": tree{}}, "status": "FAILED",
			"result":  tree{"success": false, "message": "not equal"},
			"startMs": 12.0, "tookMs": 0.0, "screenshotUrl": ""},
	}, job["steps"])
	require.Equal(t, true, jobOf(got, 1)["success"])
	require.Nil(t, jobOf(got, 1)["error"])

	item := w.ok(w.member, 200, "GET", "/testcases/"+id+"/runs", "")["items"].([]any)[0].(tree)
	for _, of := range []tree{job, jobOf(got, 1)} {
		delete(of, "steps")
		delete(of, "files")
	}
	require.Equal(t, got, item, "a list has neither steps nor files")

	// Steps that are too many for one answer are left out; files are not.
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		_, err := tx.ExecContext(ctx, `update test_jobs set records = jsonb_build_array(jsonb_build_object('stepId', repeat('x', 5000000)))`)
		return err
	})
	got = w.ok(w.member, 200, "GET", path, "")
	require.Len(t, jobOf(got, 0)["steps"], 1)
	require.NotContains(t, jobOf(got, 1), "steps")
	require.Contains(t, jobOf(got, 1), "files")
}

func TestRunIsFoundByItsOwnOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, other := w.newCase(w.member, "case", nil), w.newCase(w.member, "other", nil)
	run := w.start(id, ``)["id"].(string)
	for method, end := range map[string]string{"GET": "", "POST": "/cancel"} {
		w.refused(w.member, 404, "TEST_CASE_RUN_NOT_FOUND", method, "/testcases/"+other+"/runs/"+run+end, ``)
		w.refused(w.member, 404, "TEST_CASE_RUN_NOT_FOUND", method, "/testcases/"+id+"/runs/"+noUUID+end, ``)
		w.refused(w.member, 404, "TEST_CASE_NOT_FOUND", method, "/testcases/"+noCase+"/runs/"+run+end, ``)
		w.refused(w.stranger, 404, "TEST_CASE_NOT_FOUND", method, "/testcases/"+id+"/runs/"+run+end, ``)
		w.refused(w.member, 400, "INVALID_PARAMS", method, "/testcases/7/runs/"+run+end, ``, "id")
		w.refused(w.member, 400, "INVALID_PARAMS", method, "/testcases/"+id+"/runs/7"+end, ``, "runId")
	}
	w.refused(w.stranger, 404, "TEST_CASE_NOT_FOUND", "GET", "/testcases/"+id+"/runs", ``)
	w.refused(w.member, 400, "INVALID_PARAMS", "GET", "/testcases/7/runs", ``, "id")
	for query, field := range map[string]string{"wait=61": "wait", "wait=-1": "wait", "wait=x": "wait", "format=pdf": "format"} {
		w.refused(w.member, 400, "INVALID_QUERY", "GET", "/testcases/"+id+"/runs/"+run+"?"+query, ``, field)
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, other := w.newCase(w.both, "case", nil), w.newCase(w.member, "other", nil)
	for _, run := range []struct{ build, at string }{{"one", "2026-01-01T10:00:00Z"}, {"two", "2026-01-02T12:00:00Z"},
		{"three", "2026-01-03T00:00:00Z"}} {
		by := w.both
		if run.build == "two" {
			by = w.member
		}
		made := w.ok(by, 200, "POST", "/testcases/"+id+"/run", p(`{"buildName":%q}`, run.build))
		w.created("test_runs", made["id"].(string), run.at)
	}
	w.start(other, ``)
	for query, want := range map[string][]string{
		"":                                       {"three", "two", "one"},
		"startDate=2026-01-02":                   {"three", "two"},
		"endDate=2026-01-02":                     {"two", "one"},
		"userId=" + w.member.UserUUID.String():   {"two"},
		"teamId=" + bare(w.one.UUID):             {"three", "two", "one"},
		"teamId=" + w.two.UUID.String():          {},
		"teamId=" + noUUID + "&userId=" + noUUID: {},
	} {
		got := w.ok(w.member, 200, "GET", "/testcases/"+id+"/runs?"+query, "")
		require.Equal(t, want, names(got, "build"), query)
		require.EqualValues(t, len(want), got["total"], query)
	}
	for query, want := range map[string][]string{"skip=1&limit=1": {"two"}, "limit=0": {}, "skip=3": {}} {
		got := w.ok(w.member, 200, "GET", "/testcases/"+id+"/runs?"+query, "")
		require.Equal(t, want, names(got, "build"), query)
		require.EqualValues(t, 3, got["total"], query)
	}
	for query, field := range map[string]string{"limit=-1": "limit", "skip=x": "skip", "startDate=x": "startDate",
		"userId=7": "userId", "teamId=x": "teamId"} {
		w.refused(w.member, 400, "INVALID_QUERY", "GET", "/testcases/"+id+"/runs?"+query, "", field)
		w.refused(w.member, 400, "INVALID_QUERY", "GET", "/testsuites/"+noUUID+"/runs?"+query, "", field)
	}
}

func TestRunIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withWatcher(t))
	id := w.newCase(w.member, "case", nil)
	suite := w.newSuite(w.member, "suite", id)
	run := w.start(id, ``)
	suiteRun := w.ok(w.member, 200, "POST", "/testsuites/"+suite+"/run", ``)
	jobs := w.fanOut(idOf(suiteRun))
	for path, job := range map[string]uuid.UUID{
		"/testcases/" + id + "/runs/" + run["id"].(string):          idOf(jobOf(run, 0)),
		"/testsuites/" + suite + "/runs/" + suiteRun["id"].(string): jobs["case"],
	} {
		answer := make(chan string)
		go func() { answer <- w.call(w.member, "GET", path+"?wait=60", "").Body.String() }()
		select {
		case text := <-answer:
			t.Fatalf("answered before the run has ended: %s", text)
		case <-time.After(50 * time.Millisecond):
		}
		w.end(job, store.JobEnd{Status: store.Passed})
		require.Contains(t, <-answer, `"status":"PASSED"`)
		// One that has ended is not waited for.
		require.Equal(t, "PASSED", w.ok(w.member, 200, "GET", path+"?wait=60", "")["status"])
	}
	open := w.start(id, ``)
	require.Equal(t, "QUEUED", w.ok(w.member, 200, "GET", "/testcases/"+id+"/runs/"+open["id"].(string)+"?wait=1", "")["status"])
}

func TestCancelRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "case", nil)
	run := w.start(id, `{"targets":[`+chrome+`,`+chrome+`]}`)
	path := "/testcases/" + id + "/runs/" + run["id"].(string)
	first, second := idOf(jobOf(run, 0)), idOf(jobOf(run, 1))
	w.end(first, store.JobEnd{Status: store.Passed})
	w.refused(w.neighbor, 403, "FORBIDDEN", "POST", path+"/cancel", ``)
	got := w.ok(w.both, 200, "POST", path+"/cancel", ``)
	require.Equal(t, "CANCELLED", got["status"])
	require.Equal(t, "PASSED", jobOf(got, 0)["status"])
	require.Equal(t, "CANCELLED", jobOf(got, 1)["status"])
	require.Equal(t, false, jobOf(got, 1)["success"])
	require.Equal(t, "cancelled", w.taskState(second))
	require.Equal(t, "queued", w.taskState(first), "it had ended by itself")
	w.refused(w.member, 409, "CONFLICT", "POST", path+"/cancel", ``, "ended")
	require.Equal(t, 1, w.count(`select count(*) from audit_events where type = $1`, account.TestRunCancelled))
}

func TestRunIsHandedOver(t *testing.T) {
	t.Parallel()
	redis, err := dispatch.OpenRedis(dispatch.RedisConfig{URL: servicetest.RedisURL(t)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = redis.Close() })
	var fast *dispatch.Enqueuer
	w := newWorld(t, func(cfg *handler.Config) {
		fast = dispatch.NewEnqueuer(redis, slog.New(slog.DiscardHandler))
		cfg.Queue = fast
	})
	id := w.newCase(w.member, "case", nil)
	suite := w.newSuite(w.member, "suite", id)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); fast.Run(ctx) }()
	defer func() { cancel(); <-done }()
	// The first look at Redis makes room; until then what is started waits for the relay.
	require.Eventually(t, func() bool {
		w.start(id, ``)
		w.ok(w.member, 200, "POST", "/testsuites/"+suite+"/run", ``)
		depths, err := redis.Depths(t.Context())
		require.NoError(t, err)
		pending := map[string]int64{}
		for _, d := range depths {
			if d.State == "pending" {
				pending[d.Queue] = d.Count
			}
		}
		return pending[tasks.Run] > 0 && pending[tasks.Critical] > 0
	}, time.Minute, 50*time.Millisecond, "Redis has them without the relay")
}
