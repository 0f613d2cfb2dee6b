package authoring_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/wait"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/storage/step"
)

// generateText is the body of a generation; the members are added to it, or take the
// place of those of their name, and nil leaves one out.
func generateText(t testing.TB, members tree) string {
	t.Helper()
	all := tree{"name": "log in",
		"runSettings":    tree{"testUrl": "https://shop.example.com/", "target": tree{"capabilities": tree{"browserName": "chrome"}}},
		"promptSettings": tree{"intent": "Click on Log in"}}
	for member, value := range members {
		if all[member] = value; value == nil {
			delete(all, member)
		}
	}
	return asJSON(t, all)
}

// generate starts a generation and returns its id.
func (w *world) generate(as *auth.Caller, members tree) uuid.UUID {
	w.t.Helper()
	made := w.ok(as, 202, "POST", "/testcases/generate", generateText(w.t, members))
	require.Len(w.t, made, 1)
	return uuid.MustParse(made["taskId"].(string))
}

// beginGeneration is what a worker does first.
func (w *world) beginGeneration(id uuid.UUID) (work *generation.Work) {
	w.t.Helper()
	w.tx(func(ctx context.Context, tx *storage.Tx) (err error) {
		work, _, err = generation.Begin(ctx, tx, id)
		return err
	})
	return work
}

// endGeneration is what a worker does at the end.
func (w *world) endGeneration(work *generation.Work, r generation.Result) (ending generation.Ending) {
	w.t.Helper()
	w.tx(func(ctx context.Context, tx *storage.Tx) (err error) {
		ending, err = generation.End(ctx, tx, work, r)
		return err
	})
	return ending
}

func (w *world) status(id uuid.UUID, query string) tree {
	w.t.Helper()
	return w.ok(w.member, 200, "GET", "/testcases/generate/"+id.String()+query, "")
}

// clicks are steps that click on elements by their ids.
func clicks(ids ...string) (steps []step.Step) {
	for _, id := range ids {
		steps = append(steps, step.Step{ID: id, Result: &step.Outcome{Success: true, Message: "clicked"},
			Tool: step.Tool{Type: step.Click, Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: "#" + id}}}})
	}
	return steps
}

func TestGenerationIsAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	suite := w.newSuite(w.member, "smoke")
	rec := w.call(w.member, "POST", "/testcases/generate", generateText(t, tree{"testSuiteId": bare(suite), "tags": []string{" a ", "b", "a"},
		"timeout": 60_000, "promptSettings": tree{"intent": "Click", "maxSteps": 7}}))
	require.Equal(t, http.StatusAccepted, rec.Code, rec.Body.String())
	var answer struct{ Data struct{ TaskID uuid.UUID } }
	require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &answer))
	id := answer.Data.TaskID
	require.Equal(t, base+prefix+"/testcases/generate/"+id.String(), rec.Header().Get("Location"))
	require.Equal(t, "queued", w.taskState(id), "the task has the generation's id")
	require.Equal(t, tree{"status": "QUEUED"}, w.status(id, ""))
	require.Equal(t, tree{"status": "QUEUED"}, w.ok(w.neighbor, 200, "GET", "/testcases/generate/"+bare(id), ""))
	w.refused(w.stranger, 404, "GENERATION_TASK_NOT_FOUND", "GET", "/testcases/generate/"+id.String(), "")
	w.refused(w.member, 404, "GENERATION_TASK_NOT_FOUND", "GET", "/testcases/generate/"+noUUID, "")
	w.refused(w.member, 400, "INVALID_PARAMS", "GET", "/testcases/generate/x", "")
	for _, query := range []string{"?detail=2", "?wait=61", "?wait=x"} {
		w.refused(w.member, 400, "INVALID_QUERY", "GET", "/testcases/generate/"+id.String()+query, "")
	}
	require.Equal(t, 1, w.count(`select count(*) from audit_events where type = $1`, account.TestGenerationStarted))
	work := w.beginGeneration(id)
	require.Equal(t, "Click", work.Intent)
	require.Equal(t, 7, work.MaxSteps)
	require.Equal(t, suite, work.SuiteID.String())
	require.Equal(t, []string{"a", "b"}, work.Tags)
	require.Equal(t, "chrome", work.Target.Capabilities["browserName"])
	require.InDelta(t, time.Minute.Seconds(), work.Left.Seconds(), 20)
	require.Equal(t, tree{"status": "IN_PROGRESS"}, w.status(id, ""))
}

