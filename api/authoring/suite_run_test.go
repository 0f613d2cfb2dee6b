package authoring_test

import (
	"encoding/xml"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/object"
	store "github.com/slipway-qa/slipway/storage/run"
)

func TestSuiteRunIsShownWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withObjects(t))
	cases := []string{w.newCase(w.member, "a fails", nil), w.newCase(w.member, "b breaks", nil), w.newCase(w.member, "c passes", nil),
		w.newCase(w.member, "d has no target", tree{"runSettings": tree{}})}
	suite := w.newSuite(w.member, "smoke", cases...)
	made := w.ok(w.member, 200, "POST", "/testsuites/"+bare(suite)+"/run", `{"buildName":"nightly"}`)
	requireUUID(t, made["id"])
	requireTime(t, made["creationDate"])
	counts := func(set tree) tree {
		all := tree{"total": 3.0, "queued": 0.0, "running": 0.0, "passed": 0.0, "failed": 0.0, "error": 0.0, "cancelled": 0.0,
			"quarantined": 0.0, "flaky": 0.0}
		for name, n := range set {
			all[name] = n
		}
		return all
	}
	requireMembers(t, made, tree{"buildName": "nightly", "orgId": w.ours.UUID.String(), "runCount": 3.0, "teamId": w.one.UUID.String(),
		"userId": w.member.UserUUID.String(), "testSuiteId": suite, "testSuiteName": "smoke", "status": "QUEUED", "error": nil,
		"counts": counts(tree{"queued": 3.0}), "healed": 0.0, "drifted": 0.0})
	require.Len(t, made, 14, members(made))
	require.Equal(t, "queued", w.taskState(idOf(made)), "the task has the run's id")
	require.Equal(t, 1, w.count(`select count(*) from audit_events where type = $1`, account.TestSuiteRunStarted))
	require.Equal(t, 1.0, w.ok(w.member, 200, "GET", "/testsuites/"+suite, "")["runCount"])

	path := "/testsuites/" + suite + "/runs/" + made["id"].(string)
	got := w.ok(w.neighbor, 200, "GET", path, "")
	require.Equal(t, []any{}, got["caseRuns"])
	require.Equal(t, []any{}, got["failureGroups"])
	delete(got, "caseRuns")
	delete(got, "failureGroups")
	require.Equal(t, made, got)
	require.Equal(t, []any{made}, w.ok(w.member, 200, "GET", "/testsuites/"+suite+"/runs", "")["items"])

	jobs := w.fanOut(idOf(made))
	require.Len(t, jobs, 3)
	w.begin(jobs["a fails"])
	got = w.ok(w.member, 200, "GET", path, "")
	require.Equal(t, "RUNNING", got["status"])
	requireTime(t, got["startDate"])
	require.Equal(t, counts(tree{"queued": 2.0, "running": 1.0}), got["counts"])
	end, _ := failedEnd(jobs["a fails"])
	w.end(jobs["a fails"], end)
	w.end(jobs["b breaks"], store.JobEnd{Status: store.Errored, ErrorCode: store.CodeNoSession, Error: "no browser"})
	end, _ = failedEnd(jobs["c passes"])
	w.end(jobs["c passes"], store.JobEnd{Status: store.Passed, Records: end.Records, Files: end.Files})

	got = w.ok(w.member, 200, "GET", path, "")
	require.Equal(t, "FAILED", got["status"])
	requireTime(t, got["endDate"])
	require.Equal(t, counts(tree{"failed": 1.0, "error": 1.0, "passed": 1.0}), got["counts"])
	runs := got["caseRuns"].([]any)
	require.Len(t, runs, 3)
	failed, broken, passed := runs[0].(tree), runs[1].(tree), runs[2].(tree)
	require.Equal(t, made["id"], failed["suiteRunId"])
	require.Len(t, jobOf(failed, 0)["steps"], 2)
	require.Contains(t, jobOf(failed, 0)["steps"].([]any)[0].(tree)["screenshotUrl"], base+"/objects/")
	require.Len(t, jobOf(failed, 0)["files"], 1)
	require.Equal(t, []any{}, jobOf(broken, 0)["steps"])
	require.Equal(t, "nightly", passed["build"])
	require.Len(t, jobOf(passed, 0)["steps"], 2, "what was healed has its steps")
	require.Equal(t, 1.0, jobOf(passed, 0)["healed"])
	w.requireReport(path)
}

