package authoring_test

import (
	"context"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

func css(value string) step.Selector { return step.Selector{Type: step.CSS, Value: value} }

// healedAs is the record of a click that found its element by another selector;
// suggestedAs that of one that failed, though it knew one.
func healedAs(id, from, to string) playback.Record {
	found := css(to)
	found.Fingerprint = &step.Fingerprint{Tag: "button", Name: "Buy"}
	selector := css(from)
	return playback.Record{StepID: id, Tool: step.Tool{Type: step.Click, Args: step.Args{Selector: &selector}}, Status: playback.Passed,
		Result: step.Outcome{Success: true}, Healed: &playback.Healed{From: selector, To: found, Score: 0.9, Reason: "same name " + to}}
}

func suggestedAs(id, from, to string) playback.Record {
	r := healedAs(id, from, to)
	r.Status, r.Result.Success, r.Healed, r.Suggested = playback.Failed, false, nil, r.Healed
	return r
}

// play runs the latest revision of a case, with the records of its steps, and returns
// the run.
func (w *world) play(caseID string, status store.Status, records ...playback.Record) tree {
	w.t.Helper()
	run := w.start(caseID, ``)
	job := idOf(jobOf(run, 0))
	w.begin(job)
	end := store.JobEnd{Status: status, Records: records}
	if status == store.Failed {
		end.ErrorCode, end.Error = store.CodeStepFailed, "not found"
	}
	w.end(job, end)
	return w.ok(w.member, 200, "GET", p("/testcases/%s/runs/%s", caseID, run["id"]), "")
}

// work is what a worker gets for a new run of a case.
func (w *world) work(caseID string) (work *store.Work) {
	w.t.Helper()
	job := idOf(jobOf(w.start(caseID, ``), 0))
	w.tx(func(ctx context.Context, tx *storage.Tx) (err error) {
		work, _, err = store.BeginJob(ctx, tx, job)
		return err
	})
	return work
}

// healingCase is a case with two steps, s1 and s2, that click on #old and #two.
func (w *world) healingCase() (id, path string) {
	w.t.Helper()
	id = w.newCase(w.member, "case",
		tree{"steps": []any{clickOn("s1", "#old", tree{"fingerprint": tree{"tag": "button", "name": "Buy"}}), clickOn("s2", "#two", nil)}})
	return id, "/testcases/" + id + "/healings"
}

func (w *world) healings(path string) []tree {
	w.t.Helper()
	var list []tree
	for _, item := range w.ok(w.member, 200, "GET", path, "")["items"].([]any) {
		list = append(list, item.(tree))
	}
	return list
}

func TestHealingsAreCollected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, path := w.healingCase()
	require.Equal(t, tree{"items": []any{}, "total": 0.0}, w.ok(w.member, 200, "GET", path, ""))
	w.play(id, store.Passed, healedAs("s1", "#old", "#new"))
	run := w.play(id, store.Failed, healedAs("s1", "#old", "#new"), suggestedAs("s2", "#two", "#second"))
	require.Equal(t, "FAILED", run["status"])
	require.Equal(t, 1.0, run["healed"], "a suggestion heals nothing")

	list := w.healings(path)
	require.Len(t, list, 2)
	healed, suggested := list[0], list[1]
	if healed["stepId"] != "s1" {
		healed, suggested = suggested, healed
	}
	steps := jobOf(run, 0)["steps"].([]any)
	require.Equal(t, healed["id"], steps[0].(tree)["healingId"])
	require.Equal(t, suggested["id"], steps[1].(tree)["healingId"])
	require.NotContains(t, steps[1], "healed")
	require.Equal(t, "#second", steps[1].(tree)["suggested"].(tree)["to"].(tree)["value"])
	requireMembers(t, healed, tree{"testCaseId": id, "stepId": "s1", "state": "OPEN", "from": tree{"type": "css", "value": "#old"},
		"to":      tree{"type": "css", "value": "#new", "fingerprint": tree{"tag": "button", "name": "Buy"}},
		"applied": true, "score": 0.9, "reason": "same name #new", "revisionId": run["revisionId"], "lastRunId": run["id"], "count": 2.0,
		"decision": nil})
	requireTime(t, healed["firstSeenDate"])
	requireTime(t, healed["lastSeenDate"])
	requireMembers(t, suggested, tree{"stepId": "s2", "state": "OPEN", "applied": false, "count": 1.0})
	require.Equal(t, healed, w.ok(w.neighbor, 200, "GET", path+"/"+bare(healed["id"]), ""), "the whole organization reads")

	for query, want := range map[string]int{"": 2, "?state=OPEN": 2, "?state=REFUSED": 0, "?limit=1": 1, "?skip=1&limit=5": 1,
		"?skip=2": 0, "?limit=0": 0} {
		got := w.ok(w.member, 200, "GET", path+query, "")
		require.Len(t, got["items"], want, query)
		if !strings.HasPrefix(query, "?state=R") {
			require.Equal(t, 2.0, got["total"], query)
		}
	}
	w.refused(w.member, 400, "INVALID_QUERY", "GET", path+"?state=open", "", "state")
	w.refused(w.member, 400, "INVALID_QUERY", "GET", path+"?skip=-1", "", "skip")
	w.refused(w.stranger, 404, "TEST_CASE_NOT_FOUND", "GET", path, "")
	w.refused(w.stranger, 404, "TEST_CASE_NOT_FOUND", "GET", path+"/"+healed["id"].(string), "")
	w.refused(w.member, 404, "TEST_CASE_HEALING_NOT_FOUND", "GET", path+"/"+noUUID, "")
	w.refused(w.member, 400, "INVALID_PARAMS", "GET", path+"/x", "", "healingId")
	other, _ := w.healingCase()
	w.refused(w.member, 404, "TEST_CASE_HEALING_NOT_FOUND", "GET", "/testcases/"+other+"/healings/"+healed["id"].(string), "")
}