func TestGenerationDefaults(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := strings.Repeat("ä", 255)
	id := w.generate(w.both, tree{"name": long, "teamId": w.two.UUID, "tags": nil, "timeout": nil, "testSuiteId": nil,
		"promptSettings": tree{"intent": strings.Repeat("ö", 20_000), "maxSteps": nil}})
	work := w.beginGeneration(id)
	require.Equal(t, 50, work.MaxSteps)
	require.Equal(t, w.two.ID, work.TeamID)
	require.InDelta(t, (5 * time.Minute).Seconds(), work.Left.Seconds(), 20)
	require.Equal(t, long, work.Name)
	for _, more := range []tree{{"timeout": 3_600_000, "promptSettings": tree{"intent": "x", "maxSteps": 200}},
		{"timeout": 60_000, "promptSettings": tree{"intent": " x ", "maxSteps": 1}},
		{"runSettings": tree{"target": tree{"capabilities": tree{"platformName": "android", "appium:app": "https://x.example.com/a.apk"}}}}} {
		w.generate(w.member, more)
	}
}

func TestGenerationRefusesBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	settings := func(text string) tree { return tree{"runSettings": json.RawMessage(text)} }
	prompt := func(text string) tree { return tree{"promptSettings": json.RawMessage(text)} }
	const chrome = `"target":{"capabilities":{"browserName":"chrome"}}`
	for _, tc := range []struct {
		members tree
		field   string
	}{
		{tree{"name": nil}, "name: is required"}, {tree{"name": ""}, "name:"}, {tree{"name": " "}, "name:"},
		{tree{"name": strings.Repeat("x", 256)}, "name:"}, {tree{"name": 7}, "name:"}, {tree{"name": "a\nb"}, "name:"},
		{tree{"promptSettings": nil}, "promptSettings: is required"}, {prompt(`[]`), "promptSettings: must be an object"},
		{prompt(`{}`), "promptSettings.intent: is required"}, {prompt(`{"intent":""}`), "promptSettings.intent:"},
		{prompt(`{"intent":" \n\t "}`), "promptSettings.intent:"}, {prompt(`{"intent":7}`), "promptSettings.intent: must be a string"},
		{prompt(`{"intent":"` + strings.Repeat("x", 20_001) + `"}`), "promptSettings.intent:"},
		{prompt(`{"intent":"a\u0000"}`), "NUL"},
		{prompt(`{"intent":"x","maxSteps":0}`), "promptSettings.maxSteps:"}, {prompt(`{"intent":"x","maxSteps":201}`),
			"promptSettings.maxSteps:"},
		{prompt(`{"intent":"x","maxSteps":-1}`), "promptSettings.maxSteps:"},
		{prompt(`{"intent":"x","maxSteps":"9"}`), "promptSettings.maxSteps: must be a whole number"},
		{prompt(`{"intent":"x","maxSteps":1.5}`), "promptSettings.maxSteps: must be a whole number"},
		{prompt(`{"intent":"x","explore":"maybe"}`), "promptSettings.explore: must be on, off or null"},
		{prompt(`{"intent":"x","explore":""}`), "promptSettings.explore:"}, {prompt(`{"intent":"x","explore":true}`), "promptSettings.explore:"},
		{prompt(`{"intent":"x","keepDraft":"yes"}`), "promptSettings.keepDraft:"},
		{tree{"timeout": 59_999}, "timeout:"}, {tree{"timeout": 3_600_001}, "timeout:"}, {tree{"timeout": -1}, "timeout:"},
		{tree{"timeout": "60000"}, "timeout: must be a whole number"}, {tree{"timeout": 1e300}, "timeout:"},
		{tree{"timeout": 9_000_000_000_000_000_000}, "timeout:"},
		{tree{"testSuiteId": "x"}, "testSuiteId:"}, {tree{"testSuiteId": 1}, "testSuiteId:"}, {tree{"teamId": "x"}, "teamId:"},
		{tree{"teamId": noUUID}, "teamId:"},
		{tree{"tags": "x"}, "tags:"}, {tree{"tags": []string{strings.Repeat("x", 61)}}, "tags"},
		{tree{"tags": strings.Split(strings.Repeat("abcdefghijklmnopqrstu", 1), "")}, "tags"},
		{tree{"runSettings": nil}, "runSettings: is required"}, {settings(`7`), "runSettings: must be an object"},
		{settings(`{"testUrl":"https://a.example/"}`), "runSettings.target.capabilities"},
		{settings(`{"testUrl":"https://a.example/","target":{}}`), "runSettings.target.capabilities"},
		{settings(`{"testUrl":"https://a.example/","target":{"capabilities":{}}}`), "runSettings.target.capabilities"},
		{settings(`{"testUrl":"https://a.example/","target":{"capabilities":7}}`), "runSettings.target.capabilities: must be an object"},
		{settings(`{"testUrl":"https://a.example/","target":{"capabilities":{"browserName":7}}}`), "runSettings.target.capabilities.browserName"},
		{settings(`{"testUrl":"https://a.example/","primaryTarget":{"capabilities":{"browserName":"chrome"}}}`),
			"by target, not by primaryTarget"},
		{settings(`{` + chrome + `}`), "runSettings.testUrl: is required"}, {settings(`{"testUrl":"",` + chrome + `}`), "runSettings.testUrl"},
		{settings(`{"testUrl":7,` + chrome + `}`), "runSettings.testUrl: must be a string"},
		{settings(`{"testUrl":"shop",` + chrome + `}`), "runSettings.testUrl"},
		{settings(`{"testUrl":"ftp://shop.example.com/",` + chrome + `}`), "runSettings.testUrl"},
		{settings(`{"testUrl":"file:///etc/passwd",` + chrome + `}`), "runSettings.testUrl"},
		{settings(`{"testUrl":"` + metadata + `",` + chrome + `}`), "runSettings.testUrl: the address is not allowed"},
		{settings(`{"testUrl":"https://x/` + strings.Repeat("x", 2048) + `",` + chrome + `}`), "runSettings.testUrl"},
		{settings(`{"testUrl":"https://a.example/","scTunnelName":7,` + chrome + `}`), "runSettings.scTunnelName"},
		{settings(`{"target":{"capabilities":{"browserName":"chrome","appium:deviceName":"x"}}}`), "runSettings.testUrl: is required"},
	} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", "/testcases/generate", generateText(t, tc.members), tc.field)
	}
	for _, text := range []string{``, `[]`, `{"name":"x"`} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", "/testcases/generate", text)
	}
	suite := w.newSuite(w.neighbor, "of team two")
	for _, tc := range []struct {
		status  int
		code    string
		members tree
	}{
		{400, "TEST_SUITE_NOT_FOUND", tree{"testSuiteId": noUUID}},
		{403, "FORBIDDEN", tree{"testSuiteId": suite}},
		{403, "FORBIDDEN", tree{"teamId": w.two.UUID}},
		{400, "SC_TUNNEL_NOT_FOUND", settings(`{"testUrl":"https://a.example/","scTunnelName":"gone",` + chrome + `}`)},
		{400, "SC_TUNNEL_NOT_FOUND",
			settings(`{"testUrl":"https://a.example/","target":{"capabilities":{"browserName":"chrome","slipway:options":{"tunnelName":"gone"}}}}`)},
		{400, "APP_NOT_FOUND", settings(`{"target":{"capabilities":{"platformName":"android","appium:app":"storage:9999"}}}`)},
	} {
		w.refused(w.member, tc.status, tc.code, "POST", "/testcases/generate", generateText(t, tc.members))
	}
	require.Zero(t, w.count(`select count(*) from test_generations`))
	require.Zero(t, w.count(`select count(*) from tasks`))
}

func TestGenerationKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	started := map[string]bool{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			rec := w.call(w.member, "POST", "/testcases/generate", generateText(t, nil), "Idempotency-Key", "k1")
			mu.Lock()
			defer mu.Unlock()
			started[p("%d %s %s", rec.Code, rec.Body, rec.Header().Get("Location"))] = true
		})
	}
	all.Wait()
	require.Len(t, started, 1, "%v", started)
	require.Equal(t, 1, w.count(`select count(*) from test_generations`))
	require.Equal(t, 202, w.call(w.member, "POST", "/testcases/generate", generateText(t, tree{"name": nil}), "Idempotency-Key", "k1").Code)
	require.Equal(t, 202, w.call(w.member, "POST", "/testcases/generate", generateText(t, nil), "Idempotency-Key", "k2").Code)
	require.Equal(t, 202, w.call(w.stranger, "POST", "/testcases/generate", generateText(t, nil), "Idempotency-Key", "k1").Code)
	require.Equal(t, 3, w.count(`select count(*) from test_generations`))
	_, err := w.db.ExecContext(t.Context(), `update idempotency_keys set created_at = now() - interval '25 hours'`)
	require.NoError(t, err)
	require.Equal(t, 202, w.call(w.member, "POST", "/testcases/generate", generateText(t, nil), "Idempotency-Key", "k1").Code)
	require.Equal(t, 4, w.count(`select count(*) from test_generations`))
}