// requireReport reads the report of the suite run above.
func (w *world) requireReport(path string) {
	w.t.Helper()
	for _, rec := range []struct {
		path   string
		accept string
		xml    bool
	}{
		{path + "?format=junit", "", true},
		{path + "?format=junit", "application/json", true},
		{path + "?format=json", "application/xml", false},
		{path, "application/xml", true},
		{path, "text/xml; q=0.9, */*", true},
		{path, "", false},
		{path, "*/*", false},
		{path, "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", false},
	} {
		got := w.call(w.member, "GET", rec.path, "", "Accept", rec.accept)
		require.Equal(w.t, http.StatusOK, got.Code)
		require.Equal(w.t, rec.xml, strings.HasPrefix(got.Header().Get("Content-Type"), "application/xml; charset=utf-8"), rec)
		if !rec.xml {
			continue
		}
		var report struct {
			Tests  int `xml:"tests,attr"`
			Suites []struct {
				Name     string `xml:"name,attr"`
				Failures int    `xml:"failures,attr"`
				Errors   int    `xml:"errors,attr"`
				Cases    []struct {
					Name string `xml:"name,attr"`
					Out  string `xml:"system-out"`
				} `xml:"testcase"`
			} `xml:"testsuite"`
		}
		require.NoError(w.t, xml.Unmarshal(got.Body.Bytes(), &report))
		require.Equal(w.t, 3, report.Tests)
		require.Len(w.t, report.Suites, 1)
		require.Equal(w.t, "smoke", report.Suites[0].Name)
		require.Equal(w.t, 1, report.Suites[0].Failures)
		require.Equal(w.t, 1, report.Suites[0].Errors)
		require.Contains(w.t, report.Suites[0].Cases[0].Out, "2. FAILED assert (0 ms): not equal")
	}
}

func TestSuiteRunRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := w.newCase(w.member, "one", nil)
	suite, other := w.newSuite(w.member, "suite", one), w.newSuite(w.member, "other")
	untargeted := w.newSuite(w.member, "untargeted", w.newCase(w.member, "none", tree{"runSettings": tree{}}))
	path := "/testsuites/" + suite + "/run"
	for text, says := range map[string]string{`[]`: "object", `{"buildName":7}`: "buildName",
		p(`{"buildName":%q}`, strings.Repeat("x", 101)): "buildName", `{"buildName":"a\nb"}`: "buildName"} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", path, text, says)
	}
	w.refused(w.member, 400, "TEST_SUITE_NO_RUN_JOBS", "POST", "/testsuites/"+other+"/run", `{}`)
	w.refused(w.member, 400, "TEST_SUITE_NO_RUN_JOBS", "POST", "/testsuites/"+untargeted+"/run", `{}`)
	w.refused(w.member, 400, "INVALID_PARAMS", "POST", "/testsuites/7/run", `{}`, "id")
	w.refused(w.member, 404, "TEST_SUITE_NOT_FOUND", "POST", "/testsuites/"+noUUID+"/run", `{}`)
	w.refused(w.stranger, 404, "TEST_SUITE_NOT_FOUND", "POST", path, `{}`)
	w.refused(w.neighbor, 403, "FORBIDDEN", "POST", path, `{}`)
	require.Zero(t, w.count(`select count(*) from suite_runs`))

	run := w.ok(w.member, 200, "POST", path, ``)
	require.Equal(t, "suite", run["buildName"])
	id := run["id"].(string)
	for method, end := range map[string]string{"GET": "", "POST": "/cancel"} {
		w.refused(w.member, 404, "TEST_CASE_RUN_NOT_FOUND", method, "/testsuites/"+other+"/runs/"+id+end, ``)
		w.refused(w.member, 404, "TEST_CASE_RUN_NOT_FOUND", method, "/testsuites/"+suite+"/runs/"+noUUID+end, ``)
		w.refused(w.member, 404, "TEST_SUITE_NOT_FOUND", method, "/testsuites/"+noUUID+"/runs/"+id+end, ``)
		w.refused(w.stranger, 404, "TEST_SUITE_NOT_FOUND", method, "/testsuites/"+suite+"/runs/"+id+end, ``)
		w.refused(w.member, 400, "INVALID_PARAMS", method, "/testsuites/7/runs/"+id+end, ``, "id")
		w.refused(w.member, 400, "INVALID_PARAMS", method, "/testsuites/"+suite+"/runs/7"+end, ``, "runId")
	}
	w.refused(w.member, 404, "TEST_SUITE_NOT_FOUND", "GET", "/testsuites/"+noUUID+"/runs", ``)
	w.refused(w.stranger, 404, "TEST_SUITE_NOT_FOUND", "GET", "/testsuites/"+suite+"/runs", ``)
	for query, field := range map[string]string{"wait=61": "wait", "format=xml": "format"} {
		w.refused(w.member, 400, "INVALID_QUERY", "GET", "/testsuites/"+suite+"/runs/"+id+"?"+query, ``, field)
	}
}

func TestCancelSuiteRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	suite := w.newSuite(w.member, "suite", w.newCase(w.member, "one", nil), w.newCase(w.member, "two", nil))
	run := w.ok(w.member, 200, "POST", "/testsuites/"+suite+"/run", ``)
	path := "/testsuites/" + suite + "/runs/" + run["id"].(string)
	jobs := w.fanOut(idOf(run))
	w.end(jobs["one"], store.JobEnd{Status: store.Passed})
	w.refused(w.neighbor, 403, "FORBIDDEN", "POST", path+"/cancel", ``)
	got := w.ok(w.member, 200, "POST", path+"/cancel", ``)
	require.Equal(t, "CANCELLED", got["status"])
	require.Equal(t, 1.0, got["counts"].(tree)["passed"])
	require.Equal(t, 1.0, got["counts"].(tree)["cancelled"])
	require.Equal(t, "CANCELLED", w.jobStatus(jobs["two"]))
	require.Equal(t, "cancelled", w.taskState(idOf(run)))
	w.refused(w.member, 409, "CONFLICT", "POST", path+"/cancel", ``, "ended")
}

func TestSuiteRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	suite := w.newSuite(w.both, "suite", w.newCase(w.both, "one", nil))
	for _, run := range []struct{ build, at string }{{"one", "2026-01-01T10:00:00Z"}, {"two", "2026-01-02T12:00:00Z"}} {
		made := w.ok(w.both, 200, "POST", "/testsuites/"+suite+"/run", p(`{"buildName":%q}`, run.build))
		w.created("suite_runs", made["id"].(string), run.at)
	}
	for query, want := range map[string][]string{"": {"two", "one"}, "limit=1": {"two"}, "skip=1": {"one"}, "limit=0": {}} {
		got := w.ok(w.member, 200, "GET", "/testsuites/"+suite+"/runs?"+query, "")
		require.Equal(t, want, names(got, "buildName"), query)
		require.Equal(t, 2.0, got["total"], query)
	}
	for query, want := range map[string][]string{"endDate=2026-01-01": {"one"}, "startDate=2026-01-02": {"two"}, "userId=" + noUUID: {},
		"teamId=" + w.one.UUID.String(): {"two", "one"}} {
		require.Equal(t, want, names(w.ok(w.member, 200, "GET", "/testsuites/"+suite+"/runs?"+query, ""), "buildName"), query)
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	var objects object.Store
	with := withObjects(t)
	w := newWorld(t, func(cfg *handler.Config) {
		with(cfg)
		objects = cfg.Objects
	})
	run := w.start(w.newCase(w.member, "case", nil), ``)
	end, picture := failedEnd(idOf(jobOf(run, 0)))
	source := uuid.New()
	end.Files = append(end.Files, store.NewFile{ID: source, Kind: store.Source, Step: 1, ContentType: "text/plain; charset=utf-8",
		Key: store.FileKey(idOf(jobOf(run, 0)), source), Size: 3})
	w.end(idOf(jobOf(run, 0)), end)
	for id, name := range map[string]string{picture.String(): "screenshot-1.png", bare(source): "source-2.txt"} {
		rec := w.call(w.neighbor, "GET", "/files/"+id, "", "Accept", "application/json")
		require.Equal(t, http.StatusFound, rec.Code)
		require.Equal(t, "no-store", rec.Header().Get("Cache-Control"))
		require.Contains(t, rec.Header().Get("Location"), base+"/objects/"+store.Prefix)
		require.Contains(t, rec.Header().Get("Location"), "name="+name)
		w.refused(w.stranger, 404, "FILE_NOT_FOUND", "GET", "/files/"+id, "")
	}
	w.refused(w.member, 404, "FILE_NOT_FOUND", "GET", "/files/"+noUUID, "")
	w.refused(w.member, 400, "INVALID_PARAMS", "GET", "/files/7", "", "id")

	// The file itself, for those who reach the api only.
	at := "/files/" + source.String() + "?content="
	w.refused(w.member, 404, "FILE_NOT_FOUND", "GET", at+"1", "")
	_, err := object.Put(t.Context(), objects, store.FileKey(idOf(jobOf(run, 0)), source), strings.NewReader("<p>"), 3,
		object.WriteOptions{ContentType: "text/html"})
	require.NoError(t, err)
	rec := w.call(w.neighbor, "GET", at+"1", "")
	require.Equal(t, http.StatusOK, rec.Code, rec.Body)
	require.Equal(t, "<p>", rec.Body.String())
	require.Equal(t, "text/plain; charset=utf-8", rec.Header().Get("Content-Type"), "a page under test is never a page of ours")
	require.Equal(t, "nosniff", rec.Header().Get("X-Content-Type-Options"))
	require.Equal(t, http.StatusFound, w.call(w.neighbor, "GET", at+"0", "").Code)
	w.refused(w.member, 400, "INVALID_QUERY", "GET", at+"all", "", "content")
	w.refused(w.stranger, 404, "FILE_NOT_FOUND", "GET", at+"1", "")
}