func TestAcceptingAHealingMakesARevision(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, path := w.healingCase()
	w.play(id, store.Passed, healedAs("s1", "#old", "#new"))
	healing := path + "/" + w.healings(path)[0]["id"].(string)

	w.refused(w.neighbor, 403, "FORBIDDEN", "POST", healing, `{"action":"accept"}`)
	w.refused(w.member, 400, "INVALID_BODY", "POST", healing, `{"action":"apply"}`, "action")
	w.refused(w.member, 400, "INVALID_BODY", "POST", healing, ``, "action")
	w.refused(w.member, 404, "TEST_CASE_HEALING_NOT_FOUND", "POST", path+"/"+noUUID, `{"action":"accept"}`)
	w.refused(w.stranger, 404, "TEST_CASE_NOT_FOUND", "POST", healing, `{"action":"accept"}`)

	got := w.ok(w.both, 200, "POST", healing, `{"action":"accept"}`)
	require.Equal(t, "ACCEPTED", got["state"])
	view := w.ok(w.member, 200, "GET", "/testcases/"+id, "")
	list := revisionsOf(view)
	require.Len(t, list, 2)
	decision := got["decision"].(tree)
	requireMembers(t, decision, tree{"userId": w.both.UserUUID.String(), "revisionId": list[1]["id"]})
	requireTime(t, decision["date"])
	require.Equal(t, w.both.UserUUID.String(), view["lastModifierUserId"])
	steps := list[1]["steps"].([]any)
	require.Equal(t, tree{"type": "css", "value": "#new", "fingerprint": tree{"tag": "button", "name": "Buy"}},
		steps[0].(tree)["tool"].(tree)["args"].(tree)["selector"])
	require.Equal(t, list[0]["steps"].([]any)[1], steps[1], "only that step has changed")
	require.Equal(t, 1, w.count(`select count(*) from audit_events where type = $1`, account.TestHealingAccepted))

	require.Equal(t, got, w.ok(w.member, 200, "POST", healing, `{"action":"accept"}`), "accepted twice")
	require.Len(t, w.ok(w.member, 200, "GET", "/testcases/"+id, "")["revisions"], 2)
	require.Len(t, w.healings(path+"?state=ACCEPTED"), 1)
	require.Empty(t, w.healings(path+"?state=OPEN"))
}

