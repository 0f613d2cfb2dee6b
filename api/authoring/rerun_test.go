package authoring_test

import (
	"context"
	"encoding/xml"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/attempt"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

// failAttempt begins a job and keeps an attempt of it that failed, as a worker does.
func (w *world) failAttempt(job uuid.UUID) {
	w.t.Helper()
	w.begin(job)
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		kept, err := attempt.End(ctx, tx, job, store.JobEnd{Status: store.Failed, ErrorCode: store.CodeAssertionFailed, Error: "not there yet",
			Records: []playback.Record{{StepID: "s1", Tool: step.Tool{Type: step.Click}, Status: playback.Failed,
				Result: step.Outcome{Message: "late"}}}})
		require.True(w.t, kept)
		return err
	})
}

func TestAttemptsAreShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withObjects(t))
	id := w.newCase(w.member, "flickers", nil)
	run := w.start(id, `{"retries":2}`)
	require.Equal(t, 2.0, run["retries"])
	require.Equal(t, 0.0, jobOf(run, 0)["attemptCount"])
	job := idOf(jobOf(run, 0))
	w.failAttempt(job)
	path := "/testcases/" + id + "/runs/" + run["id"].(string)
	w.begin(job)
	got := jobOf(w.ok(w.member, 200, "GET", path, ""), 0)
	require.Equal(t, "RUNNING", got["status"])
	require.Equal(t, 2.0, got["attemptCount"])
	w.end(job, store.JobEnd{Status: store.Passed, Records: []playback.Record{{StepID: "s1", Status: playback.Passed}}})

	whole := w.ok(w.member, 200, "GET", path, "")
	require.Equal(t, "PASSED", whole["status"])
	require.Equal(t, 1.0, whole["flaky"])
	got = jobOf(whole, 0)
	require.Equal(t, "FLAKY", got["status"])
	require.Equal(t, true, got["success"])
	require.Nil(t, got["error"])
	attempts := got["attempts"].([]any)
	require.Len(t, attempts, 2)
	first, last := attempts[0].(tree), attempts[1].(tree)
	requireMembers(t, first, tree{"number": 1.0, "status": "FAILED", "error": tree{"code": "ASSERTION_FAILED", "detail": "not there yet"}})
	require.Equal(t, "late", first["steps"].([]any)[0].(tree)["result"].(tree)["message"])
	requireMembers(t, last, tree{"number": 2.0, "status": "PASSED", "error": nil})
	for _, a := range attempts {
		requireTime(t, a.(tree)["startDate"])
		requireTime(t, a.(tree)["endDate"])
	}
	listed := w.ok(w.member, 200, "GET", "/testcases/"+id+"/runs", "")["items"].([]any)[0].(tree)
	require.Equal(t, 2.0, jobOf(listed, 0)["attemptCount"])
	require.NotContains(t, jobOf(listed, 0), "attempts")

	var report struct {
		Suites []struct {
			Failures int `xml:"failures,attr"`
			Cases    []struct {
				Flaky []struct {
					Message string `xml:"message,attr"`
					Type    string `xml:"type,attr"`
					Stack   string `xml:"stackTrace"`
					Output  string `xml:"system-out"`
				} `xml:"flakyFailure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	require.NoError(t, xml.Unmarshal(w.call(w.member, "GET", path+"?format=junit", "").Body.Bytes(), &report))
	require.Zero(t, report.Suites[0].Failures)
	flaky := report.Suites[0].Cases[0].Flaky
	require.Len(t, flaky, 1)
	require.Equal(t, "not there yet", flaky[0].Message)
	require.Equal(t, "ASSERTION_FAILED", flaky[0].Type)
	require.Equal(t, "ASSERTION_FAILED: not there yet", flaky[0].Stack)
	require.Equal(t, "1. FAILED click (0 ms): late\n", flaky[0].Output)
}

func TestRerunOfACase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "one", nil)
	run := w.start(id,
		`{"buildName":"nightly","testUrl":"https://preview.example.com/x","retries":1,"trace":"on","variables":{"user":"ann",`+
			`"password":"hunter2"},
		"targets":[{"capabilities":{"browserName":"chrome"}},{"capabilities":{"browserName":"firefox"}}]}`)
	path := "/testcases/" + id + "/runs/" + run["id"].(string) + "/rerun"
	w.refused(w.member, 409, "CONFLICT", "POST", path, ``, "not ended")
	w.end(idOf(jobOf(run, 0)), store.JobEnd{Status: store.Passed})
	w.end(idOf(jobOf(run, 1)), store.JobEnd{Status: store.Failed, ErrorCode: store.CodeStepFailed})

	given := `,"variables":{"user":"ann","password":"hunter2"}}`
	w.refused(w.member, 400, "INVALID_BODY", "POST", path, `{"only":"failed"}`, "variables", "password, user")
	w.refused(w.member, 400, "INVALID_BODY", "POST", path, `{"variables":{"user":"ann"}}`, "must have password:")
	w.refused(w.member, 400, "INVALID_BODY", "POST", path, `{"only":"passed"`+given, "only")
	w.refused(w.member, 400, "INVALID_BODY", "POST", path, `{"retries":4`+given, "retries")
	w.refused(w.member, 400, "INVALID_BODY", "POST", path, `{"testUrl":"https://a.example.com"`+given, "testUrl")
	w.refused(w.member, 400, "NOTHING_TO_RERUN", "POST", path, `{"only":"flaky"`+given, "flaky")
	w.refused(w.member, 404, "TEST_CASE_RUN_NOT_FOUND", "POST", "/testcases/"+id+"/runs/"+noUUID+"/rerun", ``)
	w.refused(w.stranger, 404, "TEST_CASE_NOT_FOUND", "POST", path, ``)
	w.refused(w.neighbor, 403, "FORBIDDEN", "POST", path, `{"only":"failed"`+given)
	require.Equal(t, 1, w.count(`select count(*) from test_runs`))

	again := w.ok(w.member, 200, "POST", path, `{"only":"failed"`+given)
	requireMembers(t, again, tree{"build": "nightly", "testUrl": "https://preview.example.com/x", "retries": 1.0, "status": "QUEUED",
		"rerunOf": run["id"], "variableNames": []any{"password", "user"}})
	require.Len(t, again["jobs"], 1)
	require.Equal(t, "firefox", jobOf(again, 0)["target"].(tree)["capabilities"].(tree)["browserName"])
	require.Equal(t, "queued", w.taskState(idOf(jobOf(again, 0))))
	require.Equal(t, 1, w.count(`select count(*) from audit_events where detail ->> 'rerun_of' = $1`, run["id"]))
	require.Equal(t, 1, w.count(`select count(*) from test_runs where id = $1 and trace = 'on'`, again["id"]))

	all := w.call(w.member, "POST", path, `{"retries":0`+given, "Idempotency-Key", "k1")
	require.Equal(t, 200, all.Code, all.Body)
	same := w.call(w.member, "POST", path, `{"retries":0`+given, "Idempotency-Key", "k1")
	require.JSONEq(t, all.Body.String(), same.Body.String())
	var both struct{ Data tree }
	require.NoError(t, jsonOf(all.Body.String(), &both))
	require.Len(t, both.Data["jobs"], 2)
	require.Equal(t, 0.0, both.Data["retries"])
}

func TestRerunOfASuite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	suite := w.newSuite(w.member, "smoke", w.newCase(w.member, "fails", nil), w.newCase(w.member, "flickers", nil),
		w.newCase(w.member, "passes", nil))
	run := w.ok(w.member, 200, "POST", "/testsuites/"+suite+"/run",
		`{"buildName":"nightly","retries":1,"trace":"on","testUrl":"https://preview.example.com"}`)
	path := "/testsuites/" + suite + "/runs/" + run["id"].(string)
	w.refused(w.member, 409, "CONFLICT", "POST", path+"/rerun", ``, "not ended")
	jobs := w.fanOut(idOf(run))
	w.failAttempt(jobs["fails"])
	w.begin(jobs["fails"])
	w.end(jobs["fails"], store.JobEnd{Status: store.Errored, ErrorCode: store.CodeTimeout, Error: "too long"})
	w.failAttempt(jobs["flickers"])
	w.end(jobs["flickers"], store.JobEnd{Status: store.Passed})
	w.refused(w.member, 409, "CONFLICT", "POST", path+"/rerun", ``)
	w.end(jobs["passes"], store.JobEnd{Status: store.Passed})

	got := w.ok(w.member, 200, "GET", path, "")
	requireMembers(t, got["counts"].(tree), tree{"total": 3.0, "passed": 2.0, "flaky": 1.0, "error": 1.0, "failed": 0.0, "quarantined": 0.0})
	report := w.call(w.member, "GET", path+"?format=junit", "").Body.String()
	require.Contains(t, report, `<error message="not there yet" type="ASSERTION_FAILED">`, "the first attempt")
	require.Contains(t, report, `<rerunError message="too long" type="TIMEOUT">`)
	require.Contains(t, report, `<flakyFailure message="not there yet" type="ASSERTION_FAILED">`)

	for only, want := range map[string][]string{`{"only":"failed"}`: {"fails"}, `{"only":"flaky"}`: {"flickers"},
		``: {"fails", "flickers", "passes"}} {
		again := w.ok(w.member, 200, "POST", path+"/rerun", only)
		requireMembers(t, again, tree{"buildName": "nightly", "runCount": float64(len(want)), "retries": 1.0,
			"rerunOf": run["id"], "testUrl": "https://preview.example.com"})
		require.Equal(t, 1, w.count(`select count(*) from suite_runs where id = $1 and trace = 'on'`, again["id"]))
		names := []string{}
		for name := range w.fanOut(idOf(again)) {
			names = append(names, name)
		}
		require.ElementsMatch(t, want, names)
		require.Equal(t, "queued", w.taskState(idOf(again)))
	}
	spare := w.ok(w.member, 200, "POST", path+"/rerun", `{"only":"failed","note":1}`)
	require.Equal(t, []any{`"note" is no member of this request and was ignored`}, spare["warnings"])
	w.refused(w.member, 400, "INVALID_BODY", "POST", path+"/rerun", `{"targets":[]}`, "targets")
	w.refused(w.neighbor, 403, "FORBIDDEN", "POST", path+"/rerun", ``)
	w.refused(w.stranger, 404, "TEST_SUITE_NOT_FOUND", "POST", path+"/rerun", ``)
	w.refused(w.member, 404, "TEST_CASE_RUN_NOT_FOUND", "POST", "/testsuites/"+suite+"/runs/"+noUUID+"/rerun", ``)
	clean := w.ok(w.member, 200, "POST", "/testsuites/"+suite+"/run", ``)
	for _, job := range w.fanOut(idOf(clean)) {
		w.end(job, store.JobEnd{Status: store.Passed})
	}
	w.refused(w.member, 400, "NOTHING_TO_RERUN", "POST", "/testsuites/"+suite+"/runs/"+clean["id"].(string)+"/rerun",
		`{"only":"failed"}`, "failed")
}

func TestRetriesOfSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "one", nil)
	suite := w.newSuite(w.member, "smoke", id)
	of := func(path string) any {
		got := w.ok(w.member, 200, "GET", path, "")
		if settings, is := got["runSettings"].(tree); is {
			return settings["retries"]
		}
		return got["retries"]
	}
	for path, wrap := range map[string]string{"/testcases/" + id: `{"runSettings":{"retries":%s}}`, "/testsuites/" + suite: `{"retries":%s}`} {
		require.Nil(t, of(path))
		for _, step := range []struct {
			text string
			want any
		}{{"3", 3.0}, {"0", 0.0}, {"null", nil}, {"2", 2.0}} {
			w.ok(w.member, 200, "POST", path, p(wrap, step.text))
			require.Equal(t, step.want, of(path), step.text)
		}
		for _, text := range []string{"4", "-2", `"1"`, "1.5", "true"} {
			w.refused(w.member, 400, "INVALID_BODY", "POST", path, p(wrap, text), "retries")
		}
		w.ok(w.member, 200, "POST", path, `{"name":"other"}`)
		require.Equal(t, 2.0, of(path), "what is not sent stays")
	}
	made := w.ok(w.member, 201, "POST", "/testsuites", `{"name":"new","retries":1}`)
	require.Equal(t, 1.0, made["retries"])
	w.refused(w.member, 400, "INVALID_BODY", "POST", "/testsuites", `{"name":"new","retries":9}`, "retries")
}

func TestQuarantine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "flickers", nil)
	suite := w.newSuite(w.member, "smoke", id)
	path := "/testcases/" + id + "/quarantine"
	until := time.Now().Add(48 * time.Hour).UTC().Format(time.RFC3339)
	for text, says := range map[string]string{``: "reason", `{"reason":"x"}`: "until", p(`{"until":%q}`, until): "reason",
		p(`{"reason":" ","until":%q}`, until): "reason", `{"reason":"x","until":"tomorrow"}`: "until",
		`{"reason":"x","until":"2020-01-01T00:00:00Z"}`: "until",
		`{"reason":"x","until":"2999-01-01T00:00:00Z"}`: "until"} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", path, text, says)
	}
	w.refused(w.neighbor, 403, "FORBIDDEN", "POST", path, p(`{"reason":"x","until":%q}`, until))
	w.refused(w.stranger, 404, "TEST_CASE_NOT_FOUND", "POST", path, p(`{"reason":"x","until":%q}`, until))
	w.refused(w.member, 409, "CONFLICT", "DELETE", path, ``, "no quarantine")

	put := w.ok(w.member, 200, "POST", path, p(`{"reason":"late map","until":%q}`, until))
	requireMembers(t, put["quarantine"].(tree), tree{"reason": "late map", "until": until[:19] + ".000Z"})
	w.newCase(w.member, "stands", nil)
	require.Equal(t, []string{"flickers"}, names(w.ok(w.member, 200, "GET", "/testcases?quarantined=true", ""), "name"))
	require.Len(t, w.ok(w.member, 200, "GET", "/testcases?quarantined=false", "")["items"], 2)
	w.refused(w.member, 400, "INVALID_QUERY", "GET", "/testcases?quarantined=perhaps", "", "quarantined")

	run := w.ok(w.member, 200, "POST", "/testsuites/"+suite+"/run", ``)
	runPath := "/testsuites/" + suite + "/runs/" + run["id"].(string)
	jobs := w.fanOut(idOf(run))
	require.Equal(t, 204, w.call(w.member, "DELETE", path, "").Code)
	w.end(jobs["flickers"], store.JobEnd{Status: store.Failed, ErrorCode: store.CodeStepFailed, Error: "no map"})
	got := w.ok(w.member, 200, "GET", runPath, "")
	require.Equal(t, "PASSED", got["status"])
	requireMembers(t, got["counts"].(tree), tree{"total": 1.0, "failed": 0.0, "quarantined": 1.0})
	of := got["caseRuns"].([]any)[0].(tree)
	require.Equal(t, "FAILED", of["status"])
	require.Equal(t, "late map", of["quarantine"].(tree)["reason"])
	report := w.call(w.member, "GET", runPath+"?format=junit", "").Body.String()
	require.Contains(t, report, `failures="0" errors="0" skipped="1"`)
	require.Contains(t, report, `<skipped message="quarantined: late map">`)
	require.Contains(t, report, `<property name="quarantinedFailure" value="STEP_FAILED: no map">`)
	single := w.call(w.member, "GET", "/testcases/"+id+"/runs/"+of["id"].(string)+"?format=junit", "").Body.String()
	require.Contains(t, single, "quarantined: late map")
	require.NotContains(t, w.ok(w.member, 200, "GET", "/testcases/"+id, ""), "quarantine", "it was ended")
}

func TestQuarantineIsProposed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "flickers", nil)
	for range 3 {
		require.NotContains(t, w.ok(w.member, 200, "GET", "/testcases/"+id, ""), "quarantineProposed")
		job := idOf(jobOf(w.start(id, `{"buildName":"nightly"}`), 0))
		w.failAttempt(job)
		w.end(job, store.JobEnd{Status: store.Passed})
	}
	got := w.ok(w.member, 200, "GET", "/testcases/"+id, "")["quarantineProposed"].(tree)
	require.Contains(t, got["reason"], "3 times")
	requireTime(t, got["since"])
	until := time.Now().Add(48 * time.Hour).UTC().Format(time.RFC3339)
	put := w.ok(w.member, 200, "POST", "/testcases/"+id+"/quarantine", p(`{"reason":"late map","until":%q}`, until))
	require.NotContains(t, put, "quarantineProposed")
}