func TestGenerationCompletes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withObjects(t))
	suite := w.newSuite(w.member, "smoke")
	id := w.generate(w.member, tree{"testSuiteId": suite, "tags": []string{"a"}})
	work := w.beginGeneration(id)
	shown, other := uuid.New(), uuid.New()
	file := func(id uuid.UUID) generation.File {
		return generation.File{ID: id, Kind: "screenshot", Key: generation.FileKey(work.ID, id), ContentType: "image/png", Size: 1}
	}
	steps := clicks("one", "two")
	steps[0].ScreenshotID = shown.String()
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		going, err := generation.KeepProgress(ctx, tx, id, generation.Progress{Steps: steps[:1],
			Reasoning: []authoring.Reason{{Title: "Click on one", Description: "named so"}}, Files: []generation.File{file(shown)}})
		require.True(t, going)
		return err
	})
	require.Equal(t, tree{"status": "IN_PROGRESS"}, w.status(id, ""))
	live := w.status(id, "?detail=1")
	require.Equal(t, "IN_PROGRESS", live["status"])
	require.Len(t, live["steps"], 1)
	require.Equal(t, base+prefix+"/files/"+shown.String(), live["steps"].([]any)[0].(tree)["screenshotUrl"])
	require.Equal(t, []any{tree{"title": "Click on one", "description": "named so"}}, live["reasoning"])
	require.Equal(t, 302, w.call(w.member, "GET", "/files/"+shown.String(), "").Code)
	w.refused(w.stranger, 404, "FILE_NOT_FOUND", "GET", "/files/"+shown.String(), "")

	ending := w.endGeneration(work, generation.Result{Steps: steps, Description: "Clicks.", DiscoveredIntent: "Click one, two",
		Reasoning: []authoring.Reason{{Title: "t"}}, Model: tree{"provider": "openai", "microUsd": 12},
		Files: []generation.File{file(shown), file(other)}})
	require.True(t, ending.Did)
	got := w.status(id, "")
	require.Equal(t, tree{"status": "COMPLETED", "testCaseId": ending.CaseID, "revisionId": got["revisionId"]}, got)
	detail := w.status(id, "?detail=true")
	require.Len(t, detail["steps"], 2)
	require.Equal(t, tree{"provider": "openai", "microUsd": 12.0}, detail["model"])
	require.Len(t, detail["files"], 2)
	require.NotContains(t, detail, "changes")
	require.NotContains(t, detail, "error")

	made := w.ok(w.member, 200, "GET", "/testcases/"+ending.CaseID, "")
	requireMembers(t, made, tree{"name": "log in", "testSuiteId": suite, "tags": []any{"a"}, "creatorUserName": "Person member",
		"teamId": w.one.UUID.String()})
	require.Equal(t, "https://shop.example.com/", made["runSettings"].(tree)["testUrl"])
	require.Len(t, made["runSettings"].(tree)["runTargets"], 1)
	revision := made["revisions"].([]any)[0].(tree)
	requireMembers(t, revision, tree{"id": got["revisionId"], "intent": "Click on Log in", "description": "Clicks.",
		"discoveredIntent": "Click one, two"})
	require.Equal(t, tree{"success": true, "message": "clicked"}, revision["steps"].([]any)[0].(tree)["result"])

	w.refused(w.member, 409, "GENERATION_TASK_ENDED", "DELETE", "/testcases/generate/"+id.String(), "")
	require.False(t, w.endGeneration(work, generation.Result{Code: "X"}).Did, "an end never changes")
	_, err := w.db.ExecContext(t.Context(), `update test_generations set deadline = now() - interval '1 hour'`)
	require.NoError(t, err)
	require.Equal(t, "COMPLETED", w.status(id, "")["status"])

	// Files of the case go with it; the status stays.
	w.ok(w.member, 204, "DELETE", "/testcases/"+ending.CaseID, "")
	w.refused(w.member, 404, "FILE_NOT_FOUND", "GET", "/files/"+shown.String(), "")
	require.Equal(t, 302, w.call(w.member, "GET", "/files/"+other.String(), "").Code)
	require.Equal(t, ending.CaseID, w.status(id, "")["testCaseId"])
}

func TestGenerationFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.generate(w.member, nil)
	w.endGeneration(w.beginGeneration(id), generation.Result{Code: "INTENT_NOT_UNDERSTOOD", Detail: "which of the two?", Steps: clicks("one")})
	got := w.status(id, "")
	require.Equal(t, tree{"code": "INTENT_NOT_UNDERSTOOD", "detail": "which of the two?"}, got["error"])
	require.Len(t, got["steps"], 1, "with what was captured")
	require.NotContains(t, got, "testCaseId")
	require.Zero(t, w.count(`select count(*) from test_cases`))

	// How the text was taken is shown with the details, and what worked is kept where it was asked for.
	findings := &generation.Findings{Clauses: []generation.Clause{{Text: "Click on one", Done: true}, {Text: "wave", Left: []string{"wave"}}},
		Candidates: []generation.Candidate{{What: `button "One"`, Score: 0.5, Why: "One"}},
		Decided:    []generation.Decision{{What: "the first", By: "m"}}}
	suite := w.newSuite(w.member, "smoke")
	for _, keep := range []bool{false, true} {
		id = w.generate(w.member, tree{"tags": []string{"a"}, "testSuiteId": suite,
			"promptSettings": tree{"intent": "Click on one and wave", "keepDraft": keep}})
		w.endGeneration(w.beginGeneration(id), generation.Result{Code: "INTENT_NOT_UNDERSTOOD", Detail: "wave",
			Steps: clicks("one"), Findings: findings})
		got = w.status(id, "?detail=1")
		require.Equal(t, "FAILED", got["status"])
		require.NotContains(t, got, "testCaseId")
		require.Equal(t, tree{"clauses": []any{tree{"text": "Click on one", "done": true, "left": []any{}},
			tree{"text": "wave", "done": false, "left": []any{"wave"}}},
			"candidates": []any{tree{"what": `button "One"`, "score": 0.5, "why": "One"}}, "trivial": []any{},
			"decided": []any{tree{"what": "the first", "by": "m"}}}, got["findings"])
		require.Equal(t, keep, got["draftTestCaseId"] != nil)
		if keep {
			draft := w.ok(w.member, 200, "GET", "/testcases/"+got["draftTestCaseId"].(string), "")
			requireMembers(t, draft, tree{"name": "log in", "tags": []any{"a", generation.DraftTag}, "testSuiteId": nil})
			require.Len(t, draft["revisions"].([]any)[0].(tree)["steps"], 1)
		}
	}
	id = w.generate(w.member, tree{"promptSettings": tree{"intent": "Wave", "keepDraft": true}})
	w.endGeneration(w.beginGeneration(id), generation.Result{Code: "INTENT_NOT_UNDERSTOOD", Detail: "wave"})
	require.NotContains(t, w.status(id, ""), "draftTestCaseId", "no step worked")
	require.Equal(t, 1, w.count(`select count(*) from test_cases`))

	// The first page was not reached: there is no step, but what the browser showed.
	id = w.generate(w.member, nil)
	unreached := w.beginGeneration(id)
	shown := uuid.New()
	w.endGeneration(unreached, generation.Result{Code: "TARGET_UNREACHABLE", Detail: "no such host", Files: []generation.File{
		{ID: shown, Kind: "screenshot", Key: generation.FileKey(unreached.ID, shown), ContentType: "image/png", Size: 1}}})
	for _, query := range []string{"", "?detail=1"} {
		got = w.status(id, query)
		require.Empty(t, got["steps"])
		require.Equal(t, []any{tree{"id": shown.String(), "kind": "screenshot", "step": 0.0, "contentType": "image/png", "size": 1.0,
			"url": base + prefix + "/files/" + shown.String()}}, got["files"])
	}

	// A case that cannot be stored.
	id = w.generate(w.member, nil)
	work := w.beginGeneration(id)
	ending := w.endGeneration(work, generation.Result{Steps: make([]step.Step, step.MaxSteps+1)})
	require.Equal(t, generation.CodeNotStored, ending.Code)
	require.Equal(t, "FAILED", w.status(id, "")["status"])
}