// A page that goes back to what it was, and comes again, asks again.
func TestAnAcceptedHealingIsOpenAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, path := w.healingCase()
	first := latestOf(w.ok(w.member, 200, "GET", "/testcases/"+id, ""))["id"].(string)
	w.play(id, store.Passed, healedAs("s1", "#old", "#new"))
	healing := path + "/" + w.healings(path)[0]["id"].(string)
	w.ok(w.member, 200, "POST", healing, `{"action":"accept"}`)

	// A run of the old revision, started before, does not open it.
	run := w.ok(w.member, 200, "POST", p("/testcases/%s/run/%s", id, first), ``)
	w.begin(idOf(jobOf(run, 0)))
	w.end(idOf(jobOf(run, 0)), store.JobEnd{Status: store.Passed, Records: []playback.Record{healedAs("s1", "#old", "#new")}})
	require.Equal(t, "ACCEPTED", w.ok(w.member, 200, "GET", healing, "")["state"])

	w.ok(w.member, 200, "POST", p("/testcases/%s/revisions/%s/restore", id, first), ``)
	w.play(id, store.Passed, healedAs("s1", "#old", "#new"))
	got := w.ok(w.member, 200, "GET", healing, "")
	require.Equal(t, "OPEN", got["state"])
	require.Nil(t, got["decision"])
	w.ok(w.member, 200, "POST", healing, `{"action":"accept"}`)
	require.Len(t, w.ok(w.member, 200, "GET", "/testcases/"+id, "")["revisions"], 4)
}

func TestAHealingThatNoLongerFits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const outdated = "TEST_CASE_HEALING_OUTDATED"
	for name, tc := range map[string]struct {
		steps  []any
		status int
	}{
		"gone":              {[]any{clickOn("s2", "#two", nil)}, 409},
		"another selector":  {[]any{clickOn("s1", "#third", nil)}, 409},
		"another position":  {[]any{clickOn("s1", "#old", tree{"index": 1})}, 409},
		"mended by hand":    {[]any{clickOn("s1", "#new", nil)}, 200},
		"another tool":      {[]any{tree{"id": "s1", "tool": tree{"type": "finish", "args": tree{}}}}, 409},
		"other fingerprint": {[]any{clickOn("s1", "#old", tree{"fingerprint": tree{"tag": "a"}})}, 200},
		"in a frame": {[]any{tree{"id": "s1", "tool": tree{"type": "in_frame", "args": tree{"selector": tree{"type": "css", "value": "iframe"},
			"tool": clickOn("", "#old", nil)["tool"]}}}}, 200},
	} {
		id, path := w.healingCase()
		w.play(id, store.Passed, healedAs("s1", "#old", "#new"))
		healing := path + "/" + w.healings(path)[0]["id"].(string)
		changed := w.ok(w.member, 200, "POST", "/testcases/"+id, asJSON(t, tree{"steps": tc.steps}))
		if tc.status != 200 {
			w.refused(w.member, tc.status, outdated, "POST", healing, `{"action":"accept"}`, "the step")
			require.Equal(t, changed, w.ok(w.member, 200, "GET", "/testcases/"+id, ""), name)
			require.Equal(t, "OPEN", w.ok(w.member, 200, "GET", healing, "")["state"], name)
			continue
		}
		require.Equal(t, "ACCEPTED", w.ok(w.member, 200, "POST", healing, `{"action":"accept"}`)["state"], name)
		want := map[string]int{"mended by hand": 2}[name]
		if want == 0 {
			want = 3
		}
		require.Len(t, w.ok(w.member, 200, "GET", "/testcases/"+id, "")["revisions"], want, name)
	}
}

func TestARefusedHealingIsRemembered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, path := w.healingCase()
	require.Nil(t, w.work(id).Refused)
	w.play(id, store.Passed, healedAs("s1", "#old", "#new"))
	w.play(id, store.Failed, suggestedAs("s1", "#old", "#third"))
	list := w.healings(path)
	require.Len(t, list, 2)
	for _, one := range list {
		got := w.ok(w.member, 200, "POST", path+"/"+one["id"].(string), `{"action":"refuse"}`)
		require.Equal(t, "REFUSED", got["state"])
		requireMembers(t, got["decision"].(tree), tree{"userId": w.member.UserUUID.String(), "revisionId": ""})
		require.Equal(t, got, w.ok(w.both, 200, "POST", path+"/"+one["id"].(string), `{"action":"refuse"}`), "refused twice")
	}
	require.Equal(t, 2, w.count(`select count(*) from audit_events where type = $1`, account.TestHealingRefused))
	require.Len(t, w.ok(w.member, 200, "GET", "/testcases/"+id, "")["revisions"], 1)

	refused := w.work(id).Refused
	require.Len(t, refused, 1)
	var values []string
	for _, s := range refused["s1"] {
		values = append(values, s.Value)
		require.Equal(t, "Buy", s.Fingerprint.Name)
	}
	require.ElementsMatch(t, []string{"#new", "#third"}, values)
	w.play(id, store.Failed, suggestedAs("s1", "#old", "#new"))
	require.Len(t, w.healings(path+"?state=REFUSED"), 2, "seen again, it stays refused")

	// Who changes their mind accepts it.
	first := path + "/" + w.healings(path)[0]["id"].(string)
	require.Equal(t, "ACCEPTED", w.ok(w.member, 200, "POST", first, `{"action":"accept"}`)["state"])
	require.Len(t, w.work(id).Refused["s1"], 1)
	require.Equal(t, "REFUSED", w.ok(w.member, 200, "POST", first, `{"action":"refuse"}`)["state"])
	require.Len(t, w.ok(w.member, 200, "GET", "/testcases/"+id, "")["revisions"], 2, "the revision stays")
	w.ok(w.member, 204, "DELETE", "/testcases/"+id, "")
	require.Zero(t, w.count(`select count(*) from test_healings`))
}

func TestHealingsOfACaseAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, path := w.healingCase()
	w.play(id, store.Passed, healedAs("s1", "#old", "#refused"))
	refused := w.healings(path)[0]["id"].(string)
	w.ok(w.member, 200, "POST", path+"/"+refused, `{"action":"refuse"}`)
	for run := range 3 {
		var records []playback.Record
		for n := range 110 {
			records = append(records, healedAs(p("s%d", n), "#old", p("#new-%d-%d", run, n)))
		}
		w.play(id, store.Passed, records...)
	}
	require.Equal(t, 200.0, w.ok(w.member, 200, "GET", path, "")["total"])
	require.Equal(t, "REFUSED", w.ok(w.member, 200, "GET", path+"/"+refused, "")["state"], "what was refused stays longest")
	huge := healedAs("s1", "#old", "#huge")
	huge.Healed.To.Fingerprint.Text = strings.Repeat("x", 64<<10)
	run := w.play(id, store.Passed, huge, playback.Record{StepID: "s2", Tool: step.Tool{Type: step.Click}, Status: playback.Passed,
		Healed: &playback.Healed{From: css("#two")}})
	require.Equal(t, "PASSED", run["status"], "what cannot be kept does not keep a job from ending")
	require.NotContains(t, jobOf(run, 0)["steps"].([]any)[0], "healingId")
	require.NotContains(t, jobOf(run, 0)["steps"].([]any)[1], "healingId")
}

// The case decides before its suite, the suite before the organization.
func TestHowARunHeals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newCase(w.member, "case", nil)
	suite := w.newSuite(w.member, "smoke")
	check := func(want string, strict bool) {
		t.Helper()
		work := w.work(id)
		require.Equal(t, want, work.Healing)
		require.Equal(t, strict, work.Strict)
	}
	check("", true)
	_, err := w.db.ExecContext(t.Context(), `update organizations set healing = 'off' where id = $1`, w.ours.ID)
	require.NoError(t, err)
	check("off", true)
	require.Equal(t, "apply", w.ok(w.member, 200, "POST", "/testsuites/"+suite, `{"healing":"apply"}`)["healing"])
	check("off", true)
	w.ok(w.member, 200, "POST", "/testsuites/"+suite, `{"addTestCases":["`+id+`"]}`)
	check("apply", true)
	w.ok(w.member, 200, "POST", "/testcases/"+id, `{"runSettings":{"healing":"suggest","strict":false}}`)
	check("suggest", false)
	w.ok(w.member, 200, "POST", "/testcases/"+id, `{"runSettings":{"healing":null,"strict":true}}`)
	check("apply", true)
	require.Nil(t, w.ok(w.member, 200, "POST", "/testsuites/"+suite, `{"healing":null}`)["healing"])
	check("off", true)

	imported := w.newCase(w.member, "imported", tree{"runSettings": tree{"healing": "apply", "strict": false,
		"target": tree{"capabilities": tree{"browserName": "chrome"}}}})
	id = imported
	check("apply", false)
}