// A second way is tried unless the request, or else the organization, says that nothing is.
func TestGenerationExplores(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct {
		organization string
		asked        any
		want         string
	}{{"", nil, ""}, {"", "off", "off"}, {"off", nil, "off"}, {"off", "on", "on"}, {"on", "off", "off"}} {
		_, err := w.db.ExecContext(t.Context(), `update organizations set generation_explore = $1`, c.organization)
		require.NoError(t, err)
		id := w.generate(w.member, tree{"promptSettings": tree{"intent": "Click", "explore": c.asked}})
		require.Equal(t, c.want, w.beginGeneration(id).Explore, "%v", c)
	}
}

func TestGenerationIsCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	queued, running := w.generate(w.member, nil), w.generate(w.member, nil)
	work := w.beginGeneration(running)
	_, err := w.db.ExecContext(t.Context(), `update tasks set state = 'running', worker = 'w', heartbeat_at = now() where id = $1`, running)
	require.NoError(t, err)
	for _, id := range []uuid.UUID{queued, running} {
		path := "/testcases/generate/" + id.String()
		w.refused(w.stranger, 404, "GENERATION_TASK_NOT_FOUND", "DELETE", path, "")
		w.refused(w.neighbor, 403, "FORBIDDEN", "DELETE", path, "")
		w.ok(w.member, 204, "DELETE", path, "")
		require.Equal(t, "CANCELLED", w.status(id, "")["error"].(tree)["code"])
		w.refused(w.member, 409, "GENERATION_TASK_ENDED", "DELETE", path, "")
	}
	require.Equal(t, "cancelled", w.taskState(queued))
	require.Equal(t, 1, w.count(`select count(*) from tasks where id = $1 and cancel_requested`, running))
	require.False(t, w.endGeneration(work, generation.Result{Steps: clicks("one")}).Did)
	require.Zero(t, w.count(`select count(*) from test_cases`))
	require.Equal(t, 2, w.count(`select count(*) from audit_events where type = $1`, account.TestGenerationCancelled))
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		_, _, err := generation.Begin(ctx, tx, queued)
		require.ErrorIs(t, err, storage.ErrConflict)
		return nil
	})
}

// Where no worker runs, whoever asks ends what is overdue.
func TestGenerationIsOverdue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	queued, running, away := w.generate(w.member, nil), w.generate(w.member, nil), w.generate(w.member, nil)
	w.beginGeneration(running)
	w.beginGeneration(away)
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		return generation.NoteNoSession(ctx, tx, away, "the hub is away")
	})
	_, err := w.db.ExecContext(t.Context(), `update test_generations set deadline = now() - interval '10 seconds'`)
	require.NoError(t, err)
	for id, code := range map[uuid.UUID]string{queued: "TIMEOUT", running: "TIMEOUT", away: "SESSION_NOT_CREATED"} {
		got := w.status(id, "?wait=1")
		require.Equal(t, "FAILED", got["status"])
		require.Equal(t, code, got["error"].(tree)["code"])
		require.Equal(t, "cancelled", w.taskState(id))
	}
}