func TestHealingOfASuite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.ok(w.member, 201, "POST", "/testsuites", `{"name":"smoke","healing":"off"}`)
	path := "/testsuites/" + made["id"].(string)
	require.Equal(t, "off", made["healing"])
	require.Equal(t, "off", w.ok(w.member, 200, "POST", path, `{"name":"other"}`)["healing"])
	require.Equal(t, "suggest", w.ok(w.member, 200, "POST", path, `{"healing":"suggest"}`)["healing"])
	require.Equal(t, "suggest", w.ok(w.member, 200, "GET", "/testsuites", "")["items"].([]any)[0].(tree)["healing"])
	require.Nil(t, w.ok(w.member, 200, "POST", path, `{"healing":null}`)["healing"])
	require.Nil(t, w.ok(w.member, 201, "POST", "/testsuites", `{"name":"smoke","healing":null}`)["healing"])
	for _, text := range []string{`{"healing":"always"}`, `{"healing":7}`, `{"healing":{}}`} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", path, text, "healing: must be")
		w.refused(w.member, 400, "INVALID_BODY", "POST", "/testsuites", `{"name":"x",`+text[1:], "healing: must be")
	}
}

// A run that passed with the help of healings says so wherever runs are seen.
func TestAHealedPassIsVisible(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withObjects(t))
	healed, plain := w.newCase(w.member, "healed", nil), w.newCase(w.member, "plain", nil)
	one := w.play(healed, store.Passed, healedAs("s1", "#a", "#b"), healedAs("s2", "#c", "#d"))
	require.Equal(t, "PASSED", one["status"])
	require.Equal(t, 2.0, one["healed"])
	other := w.play(healed, store.Passed)
	runs := "/testcases/" + healed + "/runs"
	require.Equal(t, []string{other["id"].(string), one["id"].(string)}, names(w.ok(w.member, 200, "GET", runs, ""), "id"))
	for query, want := range map[string]tree{"?healed=true": one, "?healed=false": other} {
		got := w.ok(w.member, 200, "GET", runs+query, "")
		require.Equal(t, []string{want["id"].(string)}, names(got, "id"), query)
		require.Equal(t, 1.0, got["total"])
		require.Equal(t, 1.0, w.ok(w.member, 200, "GET", runs+query+"&limit=0", "")["total"])
	}
	w.refused(w.member, 400, "INVALID_QUERY", "GET", runs+"?healed=yes", "", "healed")

	suite := w.newSuite(w.member, "smoke", healed, plain)
	runs = "/testsuites/" + suite + "/runs"
	var ids []string
	for _, records := range [][]playback.Record{{healedAs("s1", "#a", "#b"), healedAs("s2", "#c", "#d")}, {}} {
		run := w.ok(w.member, 200, "POST", "/testsuites/"+suite+"/run", ``)
		jobs := w.fanOut(idOf(run))
		w.end(jobs["healed"], store.JobEnd{Status: store.Passed, Records: records})
		w.end(jobs["plain"], store.JobEnd{Status: store.Passed, Records: []playback.Record{{StepID: "s1", Status: playback.Passed}}})
		ids = append(ids, run["id"].(string))
	}
	for i, query := range []string{"?healed=true", "?healed=false"} {
		got := w.ok(w.member, 200, "GET", runs+query, "")
		require.Equal(t, []string{ids[i]}, names(got, "id"), query)
		require.Equal(t, []float64{2, 0}[i], got["items"].([]any)[0].(tree)["healed"])
	}
	got := w.ok(w.member, 200, "GET", runs+"/"+ids[0], "")
	require.Equal(t, "PASSED", got["status"])
	require.Equal(t, 2.0, got["healed"])
	caseRuns := got["caseRuns"].([]any)
	require.Len(t, jobOf(caseRuns[0].(tree), 0)["steps"], 2, "of the healed one")
	require.NotContains(t, jobOf(caseRuns[1].(tree), 0), "steps", "of neither failed nor healed")

	rec := w.call(w.member, "GET", runs+"/"+ids[0]+"?format=junit", "")
	require.Equal(t, 200, rec.Code)
	type property struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	var report struct {
		Suite struct {
			Properties []property `xml:"properties>property"`
			Cases      []struct {
				Name       string     `xml:"name,attr"`
				Properties []property `xml:"properties>property"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	require.NoError(t, xml.Unmarshal(rec.Body.Bytes(), &report))
	require.Equal(t, []property{{"healed", "2"}}, report.Suite.Properties)
	require.Equal(t, []property{{"healed", "2"}, {"healed:s1", "css #b, not css #a"}, {"healed:s2", "css #d, not css #c"}},
		report.Suite.Cases[0].Properties)
	require.Empty(t, report.Suite.Cases[1].Properties)
}

// Jobs with healings that end while their case is deleted and healings are decided:
// nobody waits for the other in a circle.
func TestHealingsAndTheEndOfACase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, path := w.healingCase()
	w.play(id, store.Passed, healedAs("s1", "#old", "#new-0"))
	healing := path + "/" + w.healings(path)[0]["id"].(string)
	var jobs []uuid.UUID
	for range 12 {
		jobs = append(jobs, idOf(jobOf(w.start(id, ``), 0)))
	}
	errs := make(chan error, len(jobs))
	for n, job := range jobs {
		go func() {
			var records []playback.Record
			for k := range 20 {
				records = append(records, healedAs(p("s%d", (k*7+n)%20), "#old", p("#new-%d", k%3)))
			}
			errs <- w.db.InTx(context.WithoutCancel(t.Context()), func(tx *storage.Tx) error {
				_, err := store.EndJob(context.WithoutCancel(t.Context()), tx, job, store.JobEnd{Status: store.Passed, Records: records})
				return err
			})
		}()
	}
	codes := make(chan int, 9)
	for range 4 {
		go func() { codes <- w.call(w.member, "POST", healing, `{"action":"accept"}`).Code }()
		go func() { codes <- w.call(w.member, "POST", healing, `{"action":"refuse"}`).Code }()
	}
	go func() { codes <- w.call(w.member, "DELETE", "/testcases/"+id, ``).Code }()
	for range jobs {
		require.NoError(t, <-errs)
	}
	for range 9 {
		require.Contains(t, []int{200, 204, 404, 409}, <-codes)
	}
	require.Zero(t, w.count(`select count(*) from test_healings`))
	require.Zero(t, w.count(`select count(*) from test_jobs where state in ('QUEUED', 'RUNNING')`))
}

// A healed selector finds its element from the document or frame, so the shadow roots
// around it go, unless something else of the step is searched in them.
func TestAcceptingInsideOfShadowRoots(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := func(kind, host string, inner any) any {
		return tree{"type": kind, "args": tree{"selector": tree{"type": "css", "value": host}, "tool": inner}}
	}
	click := func(value string) any { return clickOn("", value, nil)["tool"] }
	when := tree{"selector": tree{"type": "css", "value": "#a"}, "matcher": tree{"name": "visible", "args": tree{}}}
	for name, tc := range map[string]struct{ tool, when, want any }{
		"a root": {in("in_shadow_root", "x-a", click("#old")), nil, click("#new")},
		"roots in a frame": {in("in_frame", "iframe", in("in_shadow_root", "x-a", in("in_shadow_root", "x-b", click("#old")))),
			nil, in("in_frame", "iframe", click("#new"))},
		"a frame in a root": {in("in_shadow_root", "x-a", in("in_frame", "iframe", click("#old"))), nil,
			in("in_shadow_root", "x-a", in("in_frame", "iframe", click("#new")))},
		"a host like it": {in("in_frame", "#old", click("#old")), nil, in("in_frame", "#old", click("#new"))},
		"a condition":    {in("in_shadow_root", "x-a", click("#old")), when, in("in_shadow_root", "x-a", click("#new"))},
	} {
		one := tree{"id": "s1", "tool": tc.tool}
		if tc.when != nil {
			one["when"] = tc.when
		}
		id := w.newCase(w.member, name, tree{"steps": []any{one}})
		record := healedAs("s1", "#old", "#new")
		record.Healed.To.Fingerprint = nil
		w.play(id, store.Passed, record)
		path := "/testcases/" + id + "/healings"
		w.ok(w.member, 200, "POST", path+"/"+w.healings(path)[0]["id"].(string), `{"action":"accept"}`)
		got := latestOf(w.ok(w.member, 200, "GET", "/testcases/"+id, ""))["steps"].([]any)[0].(tree)
		require.Equal(t, tc.want, got["tool"], name)
	}
}

// driftedAs is the record of a step that found another element than its own.
func driftedAs(id, css, name string) playback.Record {
	selector := step.Selector{Type: step.CSS, Value: css}
	found := selector
	found.Fingerprint = &step.Fingerprint{Tag: "button", Name: name}
	return playback.Record{StepID: id, Status: playback.Failed, Tool: step.Tool{Type: step.Click, Args: step.Args{Selector: &selector}},
		Drifted: &playback.Drifted{Expected: playback.Described{Role: "button", Name: "Buy", Row: []string{"Ada"}},
			Found: playback.Described{Role: "button", Name: name, Row: []string{}}, Reason: "it has another name", From: selector,
			To: found}}
}

// What a step found in place of its element is listed as a drift; who accepts it gives
// the step the fingerprint of that, and nothing else changes.
func TestDriftsAreCollected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, path := w.healingCase()
	w.play(id, store.Failed, driftedAs("s1", "#old", "Sell"))
	w.play(id, store.Failed, driftedAs("s1", "#old", "Rent"))
	run := w.play(id, store.Failed, driftedAs("s1", "#old", "Sell"), healedAs("s2", "#two", "#second"))
	require.Equal(t, []any{1.0, 1.0}, []any{run["drifted"], run["healed"]})
	shown := jobOf(run, 0)["steps"].([]any)[0].(tree)
	require.Equal(t, tree{"expected": tree{"role": "button", "name": "Buy", "row": []any{"Ada"}},
		"found":  tree{"role": "button", "name": "Sell", "row": []any{}},
		"reason": "it has another name", "acted": false}, shown["drifted"])

	list := w.healings(path + "?kind=drift")
	require.Len(t, list, 2, "each element that was found is one")
	require.Len(t, w.healings(path+"?kind=healing"), 1)
	w.refused(w.member, 400, "INVALID_QUERY", "GET", path+"?kind=other", "", "kind")
	sell := list[0]
	requireMembers(t, sell, tree{"id": shown["healingId"], "kind": "drift", "state": "OPEN", "applied": false, "count": 2.0,
		"from": tree{"type": "css", "value": "#old"}, "to": tree{"type": "css", "value": "#old",
			"fingerprint": tree{"tag": "button", "name": "Sell"}},
		"reason": `it has another name: expected button "Buy" in the row "Ada", found button "Sell"`})

	got := w.ok(w.member, 200, "POST", path+"/"+sell["id"].(string), `{"action":"accept"}`)
	require.Equal(t, "ACCEPTED", got["state"])
	revisions := revisionsOf(w.ok(w.member, 200, "GET", "/testcases/"+id, ""))
	require.Len(t, revisions, 2)
	require.Equal(t, sell["to"], revisions[1]["steps"].([]any)[0].(tree)["tool"].(tree)["args"].(tree)["selector"])
	require.Equal(t, "REFUSED", w.ok(w.member, 200, "POST", path+"/"+list[1]["id"].(string), `{"action":"refuse"}`)["state"])

	report := w.call(w.member, "GET", "/testcases/"+id+"/runs/"+run["id"].(string)+"?format=junit", "").Body.String()
	require.Contains(t, report, `<property name="drifted" value="1">`)
	require.Contains(t, report, `<property name="drifted:s1" value="expected button`)
	require.Contains(t, report, "drifted: it has another name")
}