func TestGenerationIsAwaited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cfg *handler.Config) {
		db := cfg.DB
		cfg.Generations = wait.NewWatcher(wait.Config{Interval: 5 * time.Millisecond,
			Ended: func(ctx context.Context, ids []uuid.UUID) ([]uuid.UUID, error) { return generation.Ended(ctx, db, ids) }})
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { defer close(done); cfg.Generations.Run(ctx) }()
		t.Cleanup(func() { cancel(); <-done })
	})
	id := w.generate(w.member, nil)
	work := w.beginGeneration(id)
	answer := make(chan tree)
	go func() { answer <- w.status(id, "?wait=60") }()
	w.endGeneration(work, generation.Result{Code: "TARGET_UNREACHABLE", Detail: "no such host"})
	require.Equal(t, "FAILED", (<-answer)["status"])
	require.Equal(t, "FAILED", w.status(id, "?wait=60")["status"])
}

func TestRefinement(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "buy", nil)
	path := "/testcases/" + id + "/generate"
	made := w.ok(w.member, 202, "POST", path, `{"promptSettings":{"intent":"Then log out","maxSteps":9},"timeout":90000}`)
	task := uuid.MustParse(made["taskId"].(string))
	work := w.beginGeneration(task)
	require.Equal(t, id, work.Base.CaseID)
	require.Len(t, work.Base.Steps, 2)
	require.Equal(t, 9, work.MaxSteps)
	kept := append(work.Base.Steps, clicks("out")...)
	ending := w.endGeneration(work, generation.Result{Steps: kept, Changes: tree{"kept": []string{"a", "b"},
		"changed": []string{}, "added": []string{"out"}, "removed": []string{}}})
	require.Equal(t, id, ending.CaseID)
	got := w.status(task, "?detail=1")
	require.Equal(t, []any{"out"}, got["changes"].(tree)["added"])
	require.Equal(t, id, got["testCaseId"])
	revisions := w.ok(w.member, 200, "GET", "/testcases/"+id, "")["revisions"].([]any)
	require.Len(t, revisions, 2)
	require.Equal(t, got["revisionId"], revisions[1].(tree)["id"], "the latest is last")
	require.Equal(t, "Then log out", revisions[1].(tree)["intent"])

	// The case is changed while it is refined: what others changed stays.
	task = uuid.MustParse(w.ok(w.member, 202, "POST", path,
		`{"promptSettings":{"intent":"x"},"runSettings":{"target":{"capabilities":{"browserName":"firefox"}}}}`)["taskId"].(string))
	work = w.beginGeneration(task)
	require.Equal(t, "firefox", work.Target.Capabilities["browserName"])
	w.ok(w.member, 200, "POST", "/testcases/"+id, `{"steps":[{"tool":{"type":"finish","args":{}}}]}`)
	w.endGeneration(work, generation.Result{Steps: kept})
	require.Equal(t, "CASE_CHANGED", w.status(task, "")["error"].(tree)["code"])
	require.Len(t, w.ok(w.member, 200, "GET", "/testcases/"+id, "")["revisions"], 3)

	// The case is deleted meanwhile.
	task = uuid.MustParse(w.ok(w.member, 202, "POST", path, `{"promptSettings":{"intent":"x"}}`)["taskId"].(string))
	work = w.beginGeneration(task)
	require.Equal(t, "Then log out", work.Base.Intent)
	w.ok(w.member, 204, "DELETE", "/testcases/"+id, "")
	w.endGeneration(work, generation.Result{Steps: kept})
	require.Equal(t, "TEST_CASE_NOT_FOUND", w.status(task, "")["error"].(tree)["code"])
}

func TestRefinementRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "buy", nil)
	none := w.newCase(w.member, "none", tree{"runSettings": tree{}})
	body := `{"promptSettings":{"intent":"x"}}`
	for _, tc := range []struct {
		as         *auth.Caller
		status     int
		code, path string
		text, says string
	}{
		{w.member, 404, "TEST_CASE_NOT_FOUND", noCase, body, ""},
		{w.member, 400, "INVALID_PARAMS", "x", body, ""},
		{w.stranger, 404, "TEST_CASE_NOT_FOUND", id, body, ""},
		{w.neighbor, 403, "FORBIDDEN", id, body, ""},
		{w.member, 400, "NO_RUN_TARGETS", none, body, ""},
		{w.member, 400, "INVALID_BODY", id, `{}`, "promptSettings"},
		{w.member, 400, "INVALID_BODY", id, `{"promptSettings":{"intent":" "}}`, "promptSettings.intent"},
		{w.member, 400, "INVALID_BODY", id, `{"promptSettings":{"intent":"x"},"timeout":1}`, "timeout"},
		{w.member, 400, "INVALID_BODY", id, `{"promptSettings":{"intent":"x"},"runSettings":{"target":{"capabilities":1}}}`,
			"runSettings.target.capabilities"},
		{w.member, 400, "INVALID_BODY", id, `{"promptSettings":{"intent":"x"},"runSettings":[]}`, "runSettings"},
	} {
		w.refused(tc.as, tc.status, tc.code, "POST", "/testcases/"+tc.path+"/generate", tc.text, tc.says)
	}
	require.Zero(t, w.count(`select count(*) from test_generations`))
	one := w.call(w.member, "POST", "/testcases/"+id+"/generate", body, "Idempotency-Key", "k")
	two := w.call(w.member, "POST", "/testcases/"+id+"/generate", body, "Idempotency-Key", "k")
	require.Equal(t, one.Body.String(), two.Body.String())
	require.Equal(t, 1, w.count(`select count(*) from test_generations`))
}

func TestTags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, tree{"items": []any{}, "total": 0.0}, w.ok(w.member, 200, "GET", "/testcases/tags", ""))
	w.newCase(w.member, "a", tree{"tags": []string{"smoke", "Checkout"}})
	w.newCase(w.neighbor, "b", tree{"tags": []string{"smoke", "slow_1%"}})
	w.newCase(w.stranger, "c", tree{"tags": []string{"theirs"}})
	got := w.ok(w.member, 200, "GET", "/testcases/tags", "")
	require.Equal(t, []any{tree{"name": "Checkout", "testCaseCount": 1.0}, tree{"name": "slow_1%", "testCaseCount": 1.0},
		tree{"name": "smoke", "testCaseCount": 2.0}}, got["items"])
	require.Equal(t, []string{"smoke"}, names(w.ok(w.member, 200, "GET", "/testcases/tags?search=MOK", ""), "name"))
	require.Equal(t, []string{"slow_1%"}, names(w.ok(w.member, 200, "GET", "/testcases/tags?search=_1%25", ""), "name"))
	page := w.ok(w.member, 200, "GET", "/testcases/tags?skip=1&limit=1", "")
	require.Equal(t, []string{"slow_1%"}, names(page, "name"))
	require.Equal(t, 3.0, page["total"])
	require.Equal(t, tree{"items": []any{}, "total": 3.0}, w.ok(w.member, 200, "GET", "/testcases/tags?limit=0", ""))
	w.refused(w.member, 400, "INVALID_QUERY", "GET", "/testcases/tags?limit=-1", "")
}

// Sizes of what a page brings do not keep a generation from ending.
func TestGenerationOfLargePages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.generate(w.member, nil)
	work := w.beginGeneration(id)
	steps := clicks(strings.Repeat("x", 100), "two")
	steps[0].Tool.Args.Reasoning = strings.Repeat("\x00y", 3<<20)
	var many []authoring.Reason
	for range 2000 {
		many = append(many, authoring.Reason{Title: strings.Repeat("ä\x00", 4000), Description: "\xff"})
	}
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		going, err := generation.KeepProgress(ctx, tx, id, generation.Progress{Steps: steps, Reasoning: many})
		require.True(t, going || err != nil)
		return err
	})
	ending := w.endGeneration(work, generation.Result{Code: "TIMEOUT", Detail: strings.Repeat("ü\x00", 20_000), Steps: steps, Reasoning: many,
		Description: strings.Repeat("d\x00", 50_000), Model: strings.Repeat("m", 3<<20)})
	require.True(t, ending.Did)
	got := w.status(id, "")
	require.Len(t, got["steps"], 2)
	require.NotContains(t, got, "model")
}
